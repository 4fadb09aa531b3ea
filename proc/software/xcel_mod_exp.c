// Modular exponentiation by the accelerator: its operands go, its result comes, word by word through csr instructions.

#include "modexp.h"
#include "words.h"
#include "xcel.h"

uint32_t xcel_status;

// What a machine takes as given is made from the modulus by whoever has the key (proc/software/kernels.py).
#if XCEL_NGIVEN
__attribute__((section(".data.operands"))) uint32_t xcel_given[XCEL_NGIVEN][WORDS];

static inline void push_given(void) {
  UNROLL
  for (unsigned i = 0; i < WORDS; i++)
    XCEL_WRITE(XCEL_GIVEN, xcel_given[0][i]);
#if XCEL_NGIVEN > 1
  UNROLL
  for (unsigned i = 0; i < WORDS; i++)
    XCEL_WRITE(XCEL_GIVEN + 1, xcel_given[1][i]);
#endif
#if XCEL_NGIVEN > 2
  UNROLL
  for (unsigned i = 0; i < WORDS; i++)
    XCEL_WRITE(XCEL_GIVEN + 2, xcel_given[2][i]);
#endif
}
#else
static inline void push_given(void) {}
#endif

unsigned int xcel_mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus) {
  XCEL_WRITE(XCEL_BASE, base);
  XCEL_WRITE(XCEL_EXP, exponent);
  XCEL_WRITE(XCEL_MOD, modulus);
  push_given();
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
  push_given();
  XCEL_WRITE(XCEL_GO, 0);
  xcel_status = XCEL_READ(XCEL_STATUS);
  UNROLL
  for (unsigned i = 0; i < WORDS; i++)
    result[i] = XCEL_READ(XCEL_RESULT);
}
