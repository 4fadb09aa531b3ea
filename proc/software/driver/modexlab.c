// SPDX-License-Identifier: BSD-3-Clause
// Implementation of modexlab.h. The bus may drop error answers, as many bridges do, so the driver makes no access that the machine
// would refuse; it reads STATUS first.

#include "modexlab.h"

static uint32_t get(const modexlab_t *machine, uint32_t at) { return MODEXLAB_READ(machine->base + at); }

static void put(const modexlab_t *machine, uint32_t at, uint32_t value) {
  MODEXLAB_WRITE(machine->base + at, value);
}

// Write the words of a number to the registers of an operand, and zeros above them.
static void put_number(const modexlab_t *machine, uint32_t at, const uint32_t *number, uint32_t words) {
  for (uint32_t i = 0; i < machine->words; i++)
    put(machine, at + 4 * i, i < words ? number[i] : 0);
}

static uint32_t words_of(uint32_t nbits) { return (nbits + 31) / 32; }

static bool is_ready(const modexlab_t *machine) { return machine->words != 0; }

static bool is_busy(const modexlab_t *machine) {
  return (get(machine, MODEXLAB_REG_STATUS) & MODEXLAB_STATUS_BUSY_MASK) != 0;
}

static int check_words(const modexlab_t *machine, uint32_t words) {
  if (words == 0)
    return MODEXLAB_TOO_SHORT;
  return words > machine->words ? MODEXLAB_TOO_LONG : MODEXLAB_OK;
}

// The code for a value of STATUS.
static int outcome(uint32_t status) {
  if (status & MODEXLAB_STATUS_BUSY_MASK)
    return MODEXLAB_BUSY;
  if (!(status & MODEXLAB_STATUS_DONE_MASK))
    return MODEXLAB_NOT_STARTED;
  return (int)((status & MODEXLAB_STATUS_CODE_MASK) >> MODEXLAB_STATUS_CODE_SHIFT);
}

int modexlab_init(modexlab_t *machine, uintptr_t base) {
  static const modexlab_fields_t own = MODEXLAB_FIELDS;
  return modexlab_init_fields(machine, base, &own);
}

int modexlab_init_fields(modexlab_t *machine, uintptr_t base, const modexlab_fields_t *fields) {
  machine->base = base;
  machine->nbits = machine->words = machine->given = 0;
  machine->key_words = machine->result_words = 0;
  machine->constant_time = machine->odd_only = machine->reduced_only = machine->finished = false;
  machine->crt = machine->message_blinded = machine->exponent_blinded = machine->checked = false;
  machine->public_exponents = machine->blinded = machine->stale = false;
  machine->fields = 0;
  if (get(machine, MODEXLAB_REG_ID) != MODEXLAB_ID)
    return MODEXLAB_NO_DEVICE;
  if (get(machine, MODEXLAB_REG_VERSION) != MODEXLAB_VERSION)
    return MODEXLAB_NEW_DEVICE;
  uint32_t able = get(machine, MODEXLAB_REG_CAPABILITIES);
  put(machine, MODEXLAB_REG_IRQ_ENABLE, 0);
  MODEXLAB_FENCE();
  machine->constant_time = (able & MODEXLAB_CAPABILITIES_CONSTANT_TIME_MASK) != 0;
  machine->odd_only = (able & MODEXLAB_CAPABILITIES_ODD_ONLY_MASK) != 0;
  machine->reduced_only = (able & MODEXLAB_CAPABILITIES_REDUCED_ONLY_MASK) != 0;
  machine->crt = (able & MODEXLAB_CAPABILITIES_CRT_MASK) != 0;
  machine->message_blinded = (able & MODEXLAB_CAPABILITIES_MESSAGE_BLINDED_MASK) != 0;
  machine->exponent_blinded = (able & MODEXLAB_CAPABILITIES_EXPONENT_BLINDED_MASK) != 0;
  machine->checked = (able & MODEXLAB_CAPABILITIES_CHECKED_MASK) != 0;
  machine->public_exponents = (able & MODEXLAB_CAPABILITIES_PUBLIC_EXPONENTS_MASK) != 0;
  machine->given = (able & MODEXLAB_CAPABILITIES_GIVEN_MASK) >> MODEXLAB_CAPABILITIES_GIVEN_SHIFT;
  machine->given += (able & MODEXLAB_CAPABILITIES_GIVEN_HIGH_MASK) >> MODEXLAB_CAPABILITIES_GIVEN_HIGH_SHIFT << 2;
  machine->nbits = (able & MODEXLAB_CAPABILITIES_NBITS_MASK) >> MODEXLAB_CAPABILITIES_NBITS_SHIFT;
  machine->words = words_of(machine->nbits);
  if (fields != 0 && fields->capabilities == able)
    machine->fields = fields;
  return MODEXLAB_OK;
}

