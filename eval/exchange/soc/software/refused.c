// Tests how this CPU reacts to accesses that the machine refuses. It does not use the driver, which makes no such accesses.
// Output words per access: the value that was read, the cause of the trap (0: none), and STATUS afterwards. The last test is an
// illegal instruction, which shows that traps are detected.

#include "modexlab_regs.h"
#include "platform.h"

#define REGISTER(at) (*(volatile uint32_t *)(SOC_MACHINE + (at)))
#define UNTOUCHED 0xA5A5A5A5u

static volatile uint32_t fault;

void on_machine(void) {}
void on_fault(uint32_t cause) { fault = cause; }

static void fence(void) { __asm__ volatile("fence iorw, iorw\n nop\n nop\n nop\n nop" ::: "memory"); }

static void tell(uint32_t value) {
  fence();
  word(value);
  word(fault);
  word(REGISTER(MODEXLAB_REG_STATUS));
  fault = 0;
}

static void try_read(uint32_t at) {
  uint32_t value = UNTOUCHED;
  __asm__ volatile("lw %0, 0(%1)" : "+r"(value) : "r"(SOC_MACHINE + at) : "memory");
  tell(value);
}

static void try_write(uint32_t at, uint32_t value) {
  REGISTER(at) = value;
  tell(UNTOUCHED);
}

int main(void) {
  interrupts_on();
  try_read(MODEXLAB_REG_ID);        // allowed
  try_read(MODEXLAB_REG_MODULUS);   // write-only
  try_read(MODEXLAB_REG_RESULT);    // no result yet
  try_read(0x100);                  // no register
  try_write(MODEXLAB_REG_ID, 1);    // read-only
  try_write(0x100, 1);              // no register
  for (uint32_t i = 0; i < 4 * MODEXLAB_MOST_WORDS; i += 4) { // a long computation
    REGISTER(MODEXLAB_REG_MODULUS + i) = 0xFFFFFFFF;
    REGISTER(MODEXLAB_REG_EXPONENT + i) = 0xFFFFFFFF;
    fault = 0;
  }
  REGISTER(MODEXLAB_REG_BASE) = 2;
  REGISTER(MODEXLAB_REG_CONTROL) = MODEXLAB_CONTROL_START_MASK;
  fault = 0;
  try_write(MODEXLAB_REG_MODULUS, 3);                            // while running
  try_write(MODEXLAB_REG_CONTROL, MODEXLAB_CONTROL_START_MASK); // while running
  __asm__ volatile(".word 0" ::: "memory");
  tell(UNTOUCHED);
  return 0;
}
