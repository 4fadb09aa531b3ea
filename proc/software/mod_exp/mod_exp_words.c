// Naive modular exponentiation of many words: Listing 3's algorithm, right to left, with schoolbook multiplication
// and schoolbook division. Unlike the listing, it does not square the base again after the last bit.

#include "division.h"
#include "modexp.h"
#include "words.h"

static void mul_rem(const divisor_t *divisor, uint32_t result[WORDS], const uint32_t a[WORDS],
                    const uint32_t b[WORDS]) {
  uint32_t product[2 * WORDS];
  words_zero(product, WORDS);
  for (unsigned i = 0; i < WORDS; i++)
    product[i + WORDS] = words_mul_add(product + i, a, b[i], WORDS);
  divisor_remainder(divisor, result, product);
}

void mod_exp_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                   const uint32_t modulus[WORDS]) {
  divisor_t divisor;
  divisor_construct(&divisor, modulus);

  uint32_t wide[2 * WORDS], curr_base[WORDS], curr_result[WORDS];
  words_zero(wide, 2 * WORDS);
  wide[0] = 1;
  divisor_remainder(&divisor, curr_result, wide); // 0 for modulus 1
  words_copy(wide, base, WORDS);
  divisor_remainder(&divisor, curr_base, wide);

  unsigned nbits = words_nbits(exponent, WORDS);
  for (unsigned i = 0; i < nbits; i++) {
    if (i > 0)
      mul_rem(&divisor, curr_base, curr_base, curr_base);
    if (words_bit(exponent, i))
      mul_rem(&divisor, curr_result, curr_result, curr_base);
  }
  words_copy(result, curr_result, WORDS);
}