// The address of a given number.
static uint32_t given_window(uint32_t i) {
  static const uint32_t windows[MODEXLAB_MOST_GIVEN] = {
      MODEXLAB_REG_GIVEN_0, MODEXLAB_REG_GIVEN_1, MODEXLAB_REG_GIVEN_2, MODEXLAB_REG_GIVEN_3,
      MODEXLAB_REG_GIVEN_4, MODEXLAB_REG_GIVEN_5, MODEXLAB_REG_GIVEN_6, MODEXLAB_REG_GIVEN_7};
  return windows[i];
}

// Note a key of this many words, and whether its random numbers serve one computation.
static void note_key(modexlab_t *machine, uint32_t words, bool blinded) {
  machine->key_words = words;
  machine->blinded = blinded;
  machine->stale = false;
}

int modexlab_load_key(modexlab_t *machine, const modexlab_key_t *key) {
  if (!is_ready(machine))
    return MODEXLAB_NO_INIT;
  int code = check_words(machine, key->words);
  if (code != MODEXLAB_OK)
    return code;
  if (key->given_count != machine->given)
    return MODEXLAB_GIVEN_COUNT;
  if (is_busy(machine))
    return MODEXLAB_BUSY;
  put_number(machine, MODEXLAB_REG_MODULUS, key->modulus, key->words);
  put_number(machine, MODEXLAB_REG_EXPONENT, key->exponent, key->words);
  for (uint32_t i = 0; i < key->given_count; i++)
    put_number(machine, given_window(i), key->given[i], key->words);
  note_key(machine, key->words, machine->message_blinded || machine->exponent_blinded);
  return MODEXLAB_OK;
}

// The last given number, which flags a public exponent.
static const uint32_t is_private = 0, is_public = 1;

int modexlab_load_public_key(modexlab_t *machine, const modexlab_public_key_t *key) {
  if (!is_ready(machine))
    return MODEXLAB_NO_INIT;
  int code = check_words(machine, key->words);
  if (code != MODEXLAB_OK)
    return code;
  if (machine->given != 0 && !machine->public_exponents)
    return MODEXLAB_GIVEN_COUNT;
  if (is_busy(machine))
    return MODEXLAB_BUSY;
  put_number(machine, MODEXLAB_REG_MODULUS, key->modulus, key->words);
  put_number(machine, MODEXLAB_REG_EXPONENT, key->exponent, key->words);
  for (uint32_t i = 0; i < machine->given; i++)
    put_number(machine, given_window(i), i + 1 == machine->given ? &is_public : &is_private, 1);
  note_key(machine, key->words, false);
  return MODEXLAB_OK;
}

// A list of numbers, in the order of the registers from `first` on.
typedef struct {
  uint32_t first, count;
  const uint32_t *numbers[MODEXLAB_MOST_GIVEN];
  uint32_t words[MODEXLAB_MOST_GIVEN];
} row_t;

// Append a number of this many words, or of as many as its field has.
static void append(const modexlab_t *machine, row_t *row, const uint32_t *number, uint32_t words) {
  uint32_t most = words_of(machine->fields->nbits[row->first + row->count]);
  row->numbers[row->count] = number;
  row->words[row->count] = words < most ? words : most;
  row->count++;
}

static void append_random(const modexlab_t *machine, row_t *row, const modexlab_random_t *random, uint32_t words) {
  if (machine->message_blinded)
    append(machine, row, random->x, words);
  if (machine->exponent_blinded)
    append(machine, row, random->kp, MODEXLAB_MOST_WORDS);
  if (machine->exponent_blinded && machine->crt)
    append(machine, row, random->kq, MODEXLAB_MOST_WORDS);
}

// The number of random numbers that the machine takes.
static uint32_t count_random(const modexlab_t *machine) {
  return (machine->message_blinded ? 1u : 0u) + (machine->exponent_blinded ? (machine->crt ? 2u : 1u) : 0u);
}

