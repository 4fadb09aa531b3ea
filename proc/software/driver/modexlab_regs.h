// Registers of a machine for modular exponentiation behind AXI4-Lite, and its status codes. Made by modexlab from its SystemRDL
// description (modexlab.proc.software.register_header): change that, not this.
//
// MODEXLAB_REG_*: byte addresses from the base; operands are rows of words, the least significant first. *_SHIFT and *_MASK:
// the fields of a register.

#ifndef MODEXLAB_REGS_H
#define MODEXLAB_REGS_H

#define MODEXLAB_ID 0x4D584C42u // what register ID holds
#define MODEXLAB_VERSION 1u // of this map
#define MODEXLAB_MOST_WORDS 128u // of an operand
#define MODEXLAB_MOST_GIVEN 8u // numbers beside the modulus

#define MODEXLAB_REG_ID 0x000u // r: identity: MXLB in ASCII

#define MODEXLAB_REG_VERSION 0x004u // r: version of this map

#define MODEXLAB_REG_CAPABILITIES 0x008u // r: what the machine is like
#define MODEXLAB_CAPABILITIES_NBITS_SHIFT 0 // bits of an operand
#define MODEXLAB_CAPABILITIES_NBITS_MASK 0x0000FFFFu
#define MODEXLAB_CAPABILITIES_GIVEN_SHIFT 16 // numbers that it takes as given: the low bits of their count
#define MODEXLAB_CAPABILITIES_GIVEN_MASK 0x00030000u
#define MODEXLAB_CAPABILITIES_CONSTANT_TIME_SHIFT 18 // the cycles say nothing of the exponent but what its length does
#define MODEXLAB_CAPABILITIES_CONSTANT_TIME_MASK 0x00040000u
#define MODEXLAB_CAPABILITIES_ODD_ONLY_SHIFT 19 // even moduli are refused
#define MODEXLAB_CAPABILITIES_ODD_ONLY_MASK 0x00080000u
#define MODEXLAB_CAPABILITIES_REDUCED_ONLY_SHIFT 20 // a base at or above the modulus is refused
#define MODEXLAB_CAPABILITIES_REDUCED_ONLY_MASK 0x00100000u
#define MODEXLAB_CAPABILITIES_GIVEN_HIGH_SHIFT 21 // the high bits of the count of given numbers
#define MODEXLAB_CAPABILITIES_GIVEN_HIGH_MASK 0x00600000u
#define MODEXLAB_CAPABILITIES_CRT_SHIFT 23 // given are p, q, dp, dq, qinv of a private key; the exponent is the public one
#define MODEXLAB_CAPABILITIES_CRT_MASK 0x00800000u
#define MODEXLAB_CAPABILITIES_MESSAGE_BLINDED_SHIFT 24 // a random number x is given behind them, which hides the base
#define MODEXLAB_CAPABILITIES_MESSAGE_BLINDED_MASK 0x01000000u
#define MODEXLAB_CAPABILITIES_EXPONENT_BLINDED_SHIFT 25 // random factors are given behind them, which hide the private exponent
#define MODEXLAB_CAPABILITIES_EXPONENT_BLINDED_MASK 0x02000000u
#define MODEXLAB_CAPABILITIES_CHECKED_SHIFT 26 // a result leaves only if the public exponent gives the base again
#define MODEXLAB_CAPABILITIES_CHECKED_MASK 0x04000000u

#define MODEXLAB_REG_CONTROL 0x00Cu // w: commands
#define MODEXLAB_CONTROL_START_SHIFT 0 // compute base^exponent mod modulus; refused while busy
#define MODEXLAB_CONTROL_START_MASK 0x00000001u
#define MODEXLAB_CONTROL_ZEROISE_SHIFT 1 // clear operands, result, and then the machine (busy); what is running goes on to its end without an answer
#define MODEXLAB_CONTROL_ZEROISE_MASK 0x00000002u

#define MODEXLAB_REG_STATUS 0x010u // r: how things stand
#define MODEXLAB_STATUS_BUSY_SHIFT 0 // a computation is running
#define MODEXLAB_STATUS_BUSY_MASK 0x00000001u
#define MODEXLAB_STATUS_DONE_SHIFT 1 // it has ended
#define MODEXLAB_STATUS_DONE_MASK 0x00000002u
#define MODEXLAB_STATUS_ERROR_SHIFT 2 // without a result: see the code
#define MODEXLAB_STATUS_ERROR_MASK 0x00000004u
#define MODEXLAB_STATUS_CODE_SHIFT 8 // status code of the last computation
#define MODEXLAB_STATUS_CODE_MASK 0x0000FF00u

#define MODEXLAB_REG_IRQ_ENABLE 0x014u // rw: which events raise the interrupt
#define MODEXLAB_IRQ_ENABLE_DONE_SHIFT 0 // the end of a computation, or of zeroise
#define MODEXLAB_IRQ_ENABLE_DONE_MASK 0x00000001u

#define MODEXLAB_REG_IRQ_STATUS 0x018u // rw: which events have come; writing 1 clears
#define MODEXLAB_IRQ_STATUS_DONE_SHIFT 0 // the end of a computation, or of zeroise
#define MODEXLAB_IRQ_STATUS_DONE_MASK 0x00000001u

#define MODEXLAB_REG_CYCLES_LOW 0x01Cu // r: cycles of the last computation, low word

#define MODEXLAB_REG_CYCLES_HIGH 0x020u // r: cycles of the last computation, high word

#define MODEXLAB_REG_BASE 0x200u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_EXPONENT 0x400u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_MODULUS 0x600u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_GIVEN_0 0x800u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_GIVEN_1 0xA00u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_GIVEN_2 0xC00u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_RESULT 0xE00u // r: a word of the result; an error until there is one

#define MODEXLAB_REG_GIVEN_3 0x1000u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_GIVEN_4 0x1200u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_GIVEN_5 0x1400u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_GIVEN_6 0x1600u // w: a word of an operand; kept for the next computation, and never to be read

#define MODEXLAB_REG_GIVEN_7 0x1800u // w: a word of an operand; kept for the next computation, and never to be read

// status codes, in field CODE of register STATUS
#define MODEXLAB_OK 0 // the result is valid
#define MODEXLAB_ZERO_MODULUS 1 // the modulus is 0
#define MODEXLAB_EVEN_MODULUS 2 // the modulus is even, and a Montgomery machine needs an odd one
#define MODEXLAB_BASE_TOO_LARGE 3 // the base is not below the modulus
#define MODEXLAB_WORD_COUNT 4 // an operand was pushed with the wrong number of words
#define MODEXLAB_TOO_WIDE 5 // an operand has ones above the width of the machine
#define MODEXLAB_NO_RESULT 6 // a result word was read, but there is none left
#define MODEXLAB_WRONG_MODULUS 7 // the machine is made for another modulus
#define MODEXLAB_BAD_KEY 8 // the numbers of the key do not belong together
#define MODEXLAB_FAULT 9 // the result did not stand its check, by a fault or by a private exponent that is not that of the key, and is withheld
#define MODEXLAB_STATUS_MESSAGES \
  { \
    "the result is valid", \
    "the modulus is 0", \
    "the modulus is even, and a Montgomery machine needs an odd one", \
    "the base is not below the modulus", \
    "an operand was pushed with the wrong number of words", \
    "an operand has ones above the width of the machine", \
    "a result word was read, but there is none left", \
    "the machine is made for another modulus", \
    "the numbers of the key do not belong together", \
    "the result did not stand its check, by a fault or by a private exponent that is not that of the key, and is withheld" \
  }

#endif
