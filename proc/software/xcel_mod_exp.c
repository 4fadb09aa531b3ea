// Modular exponentiation by the accelerator: its operands go, its result comes, word by word through csr instructions.

#include "modexp.h"
#include "words.h"
#include "xcel.h"

uint32_t xcel_status;

unsigned int xcel_mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus) {
  XCEL_WRITE(XCEL_BASE, base);
  XCEL_WRITE(XCEL_EXP, exponent);
  XCEL_WRITE(XCEL_MOD, modulus);
  XCEL_WRITE(XCEL_GO, 0);
  xcel_status = XCEL_READ(XCEL_STATUS); // waits until the operation is done
  return XCEL_READ(XCEL_RESULT);
}

void xcel_mod_exp_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                        const uint32_t modulus[WORDS]) {
  UNROLL
  for (unsigned i = 0; i < WORDS; i++)
    XCEL_WRITE(XCEL_BASE, base[i]);
  UNROLL
  for (unsigned i = 0; i < WORDS; i++)
    XCEL_WRITE(XCEL_EXP, exponent[i]);
  UNROLL
  for (unsigned i = 0; i < WORDS; i++)
    XCEL_WRITE(XCEL_MOD, modulus[i]);
  XCEL_WRITE(XCEL_GO, 0);
  xcel_status = XCEL_READ(XCEL_STATUS);
  UNROLL
  for (unsigned i = 0; i < WORDS; i++)
    result[i] = XCEL_READ(XCEL_RESULT);
}