// The number of additional operands of a machine for private keys.
static uint32_t count_private(const modexlab_t *machine) {
  uint32_t count = count_random(machine) + machine->public_exponents;
  if (machine->crt)
    return count + 5;
  return count + (machine->checked || machine->message_blinded ? 1u : 0u) + machine->exponent_blinded;
}

static int check_row(const row_t *row) {
  for (uint32_t i = 0; i < row->count; i++)
    if (row->numbers[i] == 0)
      return MODEXLAB_KEY_LACKS;
  return MODEXLAB_OK;
}

static void put_row(const modexlab_t *machine, const row_t *row) {
  for (uint32_t i = 0; i < row->count; i++)
    put_number(machine, given_window(row->first + i), row->numbers[i], row->words[i]);
}

int modexlab_load_private_key(modexlab_t *machine, const modexlab_private_key_t *key) {
  const uint32_t *exponent;
  row_t row;
  if (!is_ready(machine))
    return MODEXLAB_NO_INIT;
  int code = check_words(machine, key->words);
  if (code != MODEXLAB_OK)
    return code;
  if (count_private(machine) != machine->given)
    return MODEXLAB_GIVEN_COUNT;
  if (machine->given != 0 && machine->fields == 0)
    return MODEXLAB_NO_FIELDS;
  uint32_t half = (key->words + 1) / 2;
  row.first = row.count = 0;
  if (machine->crt) {
    append(machine, &row, key->p, half);
    append(machine, &row, key->q, half);
    append(machine, &row, key->dp, half);
    append(machine, &row, key->dq, half);
    append(machine, &row, key->qinv, half);
  } else {
    if (machine->checked || machine->message_blinded)
      append(machine, &row, key->public_exponent, key->words);
    if (machine->exponent_blinded)
      append(machine, &row, key->phi, key->words);
  }
  append_random(machine, &row, &key->random, key->words);
  if (machine->public_exponents)
    append(machine, &row, &is_private, 1);
  exponent = machine->crt ? key->public_exponent : key->private_exponent;
  code = check_row(&row);
  if (code != MODEXLAB_OK || exponent == 0)
    return MODEXLAB_KEY_LACKS;
  if (is_busy(machine))
    return MODEXLAB_BUSY;
  put_number(machine, MODEXLAB_REG_MODULUS, key->modulus, key->words);
  put_number(machine, MODEXLAB_REG_EXPONENT, exponent, key->words);
  put_row(machine, &row);
  note_key(machine, key->words, count_random(machine) != 0);
  return MODEXLAB_OK;
}

int modexlab_load_random(modexlab_t *machine, const modexlab_random_t *random) {
  row_t row;
  if (!is_ready(machine))
    return MODEXLAB_NO_INIT;
  if (machine->key_words == 0)
    return MODEXLAB_NO_KEY;
  if (count_random(machine) != 0 && machine->fields == 0)
    return MODEXLAB_NO_FIELDS;
  row.first = machine->given - machine->public_exponents - count_random(machine); // they are the last numbers of the key
  row.count = 0;
  append_random(machine, &row, random, machine->key_words);
  int code = check_row(&row);
  if (code != MODEXLAB_OK)
    return code;
  if (is_busy(machine))
    return MODEXLAB_BUSY;
  put_row(machine, &row);
  machine->stale = false;
  return MODEXLAB_OK;
}

int modexlab_start(modexlab_t *machine, const uint32_t *base, uint32_t words) {
  if (!is_ready(machine))
    return MODEXLAB_NO_INIT;
  if (machine->key_words == 0)
    return MODEXLAB_NO_KEY;
  int code = check_words(machine, words);
  if (code != MODEXLAB_OK)
    return code;
  if (is_busy(machine))
    return MODEXLAB_BUSY;
  if (machine->stale)
    return MODEXLAB_STALE_RANDOM;
  put_number(machine, MODEXLAB_REG_BASE, base, words);
  put(machine, MODEXLAB_REG_IRQ_STATUS, MODEXLAB_IRQ_STATUS_DONE_MASK); // of the previous computation
  machine->finished = false;
  machine->result_words = machine->key_words;
  machine->stale = machine->blinded;
  MODEXLAB_FENCE();
  put(machine, MODEXLAB_REG_CONTROL, MODEXLAB_CONTROL_START_MASK);
  MODEXLAB_FENCE(); // from here on STATUS reads as busy or done
  return MODEXLAB_OK;
}

