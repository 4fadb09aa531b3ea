// RSA without padding: encrypts a message, decrypts the ciphertext, and compares.
//
// proc/software/kernels.py writes the key and the message into the program's image. Without that, the program has the key of
// paper 001, Figure 1. With -DKERNEL=xcel_mod_exp the accelerator computes; with -DBY_ADDRESS the kernel takes addresses of
// words, with -DBUS it uses a machine on the bus, with -DBUS_IRQ=1 by interrupt.
// -DENCRYPT_KERNEL=mont_mod_exp: another kernel encrypts, for a machine that takes the numbers of a private key and can only
// decrypt; rsa_d then has the exponent of its request, and xcel_given the other numbers, random ones included.
// Output: the words of the ciphertext, then those of the decrypted message. Exit code: 0 if it is the message.

#include "interrupts.h"
#include "manager.h"
#include "modexp.h"
#include "stats.h"

#ifndef KERNEL
#define KERNEL mont_mod_exp
#endif

#ifndef ENCRYPT_KERNEL
#define ENCRYPT_KERNEL KERNEL
#endif

#ifdef BY_ADDRESS
#define APPLY(kernel, result, base, exponent) kernel(result, base, exponent, rsa_n)
#else
#define APPLY(kernel, result, base, exponent) (result)[0] = kernel((base)[0], (exponent)[0], rsa_n[0])
#endif

#define PATCHED __attribute__((section(".data.operands")))

PATCHED uint32_t rsa_n[WORDS] = {2603398711};
PATCHED uint32_t rsa_e[WORDS] = {65537};
PATCHED uint32_t rsa_d[WORDS] = {254738681};
PATCHED uint32_t rsa_message[WORDS] = {5745};

static void encrypt(uint32_t cipher[WORDS], const uint32_t message[WORDS]) {
  APPLY(ENCRYPT_KERNEL, cipher, message, rsa_e);
}

static void decrypt(uint32_t message[WORDS], const uint32_t cipher[WORDS]) {
  APPLY(KERNEL, message, cipher, rsa_d);
}

int main(void) {
  static uint32_t cipher[WORDS], decrypted[WORDS];
#ifdef BUS
  if (bus_prepare(rsa_e, rsa_n, BUS_IRQ) != 0)
    return 2;
#endif
  stats_on();
  encrypt(cipher, rsa_message);
  uint32_t wrong = xcel_status;
  decrypt(decrypted, cipher);
  stats_off();
#ifdef BUS
  set_handler(0); // or the ecall at the end would enter the handler
#endif

  emit_words(cipher, WORDS);
  emit_words(decrypted, WORDS);
  wrong |= xcel_status;
  for (unsigned i = 0; i < WORDS; i++)
    wrong |= decrypted[i] ^ rsa_message[i];
  return wrong != 0;
}
