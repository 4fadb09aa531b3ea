// SPDX-License-Identifier: BSD-3-Clause
// Driver of a machine for modular exponentiation behind AXI4-Lite: result = base^exponent mod modulus.
//
// Freestanding C99: no C library, no memory except modexlab_t, for any little-endian CPU of 32 bits or more whose bus
// reaches the registers with accesses of 32 bits that are neither cached, merged nor reordered. Numbers are arrays of words,
// least significant first. A modexlab_t belongs to one machine, and to one caller at a time; only modexlab_irq_handle may
// interrupt other calls.
//
// A key and two computations, the second one by interrupt:
//
/* example: tests compile and run it
static modexlab_t machine;

void on_interrupt(void) { modexlab_irq_handle(&machine); } // called by the trap handler of the platform

int encrypt_twice(uintptr_t base, const modexlab_key_t *key, const uint32_t *message, uint32_t *cipher) {
  int code = modexlab_init(&machine, base);
  if (code == MODEXLAB_OK)
    code = modexlab_load_key(&machine, key);
  if (code == MODEXLAB_OK)
    code = modexlab_start(&machine, message, key->words);
  if (code == MODEXLAB_OK)
    code = modexlab_wait(&machine, 100000000); // polls; times out after this many reads
  if (code == MODEXLAB_OK)
    code = modexlab_read(&machine, cipher, key->words);

  if (code == MODEXLAB_OK)
    code = modexlab_irq_enable(&machine, true);
  if (code == MODEXLAB_OK)
    code = modexlab_start(&machine, cipher, key->words); // the key is still loaded
  if (code == MODEXLAB_OK) {
    sleep_until(&machine.finished); // provided by the platform; it must test the flag with interrupts disabled, or it could sleep forever
    code = modexlab_read(&machine, cipher, key->words);
  }
  modexlab_zeroise(&machine);
  return code; // modexlab_message(code) is its text
}
end of the example */

#ifndef MODEXLAB_H
#define MODEXLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "modexlab_regs.h"

