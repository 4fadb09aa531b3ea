// Loops over numbers of many words, least significant first, for all multi-word kernels.

#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>

#include "modexp.h"

// A loop iteration costs the processor 5 cycles: two pointers, the branch, and the penalty for taking it. Loops over all words
// of operands up to 2048 bits are fully unrolled: a fifth fewer cycles at 1024 bits than unrolled by 8, for 14 KiB of code
// instead of 9. Longer ones, and those whose count is not a constant, are unrolled by 8.
#if WORDS <= 64
#define UNROLL _Pragma("GCC unroll 64")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#define UNROLL_8 _Pragma("GCC unroll 8")

// t += a * b; returns the carry word
static inline uint32_t words_mul_add(uint32_t *restrict t, const uint32_t *restrict a, uint32_t b,
                                     unsigned count) {
  uint32_t carry = 0;
  UNROLL
  for (unsigned i = 0; i < count; i++) {
    uint64_t sum = (uint64_t)a[i] * b + t[i] + carry; // at most 2^64 - 1
    t[i] = (uint32_t)sum;
    carry = (uint32_t)(sum >> 32);
  }
  return carry;
}

// t -= a * b; returns the borrow word
static inline uint32_t words_mul_sub(uint32_t *restrict t, const uint32_t *restrict a, uint32_t b,
                                     unsigned count) {
  uint32_t borrow = 0;
  UNROLL_8
  for (unsigned i = 0; i < count; i++) {
    uint64_t product = (uint64_t)a[i] * b + borrow;
    uint32_t low = (uint32_t)product;
    borrow = (uint32_t)(product >> 32) + (t[i] < low);
    t[i] -= low;
  }
  return borrow;
}

// t += a & mask; returns the carry
static inline uint32_t words_add(uint32_t *t, const uint32_t *a, uint32_t mask, unsigned count) {
  uint32_t carry = 0;
  UNROLL_8
  for (unsigned i = 0; i < count; i++) {
    uint32_t word = a[i] & mask;
    uint32_t sum = t[i] + word;
    uint32_t over = sum < word;
    t[i] = sum + carry;
    carry = over | (t[i] < carry);
  }
  return carry;
}

// difference = t - a; returns the borrow
static inline uint32_t words_sub(uint32_t *difference, const uint32_t *t, const uint32_t *a, unsigned count) {
  uint32_t borrow = 0;
  UNROLL
  for (unsigned i = 0; i < count; i++) {
    uint32_t word = t[i];
    uint32_t partial = word - a[i];
    uint32_t under = word < a[i];
    difference[i] = partial - borrow;
    borrow = under | (partial < borrow);
  }
  return borrow;
}

static inline void words_copy(uint32_t *to, const uint32_t *from, unsigned count) {
  UNROLL
  for (unsigned i = 0; i < count; i++)
    to[i] = from[i];
}

static inline void words_zero(uint32_t *to, unsigned count) {
  UNROLL
  for (unsigned i = 0; i < count; i++)
    to[i] = 0;
}

static inline uint32_t words_bit(const uint32_t *words, unsigned i) { return words[i / 32] >> (i % 32) & 1; }

// number of bits without leading zeros; 0 for 0
static inline unsigned words_nbits(const uint32_t *words, unsigned count) {
  while (count > 0 && words[count - 1] == 0)
    count--;
  if (count == 0)
    return 0;
  unsigned nbits = 32 * (count - 1);
  for (uint32_t top = words[count - 1]; top; top >>= 1)
    nbits++;
  return nbits;
}

#endif
