// The machine external interrupt of a processor with a bus: its handler, and a wait for it that loses none.

#ifndef INTERRUPTS_H
#define INTERRUPTS_H

#include <stdbool.h>
#include <stdint.h>

#define MSTATUS_MIE 8u
#define MIE_MEIE 0x800u

// Before a function: a handler for set_handler.
#define HANDLER __attribute__((interrupt("machine"), aligned(4)))

static inline void set_handler(void (*handler)(void)) { __asm__ volatile("csrw mtvec, %0" ::"r"(handler)); }

// The external interrupt, and whether interrupts are taken.
static inline void enable_external(void) { __asm__ volatile("csrs mie, %0" ::"r"(MIE_MEIE)); }
static inline void interrupts_on(void) { __asm__ volatile("csrsi mstatus, %0" ::"i"(MSTATUS_MIE) : "memory"); }
static inline void interrupts_off(void) { __asm__ volatile("csrci mstatus, %0" ::"i"(MSTATUS_MIE) : "memory"); }

// Sleep until the handler has set the flag. It is looked at while interrupts are off: one that comes between the look and wfi is
// still pending, and wfi returns at once. Interrupts are on afterwards.
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
