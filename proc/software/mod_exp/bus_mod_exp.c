// Modular exponentiation by a machine on the bus through the driver (driver/modexlab.h), in three ways:
//
//   bus_mod_exp      loads key and base, polls, and reads the result
//   bus_mod_exp_irq  the same, but sleeps (wfi) until the interrupt handler has seen the end
//   bus_mod_exp_key  loads only the base, polls, and reads the result
//
// bus_prepare is called once before any of them and loads the key, which only bus_mod_exp_key relies on.

#include "driver/modexlab.h"
#include "interrupts.h"
#include "modexp.h"

#define LIMIT 0 // number of polls: unlimited

static modexlab_t machine;

static HANDLER void handle(void) { modexlab_irq_handle(&machine); }

static int load_key(const uint32_t *exponent, const uint32_t *modulus) {
  modexlab_key_t key = {.words = WORDS, .modulus = modulus, .exponent = exponent, .given_count = XCEL_NGIVEN};
#if XCEL_NGIVEN
  for (unsigned i = 0; i < XCEL_NGIVEN; i++)
    key.given[i] = xcel_given[i];
#endif
  return modexlab_load_key(&machine, &key);
}

int bus_prepare(const uint32_t exponent[WORDS], const uint32_t modulus[WORDS], int with_interrupt) {
  int code = modexlab_init(&machine, BUS_BASE);
  if (code == MODEXLAB_OK)
    code = load_key(exponent, modulus);
  if (code == MODEXLAB_OK && with_interrupt) {
    code = modexlab_irq_enable(&machine, true);
    set_handler(handle);
    enable_external();
    interrupts_on();
  }
  return code;
}

uint64_t bus_cycles(void) { return modexlab_cycles(&machine); }

static void start_and_read(uint32_t *result, const uint32_t *base, int code, bool by_interrupt) {
  if (code == MODEXLAB_OK)
    code = modexlab_start(&machine, base, WORDS);
  if (code == MODEXLAB_OK) {
    if (by_interrupt)
      sleep_until(&machine.finished);
    else
      code = modexlab_wait(&machine, LIMIT);
  }
  if (code == MODEXLAB_OK)
    code = modexlab_read(&machine, result, WORDS);
  xcel_status = (uint32_t)code;
}

void bus_mod_exp(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                 const uint32_t modulus[WORDS]) {
  start_and_read(result, base, load_key(exponent, modulus), false);
}

void bus_mod_exp_irq(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                     const uint32_t modulus[WORDS]) {
  start_and_read(result, base, load_key(exponent, modulus), true);
}

void bus_mod_exp_key(uint32_t result[WORDS], const uint32_t base[WORDS]) {
  start_and_read(result, base, MODEXLAB_OK, false);
}
