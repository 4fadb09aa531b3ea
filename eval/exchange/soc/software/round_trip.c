// RSA on the machine on the bus: encrypts a message and decrypts the ciphertext, and compares both with the expected values.
// With -DBY_INTERRUPT it sleeps while the machine computes, else it polls. The exit code is 0 if both are correct.

#include "modexlab.h"
#include "operands.h"
#include "platform.h"

enum { LOAD = 1, START, WAIT, READ, END }; // a mark begins each phase of a call

static modexlab_t machine;
static uint32_t result[WORDS];
static const char *doing = "init";

void on_machine(void) { modexlab_irq_handle(&machine); }

static void say(const char *text) {
  print(doing);
  print(": ");
  print(text);
  print("\n");
}

void on_fault(uint32_t cause) {
  say("unexpected trap");
  word(cause);
  stop(3);
}

static void check(int code) {
  if (code != MODEXLAB_OK) {
    say(modexlab_message(code));
    stop(2);
  }
}

static int wait(void) {
#ifdef BY_INTERRUPT
  while (!modexlab_finished(&machine))
    sleep_until(&machine.finished);
  return MODEXLAB_OK; // modexlab_read returns the status
#else
  return modexlab_wait(&machine, 0);
#endif
}

static void mod_exp(const char *name, const modexlab_key_t *key, const uint32_t *base, const uint32_t *expected) {
  doing = name;
  mark(LOAD);
  int code = modexlab_load_key(&machine, key);
  mark(START);
  check(code);
  code = modexlab_start(&machine, base, WORDS);
  mark(WAIT);
  check(code);
  code = wait();
  mark(READ);
  check(code);
  code = modexlab_read(&machine, result, WORDS);
  mark(END);
  check(code);
  uint64_t cycles = modexlab_cycles(&machine);
  word((uint32_t)cycles);
  word((uint32_t)(cycles >> 32));
  bool same = true;
  for (unsigned i = 0; i < WORDS; i++) {
    word(result[i]);
    same = same && result[i] == expected[i];
  }
  say(same ? "ok" : "WRONG");
  if (!same)
    stop(1);
}

int main(void) {
  const modexlab_key_t public_key = {WORDS, modulus, public_exponent, GIVEN, {GIVEN_NUMBERS}};
  const modexlab_key_t private_key = {WORDS, modulus, private_exponent, GIVEN, {GIVEN_NUMBERS}};
  check(modexlab_init(&machine, SOC_MACHINE));
#ifdef BY_INTERRUPT
  check(modexlab_irq_enable(&machine, true));
  interrupts_on();
#endif
  mod_exp("encrypt", &public_key, message, ciphertext);
  mod_exp("decrypt", &private_key, ciphertext, message);
  doing = "zeroise";
  check(modexlab_zeroise(&machine));
  return 0;
}
