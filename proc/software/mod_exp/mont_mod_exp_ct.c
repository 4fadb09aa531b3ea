// Listing 4 in constant time: no branch and no address depends on base, exponent or modulus (an odd one).
//
// All exponent_nbits bits of the exponent are scanned (the number is public), each with both products; a mask keeps or
// discards the first. R and R^2 mod n, which convert numbers into N-residues, are computed by masked doublings and five
// squarings instead of divisions.

#include "modexp.h"
#include "montmult.h"

// 2x mod n for x < n; if the doubling shifts out a 1, n is always subtracted
static inline unsigned int twice(unsigned int x, unsigned int n) {
  unsigned int doubled = x << 1;
  unsigned int keep = -(unsigned int)((doubled < n) & ~(x >> 31));
  return doubled - (n & ~keep);
}

unsigned int mont_mod_exp_ct(unsigned int base, unsigned int exponent, unsigned int modulus,
                             unsigned int exponent_nbits) {
  montmult_t multiplier;
  montmult_construct(&multiplier, (unsigned long long)modulus, 0x100000000);

  unsigned int one = 1; // stays 1 if the modulus is 1; products are below the modulus anyway
  for (unsigned int i = 0; i < 32; i++)
    one = twice(one, modulus); // R mod n
  unsigned int r_squared = twice(one, modulus);
  for (unsigned int i = 0; i < 5; i++)
    r_squared = montmult_multiply(&multiplier, r_squared, r_squared); // 2^(2^i) R mod n

  unsigned int curr_base = montmult_multiply(&multiplier, base, r_squared);
  unsigned int curr_result = one;
  for (unsigned int i = 0; i < exponent_nbits; i++) {
    unsigned int product = montmult_multiply(&multiplier, curr_result, curr_base);
    curr_result ^= (curr_result ^ product) & opaque(-(exponent & 1));
    exponent = exponent >> 1;
    curr_base = montmult_multiply(&multiplier, curr_base, curr_base);
  }
  return montmult_convert_out(&multiplier, curr_result);
}
