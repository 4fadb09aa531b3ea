// Modular exponentiation of many words by Montgomery multiplication: Listing 4's algorithm over CIOS products. The
// modulus must be odd. Unlike the listing, it does not square the base again after the last bit.

#include "cios.h"
#include "division.h"
#include "modexp.h"
#include "montmult.h"
#include "words.h"

typedef struct {
  const uint32_t *n;
  uint32_t n_negative; // -n^-1 mod 2^32
  divisor_t divisor;   // also n, for the conversions
} montmult_words_t;

static void montmult_words_construct(montmult_words_t *multiplier, const uint32_t n[WORDS]) {
  multiplier->n = n;
  multiplier->n_negative = -montmult_inverse(n[0]);
  divisor_construct(&multiplier->divisor, n);
}

static void montmult_words_multiply(const montmult_words_t *multiplier, uint32_t result[WORDS],
                                    const uint32_t x[WORDS], const uint32_t y[WORDS]) {
  uint32_t t[WORDS + 1];
  cios(t, x, y, multiplier->n, multiplier->n_negative);
  uint32_t borrow = words_sub(result, t, multiplier->n, WORDS);
  if (t[WORDS] < borrow)
    words_copy(result, t, WORDS);
}

// x * R mod n, by a division
static void montmult_words_convert_in(const montmult_words_t *multiplier, uint32_t result[WORDS],
                                      const uint32_t x[WORDS]) {
  uint32_t wide[2 * WORDS];
  words_zero(wide, WORDS);
  words_copy(wide + WORDS, x, WORDS);
  divisor_remainder(&multiplier->divisor, result, wide);
}

void mont_mod_exp_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                        const uint32_t modulus[WORDS]) {
  montmult_words_t multiplier;
  montmult_words_construct(&multiplier, modulus);

  // Convert into N-residue format
  static const uint32_t one[WORDS] = {1};
  uint32_t curr_base[WORDS], curr_result[WORDS];
  montmult_words_convert_in(&multiplier, curr_base, base);
  montmult_words_convert_in(&multiplier, curr_result, one);

  unsigned nbits = words_nbits(exponent, WORDS);
  for (unsigned i = 0; i < nbits; i++) {
    if (i > 0)
      montmult_words_multiply(&multiplier, curr_base, curr_base, curr_base);
    if (words_bit(exponent, i))
      montmult_words_multiply(&multiplier, curr_result, curr_result, curr_base);
  }

  // Convert out of N-residue format
  montmult_words_multiply(&multiplier, result, one, curr_result);
}
