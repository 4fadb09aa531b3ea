// Declarations shared by kernel_main.c and dummy.c: the expected result, and the dummy that returns it.

#ifndef KERNEL_MAIN_H
#define KERNEL_MAIN_H

#include "modexp.h"

extern uint32_t operand_expected[WORDS];

unsigned int dummy(unsigned int base, unsigned int exponent, unsigned int modulus);
void dummy_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                 const uint32_t modulus[WORDS]);

#endif
