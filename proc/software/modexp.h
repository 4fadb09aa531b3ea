// Modular exponentiation in software and by the accelerator: the kernels of proc/software/kernels.py.
//
// Kernels of one word take and return values, as in the paper's listings. The others work on operands of WORDS words
// (-DWORDS=32 for 1024 bits), least significant first. Montgomery kernels need an odd modulus; no modulus may be 0.

#ifndef MODEXP_H
#define MODEXP_H

#include <stdint.h>

#ifndef WORDS
#define WORDS 1
#endif

unsigned int mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus);
unsigned int mont_mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus);
unsigned int mont_mod_exp_ct(unsigned int base, unsigned int exponent, unsigned int modulus,
                             unsigned int exponent_nbits);
unsigned int xcel_mod_exp(unsigned int base, unsigned int exponent, unsigned int modulus);

void mod_exp_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                   const uint32_t modulus[WORDS]);
void mont_mod_exp_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                        const uint32_t modulus[WORDS]);
void mont_mod_exp_ct_words(uint32_t result[WORDS], const uint32_t base[WORDS],
                           const uint32_t exponent[WORDS], const uint32_t modulus[WORDS],
                           unsigned int exponent_nbits);
void xcel_mod_exp_words(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                        const uint32_t modulus[WORDS]);

// By a machine on the bus: load key and base, then poll or sleep until the interrupt; or use the key that bus_prepare has
// loaded. bus_prepare must be called first, with or without the interrupt. It returns a code of driver/modexlab.h.
#ifndef BUS_IRQ
#define BUS_IRQ 0
#endif
int bus_prepare(const uint32_t exponent[WORDS], const uint32_t modulus[WORDS], int with_interrupt);
void bus_mod_exp(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                 const uint32_t modulus[WORDS]);
void bus_mod_exp_irq(uint32_t result[WORDS], const uint32_t base[WORDS], const uint32_t exponent[WORDS],
                     const uint32_t modulus[WORDS]);
void bus_mod_exp_key(uint32_t result[WORDS], const uint32_t base[WORDS]);
uint64_t bus_cycles(void); // of the last computation, by the machine's own counter

// status of the last operation of the accelerator (fl/status.py), or the driver's code; 0: its result is valid
extern uint32_t xcel_status;

// the given numbers of the accelerator in addition to the modulus (kernels.py)
#ifndef XCEL_NGIVEN
#define XCEL_NGIVEN 0
#endif
#if XCEL_NGIVEN
extern uint32_t xcel_given[XCEL_NGIVEN][WORDS];
#endif

#endif