#ifdef __cplusplus
extern "C" {
#endif

// Register access: redefine all three for a bus that is not in the CPU's address space, or that needs other fences.
#ifndef MODEXLAB_READ
#define MODEXLAB_READ(address) (*(volatile const uint32_t *)(address))
#endif
#ifndef MODEXLAB_WRITE
#define MODEXLAB_WRITE(address, value) ((void)(*(volatile uint32_t *)(address) = (value)))
#endif
// Accesses before the fence reach the device before accesses after it.
#ifndef MODEXLAB_FENCE
#if defined(__riscv)
#define MODEXLAB_FENCE() __asm__ volatile("fence iorw, iorw" ::: "memory")
#elif defined(__arm__) || defined(__aarch64__)
#define MODEXLAB_FENCE() __asm__ volatile("dsb sy" ::: "memory")
#else
#define MODEXLAB_FENCE() __sync_synchronize()
#endif
#endif

// Codes: 0 is MODEXLAB_OK, positive codes come from the machine (modexlab_regs.h), negative codes from the driver.
enum {
  MODEXLAB_NO_DEVICE = -1,   // register ID has an unexpected value: wrong address
  MODEXLAB_NEW_DEVICE = -2,  // the machine has another version of the register map
  MODEXLAB_NO_INIT = -3,     // modexlab_init has not been called, or has failed
  MODEXLAB_NO_KEY = -4,      // no key has been loaded since initialisation or the last zeroise
  MODEXLAB_BUSY = -5,        // a computation is running
  MODEXLAB_TIMEOUT = -6,     // the computation was still running when the limit was reached
  MODEXLAB_NOT_STARTED = -7, // there is no computation to wait for, and no result to read
  MODEXLAB_TOO_LONG = -8,    // a number has more words than the machine
  MODEXLAB_TOO_SHORT = -9,   // a number has no words, or the result has more than there is room for
  MODEXLAB_GIVEN_COUNT = -10, // the number of given numbers is not the one that the machine needs
  MODEXLAB_KEY_LACKS = -11,   // a private key lacks a number that the machine needs
  MODEXLAB_STALE_RANDOM = -12, // the random numbers have blinded a computation already: load new ones
  MODEXLAB_NO_FIELDS = -13    // the lengths of the machine's additional operands are not known
};

// The additional operands of a machine. The modexlab_regs.h of a package has those of its machine as MODEXLAB_FIELDS.
typedef struct {
  uint32_t capabilities; // the value of register CAPABILITIES; 0: of no machine
  uint32_t nbits[MODEXLAB_MOST_GIVEN];
} modexlab_fields_t;

// A machine. Callers must not write its fields; those set by modexlab_init, and `finished`, may be read.
typedef struct {
  uintptr_t base;
  uint32_t nbits, words; // of an operand
  uint32_t given;        // number of given numbers, in addition to base, exponent and modulus
  bool constant_time;    // cycles do not depend on the value of the exponent, at most on its length
  bool odd_only;         // even moduli are refused
  bool reduced_only;     // a base at or above the modulus is refused
  bool crt;              // processing of a private key, as in CAPABILITIES
  bool message_blinded;
  bool exponent_blinded;
  bool checked;
  bool public_exponents; // it accepts keys flagged as public, whose exponent then determines the time
  const modexlab_fields_t *fields; // null: not known
  uint32_t key_words;    // of the loaded key; 0: none
  uint32_t result_words; // of the key of the last computation; 0: none was started
  bool blinded;          // the loaded key needs new random numbers for each computation
  bool stale;            // the loaded random numbers have been used
  volatile bool finished;
} modexlab_t;

// A key: modulus, exponent and the given numbers that the machine needs (such as R^2 mod n; see the documentation of the
// design), each with this number of words. The numbers are written to the machine; no pointer is kept.
typedef struct {
  uint32_t words;
  const uint32_t *modulus;
  const uint32_t *exponent;
  uint32_t given_count;
  const uint32_t *given[MODEXLAB_MOST_GIVEN];
} modexlab_key_t;

// A public key, for a machine with public_exponents or without given numbers.
typedef struct {
  uint32_t words;
  const uint32_t *modulus;
  const uint32_t *exponent;
} modexlab_public_key_t;

// A private key: numbers that the machine does not need may be null. Public exponent, private exponent and phi have as many
// words as the modulus, p to qinv half as many (rounded up). Without CRT the machine uses the private exponent.
//
// The random numbers that blind message and exponent must be secret, uniform, and new for each computation. Their lengths
// are those of their fields, MODEXLAB_X_NBITS, MODEXLAB_KP_NBITS and MODEXLAB_KQ_NBITS in modexlab_regs.h: x has as many words
// as its field, or as the modulus if that is shorter, and is at least 2, below the modulus and coprime to it; kp and kq
// have as many words as their fields. Without CRT only kp is used (MODEXLAB_K_NBITS).
typedef struct {
  const uint32_t *x;
  const uint32_t *kp, *kq;
} modexlab_random_t;

typedef struct {
  uint32_t words;
  const uint32_t *modulus;
  const uint32_t *public_exponent;
  const uint32_t *private_exponent;
  const uint32_t *phi; // (p - 1)(q - 1)
  const uint32_t *p, *q, *dp, *dq, *qinv;
  modexlab_random_t random; // for the first computation
} modexlab_private_key_t;

// Initialise the driver for the machine whose registers begin at this address: check ID and version, read its capabilities,
// and disable its interrupt. A running computation and a loaded key are not changed, but the driver ignores them.
int modexlab_init(modexlab_t *machine, uintptr_t base);

// The same for a system with several machines that take private keys: with the fields of this one, from its own
// modexlab_regs.h. They must stay valid.
int modexlab_init_fields(modexlab_t *machine, uintptr_t base, const modexlab_fields_t *fields);

// Write a key. Numbers shorter than the machine's are padded with zeros. Refused while a computation is running.
int modexlab_load_key(modexlab_t *machine, const modexlab_key_t *key);

// Write a public key. Numbers of a private key that the machine holds are overwritten.
int modexlab_load_public_key(modexlab_t *machine, const modexlab_public_key_t *key);

// Write the numbers of a private key that the machine needs.
int modexlab_load_private_key(modexlab_t *machine, const modexlab_private_key_t *key);

// Write new random numbers for the loaded private key, before the next computation.
int modexlab_load_random(modexlab_t *machine, const modexlab_random_t *random);

// Start base^exponent mod modulus with a base of this many words. The previous result and its interrupt are cleared. Random
// numbers serve one computation: a second one is refused until modexlab_load_random, or a function that loads a key, is called.
int modexlab_start(modexlab_t *machine, const uint32_t *base, uint32_t words);

// Poll until the computation has ended, at most `limit` times (0: forever). Returns its code, or MODEXLAB_TIMEOUT, after which
// it continues and may be waited for again.
int modexlab_wait(modexlab_t *machine, uint32_t limit);

// Enable or disable the interrupt at the end of a computation. If the computation has already ended, enabling raises it at once.
int modexlab_irq_enable(modexlab_t *machine, bool enable);

// To be called by the interrupt handler: returns true, and clears the interrupt, if it was raised by this machine.
bool modexlab_irq_handle(modexlab_t *machine);

// Whether modexlab_irq_handle has seen the end of the last computation, or of a later zeroise.
bool modexlab_finished(const modexlab_t *machine);

// Read the result into an array of this many words (at least those of its key; words above become 0). With any code other than
// MODEXLAB_OK the array is filled with zeros: a computation that is running or has no result is not read.
int modexlab_read(modexlab_t *machine, uint32_t *result, uint32_t words);

// Cycles of the last computation, by the machine's own counter.
uint64_t modexlab_cycles(const modexlab_t *machine);

// Clear key, base and result, at any time, and then every copy inside the machine. It is busy until that is complete;
// modexlab_wait then returns MODEXLAB_NOT_STARTED. A running computation first runs to its end, and its result is discarded.
int modexlab_zeroise(modexlab_t *machine);

// A code as text.
const char *modexlab_message(int code);

#ifdef __cplusplus
}
#endif

#endif
