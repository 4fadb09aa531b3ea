// Calls the accelerator from a program on the processor: modexlab proc gcd.c --accelerator .

#include "gcd.h"

int main(void) { return gcd_call(48, 36) != 12; }
