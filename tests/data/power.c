// 5^117 mod 2603398711 by the accelerator; the exit code is 0 if it is right.
#include "manager.h"
#include "modexp.h"
#include "stats.h"

int main(void) {
  stats_on();
  unsigned power = xcel_mod_exp(5, 117, 2603398711);
  stats_off();
  emit(power);
  return xcel_status != 0 || power != 2243890029u;
}
