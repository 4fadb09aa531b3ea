// The chip: its output port and its interrupts. soc_map.h has the addresses; it is made with the chip.

#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

#include "soc_map.h"

#define PORT(address) (*(volatile uint32_t *)(address))

// a word of output, and a number that is stamped with the cycle
static inline void word(uint32_t value) { PORT(SOC_WORD) = value; }
static inline void mark(uint32_t value) { PORT(SOC_MARK) = value; }

// the end of the simulation, with an exit code
static inline void stop(uint32_t code) {
  for (;;)
    PORT(SOC_STOP) = code;
}

static inline void print(const char *text) {
  while (*text)
    PORT(SOC_CONSOLE) = (unsigned char)*text++;
}

// Let the machine's interrupt through.
void interrupts_on(void);

// Until an interrupt has been handled, if `over` is not yet true.
void sleep_until(volatile const bool *over);

// Of the program: the machine's interrupt.
void on_machine(void);

// Of the program: another trap, of an access that the bus refused for instance; its cause.
void on_fault(uint32_t cause);

#endif
