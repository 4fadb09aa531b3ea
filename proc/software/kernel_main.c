// The program around a kernel: -DKERNEL=mod_exp, or with -DBY_ADDRESS a kernel whose arguments are addresses of words.
//
// proc/software/kernels.py writes operands and expected result into the program's image, so that one build serves all
// operands of a width. The stats window contains only the call: arguments are in their registers before it opens,
// and the call is the same for every kernel and for the dummy.
// Output: the words of the result. Exit code: 0 if they are as expected.
// -DBUS: the kernel uses a machine on the bus, which is prepared before the call; its cycle count, two words, follows the result.
// -DBUS_IRQ=1: by interrupt.
// -DWARM_UP: a call with another base precedes the stats window, so that no register holds the operands of the call in it.

#include "kernel_main.h"

#include <stdbool.h>

#include "interrupts.h"
#include "manager.h"
#include "modexp.h"
#include "stats.h"

#define PATCHED __attribute__((section(".data.operands"))) // allocates space in the image, although the value is 0

PATCHED uint32_t operand_base[WORDS];
PATCHED uint32_t operand_exp[WORDS];
PATCHED uint32_t operand_mod[WORDS];
PATCHED uint32_t operand_exp_nbits;
PATCHED uint32_t operand_expected[WORDS];
#ifdef WARM_UP
PATCHED uint32_t operand_warm_up[WORDS];
#endif

static uint32_t result[WORDS];

// kernels with fewer arguments ignore the last ones
#define CALL_KERNEL(before, after) \
  __asm__ volatile(before "call %[kernel]\n\t" after \
                   : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4) \
                   : [kernel] "i"(KERNEL) \
                   : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a5", "a6", "a7", "memory")

static inline __attribute__((always_inline)) void call_kernel(uint32_t base[WORDS], bool counted) {
#ifdef BY_ADDRESS
  register uint32_t *a0 __asm__("a0") = result;
  register uint32_t *a1 __asm__("a1") = base;
  register uint32_t *a2 __asm__("a2") = operand_exp;
  register uint32_t *a3 __asm__("a3") = operand_mod;
  register uint32_t a4 __asm__("a4") = operand_exp_nbits;
  if (counted)
    CALL_KERNEL(STATS_ON, STATS_OFF);
  else
    CALL_KERNEL("", "");
#else
  register uint32_t a0 __asm__("a0") = base[0];
  register uint32_t a1 __asm__("a1") = operand_exp[0];
  register uint32_t a2 __asm__("a2") = operand_mod[0];
  register uint32_t a3 __asm__("a3") = operand_exp_nbits;
  register uint32_t a4 __asm__("a4") = 0;
  if (counted)
    CALL_KERNEL(STATS_ON, STATS_OFF);
  else
    CALL_KERNEL("", "");
  result[0] = a0;
#endif
}

int main(void) {
#ifdef BUS
  if (bus_prepare(operand_exp, operand_mod, BUS_IRQ) != 0)
    return 2;
#endif
#ifdef WARM_UP
  call_kernel(operand_warm_up, false);
#endif
  call_kernel(operand_base, true);
  emit_words(result, WORDS);
#ifdef BUS
  uint64_t cycles = bus_cycles();
  emit((uint32_t)cycles);
  emit((uint32_t)(cycles >> 32));
  set_handler(0); // or the ecall at the end would enter the handler
#endif
  uint32_t wrong = xcel_status;
  for (unsigned i = 0; i < WORDS; i++)
    wrong |= result[i] ^ operand_expected[i];
  return wrong != 0;
}
