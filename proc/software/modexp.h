// Modular exponentiation in software and by the accelerator: the kernels of proc/software/kernels.py.
//
// Those of one word take and return values, as in the paper's listings. The others work on operands of WORDS words
// (-DWORDS=32 for 1024 bits), least significant first. Montgomery's want an odd modulus; no modulus may be 0.

#ifndef MODEXP_H
#define MODEXP_H

#include <stdint.h>

#ifndef WORDS
#define WORDS 1
#endif

unsigned int mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus);
unsigned int mont_mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus);
unsigned int mont_mod_exp_ct(unsigned int base, unsigned int exponent, unsigned int modulus,
                             unsigned int exponent_nbits);
unsigned int xcel_mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus);

void mod_exp_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                   const uint32_t modulus[WORDS]);
void mont_mod_exp_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                        const uint32_t modulus[WORDS]);
void mont_mod_exp_ct_words(uint32_t result[WORDS], const uint32_t base[WORDS],
                           const uint32_t exponent[WORDS], const uint32_t modulus[WORDS],
                           unsigned int exponent_nbits);
void xcel_mod_exp_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                        const uint32_t modulus[WORDS]);

// status of the last operation of the accelerator (fl/status.py); 0: its result is valid
extern uint32_t xcel_status;

#endif
