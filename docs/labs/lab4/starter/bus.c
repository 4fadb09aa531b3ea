// Lab 4: the power by a machine on the bus, through its driver.

#include "modexlab.h"
#include "work.h"

static modexlab_t machine;

uint32_t power(uint32_t base) {
  static const uint32_t exponent = EXPONENT, modulus = MODULUS;
  const modexlab_key_t key = {.words = 1, .modulus = &modulus, .exponent = &exponent};
  uint32_t result = 0;
  // STEP 5: init and load_key at the first call, then start, wait and read at each
  (void)machine, (void)key; // delete this line
  return result;
}
