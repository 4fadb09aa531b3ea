// The accelerator's registers, one csr instruction for each access. The protocol is in fl/xcel.py:
// push the words of base, exponent and modulus, least significant first, write go, read status, pop the result.

#ifndef XCEL_H
#define XCEL_H

#include <stdint.h>

#define XCEL_CSR 0x7E0 // number of register 0

#define XCEL_GO 0
#define XCEL_RESULT 0 // the same register, when read
#define XCEL_BASE 1
#define XCEL_EXP 2
#define XCEL_MOD 3
#define XCEL_STATUS 4
#define XCEL_WORDS 5
#define XCEL_GIVEN 4 // when written: the first given number

#define XCEL_WRITE(reg, value) \
  __asm__ volatile("csrw %0, %1" ::"i"(XCEL_CSR + (reg)), "rK"((uint32_t)(value)))

#define XCEL_READ(reg) \
  __extension__({ \
    uint32_t xcel_value_; \
    __asm__ volatile("csrr %0, %1" : "=r"(xcel_value_) : "i"(XCEL_CSR + (reg))); \
    xcel_value_; \
  })

#endif
