// Interrupts of LiteX's VexRiscv, whose masked lines share RISC-V's external interrupt, and of PicoRV32.

#include "platform.h"

#define MASK (1u << SOC_INTERRUPT)

#ifdef PICORV32

static void set_mask(uint32_t mask) { __asm__ volatile(".insn r 0x0B, 6, 3, x0, %0, x0" ::"r"(mask) : "memory"); }

void interrupts_on(void) { set_mask(~(MASK | 6u)); } // 1: illegal instruction; 2: misaligned access

void sleep_until(volatile const bool *over) {
  // `over` cannot change between the test and the sleep: a masked interrupt wakes the CPU but is not taken
  set_mask(~0u);
  if (!*over)
    __asm__ volatile(".insn r 0x0B, 4, 4, x0, x0, x0" ::: "memory"); // waitirq
  interrupts_on();
}

void on_interrupt(uint32_t which) {
  if (which & MASK)
    on_machine();
  if (which & 6u)
    on_fault(which & 6u);
}

#else

#define EXTERNAL 0x800u // in mie: bit 11, the cause of external interrupts
#define GLOBAL 8u       // in mstatus
#define IS_INTERRUPT 0x80000000u

void interrupts_on(void) {
  __asm__ volatile("csrw 0xBC0, %0" ::"r"(MASK)); // mask of the lines
  __asm__ volatile("csrw mie, %0" ::"r"(EXTERNAL));
  __asm__ volatile("csrs mstatus, %0" ::"r"(GLOBAL) : "memory");
}

void sleep_until(volatile const bool *over) {
  __asm__ volatile("csrc mstatus, %0" ::"r"(GLOBAL) : "memory");
  if (!*over)
    __asm__ volatile("wfi" ::: "memory"); // a masked interrupt wakes the CPU but is not taken
  __asm__ volatile("csrs mstatus, %0" ::"r"(GLOBAL) : "memory");
}

uint32_t on_trap(uint32_t cause, uint32_t at) {
  if (cause & IS_INTERRUPT) {
    on_machine();
    return at;
  }
  on_fault(cause);
  return at + 4; // skip the instruction
}

#endif

// Called with the return value of main, the exit code.
void finish(uint32_t code) { stop(code); }
