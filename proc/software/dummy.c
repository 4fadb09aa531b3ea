// The dummy (paper 001, section 5.1): a kernel that returns the expected answer. Its cycles are the overhead of the
// call, which is subtracted from the cycles of the other kernels.

#include "kernel_main.h"
#include "words.h"

unsigned int dummy(unsigned int base, unsigned int exponent, unsigned int modulus) {
  (void)base, (void)exponent, (void)modulus;
  return operand_expected[0];
}

void dummy_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                 const uint32_t modulus[WORDS]) {
  (void)base, (void)exponent, (void)modulus;
  words_copy(result, operand_expected, WORDS);
}
