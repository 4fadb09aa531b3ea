// The greatest common divisor of two numbers by Euclid's algorithm; the exit code is 0 if it is right.
#include "manager.h"
#include "stats.h"

static unsigned gcd(unsigned a, unsigned b) {
  while (b) {
    unsigned rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int main(void) {
  stats_on();
  unsigned found = gcd(1071, 462);
  stats_off();
  emit(found);
  return found != 21;
}
