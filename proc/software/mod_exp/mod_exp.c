// Naive modular exponentiation of one word: paper 001, Listing 3 (Algorithm 1, right to left). The 64-by-32-bit
// remainders are libgcc's __umoddi3, four divisions each.
//
// One correction: the listing starts with the result 1, which is not reduced if the modulus is 1.

#include "modexp.h"

unsigned int mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus) {
  // Maintain base and accumulated result as long long for precision
  unsigned long long curr_base = (unsigned long long)base % modulus;
  unsigned long long curr_result = modulus != 1;
  unsigned long long curr_mod = (unsigned long long)modulus;

  while (exponent > 0) {
    if ((exponent & 1) == 1) { // LSB is 1
      curr_result = (curr_result * curr_base) % curr_mod;
    }
    exponent = exponent >> 1;
    curr_base = (curr_base * curr_base) % curr_mod;
  }
  return (unsigned int)curr_result;
}
