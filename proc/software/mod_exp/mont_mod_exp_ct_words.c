// Modular exponentiation of many words in constant time by CIOS products: no branch and no address depends on base,
// exponent or modulus (an odd one).
//
// All exponent_nbits bits of the exponent are scanned (the number is public), each with both products; a mask keeps or
// discards the first. The final subtraction of a product is always computed, and a mask selects the result. R and R^2
// mod n, which convert numbers into N-residues, are computed by masked doublings and squarings.

#include "cios.h"
#include "modexp.h"
#include "montmult.h"
#include "words.h"

// result = mask ? other : result, for a mask of all ones or none
static inline void select_words(uint32_t *result, const uint32_t *other, uint32_t mask) {
  uint32_t hidden = opaque(mask);
  UNROLL
  for (unsigned i = 0; i < WORDS; i++)
    result[i] ^= (result[i] ^ other[i]) & hidden;
}

// result = t mod n, for t = high * R + low words below 2n
static inline void subtract_once(uint32_t *result, const uint32_t *t, uint32_t high, const uint32_t *n) {
  uint32_t borrow = words_sub(result, t, n, WORDS);
  select_words(result, t, -(borrow & ~high)); // high is 0 or 1
}

static void multiply(uint32_t *result, const uint32_t *x, const uint32_t *y, const uint32_t *n,
                     uint32_t n_negative) {
  uint32_t t[WORDS + 1];
  cios(t, x, y, n, n_negative);
  subtract_once(result, t, t[WORDS], n);
}

// x = 2x mod n
static void twice(uint32_t *x, const uint32_t *n) {
  uint32_t doubled[WORDS];
  uint32_t high = 0;
  UNROLL
  for (unsigned i = 0; i < WORDS; i++) {
    doubled[i] = x[i] << 1 | high;
    high = x[i] >> 31;
  }
  subtract_once(x, doubled, high, n);
}

void mont_mod_exp_ct_words(uint32_t result[WORDS], const uint32_t base[WORDS],
                           const uint32_t exponent[WORDS], const uint32_t modulus[WORDS],
                           unsigned int exponent_nbits) {
  static const uint32_t unit[WORDS] = {1};
  uint32_t n_negative = -montmult_inverse(modulus[0]);

  uint32_t one[WORDS], r_squared[WORDS], curr_base[WORDS], product[WORDS];
  words_copy(one, unit, WORDS); // stays 1 if the modulus is 1; products are below the modulus anyway
  for (unsigned i = 0; i < 32 * WORDS; i++)
    twice(one, modulus); // R mod n

  // R^2 = 2^(32 * WORDS) * R is that power of 2 as an N-residue; its exponent is scanned from the left
  words_copy(r_squared, one, WORDS);
  for (unsigned bit = 1u << (31 - __builtin_clz(32 * WORDS)); bit > 0; bit >>= 1) {
    multiply(r_squared, r_squared, r_squared, modulus, n_negative);
    if (32 * WORDS & bit)
      twice(r_squared, modulus);
  }

  multiply(curr_base, base, r_squared, modulus, n_negative);
  for (unsigned i = 0; i < exponent_nbits; i++) {
    if (i > 0)
      multiply(curr_base, curr_base, curr_base, modulus, n_negative);
    multiply(product, one, curr_base, modulus, n_negative);
    select_words(one, product, -words_bit(exponent, i));
  }
  multiply(result, unit, one, modulus, n_negative);
}
