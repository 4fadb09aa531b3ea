// montmult_t: Montgomery multiplication modulo an odd n of one word, R = 2^32 (paper 001, section 2.2.3; the paper
// shows its use in Listing 4, not its body).
//
// multiply() is Montgomery's REDC with n^-1 in place of -n^-1: with m = t * n^-1 mod R, t - m*n is divisible by R, so
// its high word is hi(t) - hi(m*n), with no 64-bit addition and no carry out of it. As t < n*R, it satisfies
// -n < high < n, and one masked addition of n completes it: nine instructions, none of them a branch.

#ifndef MONTMULT_H
#define MONTMULT_H

typedef struct {
  unsigned int n;
  unsigned int n_inverse; // n^-1 mod R
  unsigned long long r;
} montmult_t;

// A mask whose values the compiler does not know. GCC 15 turns a mask of which it knows that it is 0 or all ones into a
// branch.
static inline unsigned int opaque(unsigned int mask) {
  __asm__("" : "+r"(mask));
  return mask;
}

// n^-1 mod 2^32 for odd n. 3n ^ 2 is correct in 5 bits; each Newton step doubles the number of correct bits.
static inline unsigned int montmult_inverse(unsigned int n) {
  unsigned int x = (3 * n) ^ 2; // 5 bits
  x *= 2 - n * x;               // 10
  x *= 2 - n * x;               // 20
  x *= 2 - n * x;               // 40
  return x;
}

// r: must be 2^32, which multiply() assumes
static inline void montmult_construct(montmult_t *multiplier, unsigned long long n, unsigned long long r) {
  multiplier->n = (unsigned int)n;
  multiplier->n_inverse = montmult_inverse((unsigned int)n);
  multiplier->r = r;
}

// x * y / R mod n, for x < R and y < n
static inline unsigned int montmult_multiply(const montmult_t *multiplier, unsigned int x, unsigned int y) {
  unsigned long long t = (unsigned long long)x * y;
  unsigned int t_high = (unsigned int)(t >> 32);
  unsigned int m = (unsigned int)t * multiplier->n_inverse;
  unsigned int mn_high = (unsigned int)(((unsigned long long)m * multiplier->n) >> 32);
  unsigned int negative = -(unsigned int)(t_high < mn_high);
  return t_high - mn_high + (multiplier->n & negative);
}

// x * R mod n: x as an N-residue
static inline unsigned int montmult_convert_in(const montmult_t *multiplier, unsigned int x) {
  return (unsigned int)(x * multiplier->r % multiplier->n);
}

// x / R mod n
static inline unsigned int montmult_convert_out(const montmult_t *multiplier, unsigned int x) {
  return montmult_multiply(multiplier, 1, x);
}

#endif
