// Driver of a machine for modular exponentiation behind AXI4-Lite: result = base^exponent mod modulus.
//
// Freestanding C99: no C library, no memory of its own beside modexlab_t, for any little-endian CPU of 32 bits or more whose bus
// reaches the registers with accesses of 32 bits that are neither cached, merged nor reordered. Numbers are arrays of words,
// the least significant first. A modexlab_t belongs to one machine, and to one caller at a time; only modexlab_irq_handle may
// come between.
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
    code = modexlab_wait(&machine, 100000000); // polls; gives up after so many reads
  if (code == MODEXLAB_OK)
    code = modexlab_read(&machine, cipher, key->words);

  if (code == MODEXLAB_OK)
    code = modexlab_irq_enable(&machine, true);
  if (code == MODEXLAB_OK)
    code = modexlab_start(&machine, cipher, key->words); // the key is still there
  if (code == MODEXLAB_OK) {
    sleep_until(&machine.finished); // of the platform: it looks at the flag while interrupts are off, or else it could sleep for ever
    code = modexlab_read(&machine, cipher, key->words);
  }
  modexlab_zeroise(&machine);
  return code; // modexlab_message(code) says it in words
}
end of the example */

#ifndef MODEXLAB_H
#define MODEXLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "modexlab_regs.h"

// How registers are reached: redefine all three for a bus that is not in the CPU's address space, or that needs other fences.
#ifndef MODEXLAB_READ
#define MODEXLAB_READ(address) (*(volatile const uint32_t *)(address))
#endif
#ifndef MODEXLAB_WRITE
#define MODEXLAB_WRITE(address, value) ((void)(*(volatile uint32_t *)(address) = (value)))
#endif
// What stands before it reaches the device before what stands after it.
#ifndef MODEXLAB_FENCE
#if defined(__riscv)
#define MODEXLAB_FENCE() __asm__ volatile("fence iorw, iorw" ::: "memory")
#elif defined(__arm__) || defined(__aarch64__)
#define MODEXLAB_FENCE() __asm__ volatile("dsb sy" ::: "memory")
#else
#define MODEXLAB_FENCE() __sync_synchronize()
#endif
#endif

// Codes: 0 is MODEXLAB_OK, what is above 0 the machine says (modexlab_regs.h), what is below 0 the driver.
enum {
  MODEXLAB_NO_DEVICE = -1,   // register ID does not hold what it should: a wrong address
  MODEXLAB_NEW_DEVICE = -2,  // the machine has another version of the register map
  MODEXLAB_NO_INIT = -3,     // modexlab_init has not been called, or has failed
  MODEXLAB_NO_KEY = -4,      // no key has been loaded since the beginning or since the last zeroise
  MODEXLAB_BUSY = -5,        // a computation is running
  MODEXLAB_TIMEOUT = -6,     // it was still running when the limit was reached
  MODEXLAB_NOT_STARTED = -7, // there is no computation to wait for, and no result to read
  MODEXLAB_TOO_LONG = -8,    // a number has more words than the machine
  MODEXLAB_TOO_SHORT = -9,   // a number has no words, or the result has more than there is room for
  MODEXLAB_GIVEN_COUNT = -10, // not as many numbers are given as the machine takes
  MODEXLAB_KEY_LACKS = -11    // a private key lacks a number that the machine takes
};

// A machine. All but `finished` is of the driver alone; what init has found may be read.
typedef struct {
  uintptr_t base;
  uint32_t nbits, words; // of an operand
  uint32_t given;        // numbers that it takes beside the modulus
  bool constant_time;    // cycles say nothing of the exponent but what its length does
  bool odd_only;         // even moduli are refused
  bool reduced_only;     // a base at or above the modulus is refused
  bool crt;              // what it does with the numbers of a private key, as CAPABILITIES has it
  bool message_blinded;
  bool exponent_blinded;
  bool checked;
  bool public_exponents; // it may be told that an exponent is public, and takes the time of that one then
  uint32_t key_words;    // of the key that is loaded; 0: none
  uint32_t result_words; // of the key with which the last computation was started; 0: none was
  volatile bool finished;
} modexlab_t;

// A key: modulus and exponent of so many words, and what the machine wants to be given beside the modulus (R^2 mod n, and so
// on: the documentation of the design says which), likewise. The numbers are written to the machine, no pointer is kept.
typedef struct {
  uint32_t words;
  const uint32_t *modulus;
  const uint32_t *exponent;
  uint32_t given_count;
  const uint32_t *given[MODEXLAB_MOST_GIVEN];
} modexlab_key_t;

// A public key. A machine with public_exponents takes it as such; any other that needs no more than modulus and exponent as well.
typedef struct {
  uint32_t words;
  const uint32_t *modulus;
  const uint32_t *exponent;
} modexlab_public_key_t;

// The same of a machine that takes a private key, by name: what the machine does not take may be 0. Public exponent, private exponent
// and phi have as many words as the modulus, p to qinv half as many (rounded up). Without CRT it takes the private exponent.
//
// The random numbers that hide message and exponent must be new for each computation, and secret: x as long as the modulus, from 2
// up, below it and without a common factor; kp and kq of 64 bits, or of the machine's width if that is less. Without CRT it takes kp alone.
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

// Find the machine whose registers begin at this address: checks ID and version, reads what it can do, and switches its
// interrupt off. What it computes, and a key that it holds, stay as they are, but this driver does not know of them.
int modexlab_init(modexlab_t *machine, uintptr_t base);

// Write a key. Shorter numbers than the machine's are filled up with zeros. Not while a computation is running.
int modexlab_load_key(modexlab_t *machine, const modexlab_key_t *key);

// Write a public key. Numbers of a private key that the machine holds are overwritten.
int modexlab_load_public_key(modexlab_t *machine, const modexlab_public_key_t *key);

// Write a private key, the numbers that the machine takes of it.
int modexlab_load_private_key(modexlab_t *machine, const modexlab_private_key_t *key);

// Write new random numbers beside the private key that is loaded, before the next computation.
int modexlab_load_random(modexlab_t *machine, const modexlab_random_t *random);

// Start base^exponent mod modulus, with a base of so many words. A former result, and its interrupt, are gone.
int modexlab_start(modexlab_t *machine, const uint32_t *base, uint32_t words);

// Poll until the computation has ended, at most `limit` times (0: for ever). Its code, or MODEXLAB_TIMEOUT, after which it
// runs on, and one may wait again.
int modexlab_wait(modexlab_t *machine, uint32_t limit);

// Switch the interrupt at the end of a computation on or off. One that is over when it is switched on raises it at once.
int modexlab_irq_enable(modexlab_t *machine, bool enable);

// To be called by the interrupt handler: true if it was this machine's interrupt, which is then cleared.
bool modexlab_irq_handle(modexlab_t *machine);

// Whether modexlab_irq_handle has seen the end of the computation that was started last, or of zeroise after it.
bool modexlab_finished(const modexlab_t *machine);

// The result, in an array of so many words (those of its key at least; what is above them becomes 0). With any code but
// MODEXLAB_OK the array holds zeros: nothing is read of a computation that runs, or that had no result.
int modexlab_read(modexlab_t *machine, uint32_t *result, uint32_t words);

// Cycles of the last computation, by the machine's own counter.
uint64_t modexlab_cycles(const modexlab_t *machine);

// Clear key, base and result in the machine, at any time, and then whatever is left of them inside: it is busy until that is over, and
// modexlab_wait then says MODEXLAB_NOT_STARTED. What is running goes on to its end first, without an answer.
int modexlab_zeroise(modexlab_t *machine);

// A code in words.
const char *modexlab_message(int code);

#endif
