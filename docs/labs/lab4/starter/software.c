// Lab 4: the power in software, square and multiply from the lowest bit.

#include "work.h"

uint32_t power(uint32_t base) {
  uint64_t square = base, result = 1;
  for (uint32_t exponent = EXPONENT; exponent > 0; exponent >>= 1) {
    if (exponent & 1)
      result = result * square % MODULUS;
    square = square * square % MODULUS;
  }
  return (uint32_t)result;
}
