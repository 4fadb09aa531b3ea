// Knuth's Algorithm D; see division.h.

#include "division.h"

#include "words.h"

// (high:low) / v for high < v and the highest bit of v set: two quotient digits of 16 bits, each estimated from the
// upper half of v and at most 2 too large. Returns the quotient, *rest is the remainder.
static inline uint32_t divide_digit(uint32_t high, uint32_t low, uint32_t v, uint32_t *rest) {
  uint32_t v_high = v >> 16, v_low = v & 0xffff;
  uint32_t quotient = 0, r = high;
  for (unsigned half = 0; half < 2; half++) {
    uint32_t digit = r / v_high;
    r = (r - digit * v_high) << 16 | low >> 16;
    low <<= 16;
    uint32_t product = digit * v_low;
    if (r < product) {
      digit--;
      r += v;
      if (r >= v && r < product) { // r < v: the sum exceeds 2^32, and so the product
        digit--;
        r += v;
      }
    }
    r -= product;
    quotient = quotient << 16 | digit;
  }
  *rest = r;
  return quotient;
}

void divisor_construct(divisor_t *divisor, const uint32_t modulus[WORDS]) {
  unsigned count = WORDS, shift = 0;
  while (count > 1 && modulus[count - 1] == 0)
    count--;
  while (!(modulus[count - 1] << shift >> 31))
    shift++;
  for (unsigned i = count - 1; i > 0; i--)
    divisor->words[i] = modulus[i] << shift | modulus[i - 1] >> 1 >> (31 - shift);
  divisor->words[0] = modulus[0] << shift;
  divisor->count = count;
  divisor->shift = shift;
}

// One step of the division: u mod v for u of count + 1 words below v * 2^32, with count of 2 or more. It leaves the
// remainder in u[0 .. count - 1] and 0 above.
static inline void reduce_digit(uint32_t *u, const uint32_t *v, unsigned count) {
  uint32_t top = v[count - 1], next = v[count - 2];
  uint32_t digit, rest;
  uint32_t overflow = 0; // of the rest: then the digit is small enough
  if (u[count] == top) {
    digit = 0xffffffff;
    rest = u[count - 1] + top;
    overflow = rest < top;
  } else {
    digit = divide_digit(u[count], u[count - 1], top, &rest);
  }
  while (!overflow && (uint64_t)digit * next > ((uint64_t)rest << 32 | u[count - 2])) {
    digit--;
    rest += top;
    overflow = rest < top;
  }
  uint32_t borrow = words_mul_sub(u, v, digit, count);
  if (u[count] < borrow) // still one too large, with a probability of about 2^-31
    words_add(u, v, 0xffffffff, count);
  u[count] = 0;
}

void divisor_remainder(const divisor_t *divisor, uint32_t remainder[WORDS],
                       const uint32_t dividend[2 * WORDS]) {
  unsigned count = divisor->count, shift = divisor->shift;
  const uint32_t *v = divisor->words;
  uint32_t u[2 * WORDS + 1];
  u[2 * WORDS] = dividend[2 * WORDS - 1] >> 1 >> (31 - shift);
  for (unsigned i = 2 * WORDS - 1; i > 0; i--)
    u[i] = dividend[i] << shift | dividend[i - 1] >> 1 >> (31 - shift);
  u[0] = dividend[0] << shift;

  if (count == 1) {
    uint32_t rest = u[2 * WORDS];
    for (unsigned i = 2 * WORDS; i-- > 0;)
      divide_digit(rest, u[i], v[0], &rest);
    u[0] = rest;
  } else {
    for (unsigned i = 2 * WORDS - count + 1; i-- > 0;)
      reduce_digit(u + i, v, count);
  }

  for (unsigned i = 0; i + 1 < count; i++)
    remainder[i] = u[i] >> shift | u[i + 1] << 1 << (31 - shift);
  remainder[count - 1] = u[count - 1] >> shift;
  for (unsigned i = count; i < WORDS; i++)
    remainder[i] = 0;
}
