// Modular exponentiation of one word by Montgomery multiplication: paper 001, Listing 4 (Algorithm 3). The modulus
// must be odd.

#include "modexp.h"
#include "montmult.h"

unsigned int mont_mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus) {
  unsigned int curr_base = base % modulus;
  unsigned int curr_result = 1;

  montmult_t multiplier;
  montmult_construct(&multiplier, (unsigned long long)modulus, 0x100000000);

  // Convert into N-residue format
  curr_base = montmult_convert_in(&multiplier, curr_base);
  curr_result = montmult_convert_in(&multiplier, curr_result);

  // Perform iterative exponentiation
  while (exponent > 0) {
    if ((exponent & 1) == 1) { // LSB is 1
      curr_result = montmult_multiply(&multiplier, curr_result, curr_base);
    }
    exponent = exponent >> 1;
    curr_base = montmult_multiply(&multiplier, curr_base, curr_base);
  }

  // Convert out of N-residue format
  curr_result = montmult_convert_out(&multiplier, curr_result);
  return curr_result;
}
