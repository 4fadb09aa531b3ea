// Montgomery multiplication of many words, R = 2^(32 * WORDS): CIOS, coarsely integrated operand scanning (Koc, Acar
// and Kaliski, "Analyzing and comparing Montgomery multiplication algorithms", IEEE Micro 16(3), 1996).
//
// For each word of b: t += a * b[i]; then the multiple of n that makes the lowest word 0 is added, and t is shifted
// down by one word. t has WORDS + 1 words: a < R and n < R imply t < a + n after each step, and t < 2n at the end if
// b < n.

#ifndef CIOS_H
#define CIOS_H

#include <stdint.h>

#include "modexp.h"
#include "words.h"

// t = a * b / R mod n, not yet below n; n_negative = -n^-1 mod 2^32
static inline void cios(uint32_t t[WORDS + 1], const uint32_t a[WORDS], const uint32_t b[WORDS],
                        const uint32_t n[WORDS], uint32_t n_negative) {
  words_zero(t, WORDS + 1);
  for (unsigned i = 0; i < WORDS; i++) {
    uint64_t top = (uint64_t)t[WORDS] + words_mul_add(t, a, b[i], WORDS);

    uint32_t m = t[0] * n_negative;
    uint32_t carry = (uint32_t)(((uint64_t)m * n[0] + t[0]) >> 32); // the low word is 0
    UNROLL
    for (unsigned j = 1; j < WORDS; j++) {
      uint64_t sum = (uint64_t)m * n[j] + t[j] + carry;
      t[j - 1] = (uint32_t)sum;
      carry = (uint32_t)(sum >> 32);
    }
    top += carry;
    t[WORDS - 1] = (uint32_t)top;
    t[WORDS] = (uint32_t)(top >> 32);
  }
}

#endif
