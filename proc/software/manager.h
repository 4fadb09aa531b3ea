// Words to and from the manager, which runs the simulation: emit() appends a word to the program's output, take()
// waits for the next word of its input.

#ifndef MANAGER_H
#define MANAGER_H

#include <stdint.h>

#ifdef QEMU // a word of output is four bytes on standard output; there is no input

static inline void emit(uint32_t word) {
  register uint32_t a0 __asm__("a0") = 1;
  register const uint32_t *a1 __asm__("a1") = &word;
  register uint32_t a2 __asm__("a2") = sizeof word;
  register uint32_t a7 __asm__("a7") = 64; // write
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
}

#else

static inline void emit(uint32_t word) { __asm__ volatile("csrw 0x7C0, %0" ::"r"(word)); }

static inline uint32_t take(void) {
  uint32_t word;
  __asm__ volatile("csrr %0, 0xFC0" : "=r"(word));
  return word;
}

#endif

static inline void emit_words(const uint32_t *words, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    emit(words[i]);
}

#endif
