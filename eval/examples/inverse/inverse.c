// Calls the accelerator from a program on the processor: modexlab proc inverse.c --accelerator .

#include "inverse.h"

int main(void) {
  uint32_t x;
  if (inverse_call(3, 7, &x) != 0 || x != 5) return 1;
  return inverse_call(3, 9, &x) != 3; // no inverse: refused
}
