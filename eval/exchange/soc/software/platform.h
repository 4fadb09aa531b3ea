// The output port and the interrupts of the chip. soc_map.h, generated with the chip, has the addresses.

#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

#include "soc_map.h"

#define PORT(address) (*(volatile uint32_t *)(address))

// Output a word, or a number to which the test bench adds the cycle.
static inline void word(uint32_t value) { PORT(SOC_WORD) = value; }
static inline void mark(uint32_t value) { PORT(SOC_MARK) = value; }

// End the simulation with an exit code.
static inline void stop(uint32_t code) {
  for (;;)
    PORT(SOC_STOP) = code;
}

static inline void print(const char *text) {
  while (*text)
    PORT(SOC_CONSOLE) = (unsigned char)*text++;
}

// Enable the machine's interrupt.
void interrupts_on(void);

// Sleep until an interrupt has been handled, unless `over` is already true.
void sleep_until(volatile const bool *over);

// Defined by the program: handles the machine's interrupt.
void on_machine(void);

// Defined by the program: handles any other trap, such as a bus error, given its cause.
void on_fault(uint32_t cause);

#endif
