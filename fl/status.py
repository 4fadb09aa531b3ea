"""Status codes of every accelerator: the reasons for refusing an operation.

0 means that the result is valid. With any other code there is no result, and the result field is 0.
"""

from enum import IntEnum

STATUS_NBITS = 4


class Status(IntEnum):
    """One code for each way in which operands can be wrong; `MEANING` describes them."""

    OK = 0
    ZERO_MODULUS = 1
    EVEN_MODULUS = 2
    BASE_TOO_LARGE = 3
    WORD_COUNT = 4
    TOO_WIDE = 5
    NO_RESULT = 6
    WRONG_MODULUS = 7
    BAD_KEY = 8
    FAULT = 9


MEANING = {
    Status.OK: "the result is valid",
    Status.ZERO_MODULUS: "the modulus is 0",
    Status.EVEN_MODULUS: "the modulus is even, and a Montgomery machine needs an odd one",
    Status.BASE_TOO_LARGE: "the base is not below the modulus",
    Status.WORD_COUNT: "an operand was pushed with the wrong number of words",
    Status.TOO_WIDE: "an operand has ones above its width",
    Status.NO_RESULT: "a result word was read, but there is none left",
    Status.WRONG_MODULUS: "the machine is made for another modulus",
    Status.BAD_KEY: "the numbers of the key do not belong together",
    Status.FAULT: "the result failed its check and is withheld: a fault, or an exponent of another key",
}
