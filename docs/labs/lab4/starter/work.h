// Lab 4, the application: messages are prepared by the processor, and each is raised to a power.
//
// A program includes this file and defines power(). The stats window counts the power alone.

#ifndef WORK_H
#define WORK_H

#include "manager.h"
#include "stats.h"

#define COUNT 6
#define ROUNDS 200
#define EXPONENT 65537u
#define MODULUS 2603398711u

uint32_t power(uint32_t base); // base^EXPONENT mod MODULUS

static uint32_t prepare(uint32_t x) {
  for (int round = 0; round < ROUNDS; round++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  return x;
}

int main(void) {
  uint32_t state = 1;
  for (int index = 0; index < COUNT; index++) {
    state = prepare(state);
    uint32_t message = state % MODULUS;
    stats_on();
    uint32_t result = power(message);
    stats_off();
    emit(message);
    emit(result);
  }
  return 0;
}

#endif