int modexlab_wait(modexlab_t *machine, uint32_t limit) {
  if (!is_ready(machine))
    return MODEXLAB_NO_INIT;
  for (uint32_t reads = 0; limit == 0 || reads < limit; reads++) {
    int code = outcome(get(machine, MODEXLAB_REG_STATUS));
    if (code != MODEXLAB_BUSY)
      return code;
  }
  return MODEXLAB_TIMEOUT;
}

int modexlab_irq_enable(modexlab_t *machine, bool enable) {
  if (!is_ready(machine))
    return MODEXLAB_NO_INIT;
  put(machine, MODEXLAB_REG_IRQ_ENABLE, enable ? MODEXLAB_IRQ_ENABLE_DONE_MASK : 0);
  MODEXLAB_FENCE();
  return MODEXLAB_OK;
}

bool modexlab_irq_handle(modexlab_t *machine) {
  if (!is_ready(machine))
    return false;
  uint32_t raised = get(machine, MODEXLAB_REG_IRQ_STATUS) & get(machine, MODEXLAB_REG_IRQ_ENABLE);
  if (!(raised & MODEXLAB_IRQ_STATUS_DONE_MASK))
    return false;
  put(machine, MODEXLAB_REG_IRQ_STATUS, MODEXLAB_IRQ_STATUS_DONE_MASK);
  MODEXLAB_FENCE();
  (void)get(machine, MODEXLAB_REG_IRQ_STATUS); // ensures that the line is low before the handler returns
  machine->finished = true;
  return true;
}

bool modexlab_finished(const modexlab_t *machine) { return machine->finished; }

int modexlab_read(modexlab_t *machine, uint32_t *result, uint32_t words) {
  for (uint32_t i = 0; i < words; i++)
    result[i] = 0;
  if (!is_ready(machine))
    return MODEXLAB_NO_INIT;
  if (machine->result_words == 0)
    return MODEXLAB_NOT_STARTED;
  if (words < machine->result_words)
    return MODEXLAB_TOO_SHORT;
  int code = outcome(get(machine, MODEXLAB_REG_STATUS));
  if (code != MODEXLAB_OK)
    return code;
  for (uint32_t i = 0; i < machine->result_words; i++)
    result[i] = get(machine, MODEXLAB_REG_RESULT + 4 * i);
  return MODEXLAB_OK;
}

uint64_t modexlab_cycles(const modexlab_t *machine) {
  uint32_t high, low;
  if (!is_ready(machine))
    return 0;
  do { // the counter may be running
    high = get(machine, MODEXLAB_REG_CYCLES_HIGH);
    low = get(machine, MODEXLAB_REG_CYCLES_LOW);
  } while (high != get(machine, MODEXLAB_REG_CYCLES_HIGH));
  return (uint64_t)high << 32 | low;
}

int modexlab_zeroise(modexlab_t *machine) {
  if (!is_ready(machine))
    return MODEXLAB_NO_INIT;
  put(machine, MODEXLAB_REG_CONTROL, MODEXLAB_CONTROL_ZEROISE_MASK);
  MODEXLAB_FENCE();
  machine->key_words = machine->result_words = 0;
  machine->finished = false;
  return MODEXLAB_OK;
}

const char *modexlab_message(int code) {
  static const char *const machine[] = MODEXLAB_STATUS_MESSAGES;
  static const char *const driver[] = {
      "there is no such machine at this address",
      "the machine has another version of the register map",
      "the machine has not been initialised",
      "no key is loaded",
      "a computation is running",
      "the computation has not ended within the limit",
      "no computation has been started",
      "a number has more words than the machine",
      "a number has no words, or more than there is room for",
      "not as many numbers are given as the machine takes",
      "the private key lacks a number that the machine takes",
      "the random numbers have been used: load new ones",
      "the lengths of the machine's fields are not known: compile with the modexlab_regs.h of its package",
  };
  if (code >= 0)
    return code < (int)(sizeof machine / sizeof *machine) ? machine[code] : "an unknown code of the machine";
  return -code <= (int)(sizeof driver / sizeof *driver) ? driver[-code - 1] : "an unknown code of the driver";
}
