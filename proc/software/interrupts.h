// The machine external interrupt of a processor with a bus: its handler, and a wait that misses no interrupt.

#ifndef INTERRUPTS_H
#define INTERRUPTS_H

#include <stdbool.h>
#include <stdint.h>

#define MSTATUS_MIE 8u
#define MIE_MEIE 0x800u

// Attribute of a function that is a handler for set_handler.
#define HANDLER __attribute__((interrupt("machine"), aligned(4)))

static inline void set_handler(void (*handler)(void)) { __asm__ volatile("csrw mtvec, %0" ::"r"(handler)); }

// Enable the external interrupt; enable and disable interrupts globally.
static inline void enable_external(void) { __asm__ volatile("csrs mie, %0" ::"r"(MIE_MEIE)); }
static inline void interrupts_on(void) { __asm__ volatile("csrsi mstatus, %0" ::"i"(MSTATUS_MIE) : "memory"); }
static inline void interrupts_off(void) { __asm__ volatile("csrci mstatus, %0" ::"i"(MSTATUS_MIE) : "memory"); }

// Sleep until the handler has set the flag. The flag is tested with interrupts disabled: an interrupt between the test and wfi
// is still pending, and wfi returns at once. Interrupts are enabled afterwards.
static inline void sleep_until(const volatile bool *flag) {
  interrupts_off();
  while (!*flag) {
    __asm__ volatile("wfi" ::: "memory");
    interrupts_on();
    interrupts_off();
  }
  interrupts_on();
}

#endif
