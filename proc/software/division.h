// Remainder of a number of 2 * WORDS words by a modulus of WORDS words: schoolbook division, Knuth's Algorithm D (The
// Art of Computer Programming, volume 2, section 4.3.1), without the quotient.

#ifndef DIVISION_H
#define DIVISION_H

#include <stdint.h>

#include "modexp.h"

// a modulus without its leading zero words, shifted left until its highest bit is set
typedef struct {
  uint32_t words[WORDS];
  unsigned count;
  unsigned shift;
} divisor_t;

void divisor_construct(divisor_t *divisor, const uint32_t modulus[WORDS]);

// remainder = dividend mod modulus, for any dividend
void divisor_remainder(const divisor_t *divisor, uint32_t remainder[WORDS],
                       const uint32_t dividend[2 * WORDS]);

#endif
