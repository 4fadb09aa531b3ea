// Modular exponentiation by the accelerator: operands and result are transferred word by word with csr instructions.

#include "modexp.h"
#include "words.h"
#include "xcel.h"

uint32_t xcel_status;

// The given numbers, derived from the modulus or those of a private key, are written into the image by
// proc/software/kernels.py.
#if XCEL_NGIVEN
__attribute__((section(".data.operands"))) uint32_t xcel_given[XCEL_NGIVEN][WORDS];

// The number of a csr is part of its instruction, so each given number has a loop of its own.
#define PUSH_GIVEN(i) \
  if ((i) < XCEL_NGIVEN) \
    UNROLL for (unsigned word = 0; word < WORDS; word++) XCEL_WRITE(XCEL_GIVEN + (i), xcel_given[i][word])

static inline void push_given(void) {
  _Static_assert(XCEL_NGIVEN <= 8, "push_given has no loop for these given numbers");
  PUSH_GIVEN(0);
  PUSH_GIVEN(1);
  PUSH_GIVEN(2);
  PUSH_GIVEN(3);
  PUSH_GIVEN(4);
  PUSH_GIVEN(5);
  PUSH_GIVEN(6);
  PUSH_GIVEN(7);
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
