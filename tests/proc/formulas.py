"""Formulas of the instructions, written independently of the simulator and the RTL."""

import math
from fractions import Fraction


def signed(value, nbits=32):
    """The value of the low bits in two's complement."""
    value &= (1 << nbits) - 1
    return value - (1 << nbits) if value >> nbits - 1 else value


def unsigned(value):
    """The low 32 bits, from the bytes of two's complement."""
    return int.from_bytes(value.to_bytes(16, "little", signed=True)[:4], "little")


def upper(product):
    return int.from_bytes(product.to_bytes(16, "little", signed=True)[4:8], "little")


def divided(a, b):
    return -1 if b == 0 else math.trunc(Fraction(a, b))


# the specification, written independently of the simulator
GOLDEN = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "sll": lambda a, b: a * 2 ** (b % 32),
    "slt": lambda a, b: int(signed(a) < signed(b)),
    "sltu": lambda a, b: int(a < b),
    "xor": lambda a, b: (a | b) - (a & b),
    "srl": lambda a, b: a // 2 ** (b % 32),
    "sra": lambda a, b: math.floor(Fraction(signed(a), 2 ** (b % 32))),
    "or": lambda a, b: a + b - (a & b),
    "and": lambda a, b: sum(1 << i for i in range(32) if a >> i & 1 and b >> i & 1),
    "mul": lambda a, b: signed(a) * signed(b),
    "mulh": lambda a, b: upper(signed(a) * signed(b)),
    "mulhsu": lambda a, b: upper(signed(a) * b),
    "mulhu": lambda a, b: upper(a * b),
    "div": lambda a, b: divided(signed(a), signed(b)),
    "divu": lambda a, b: divided(a, b),
    "rem": lambda a, b: signed(a) - signed(b) * divided(signed(a), signed(b)) if b else a,
    "remu": lambda a, b: a - b * divided(a, b) if b else a,
}
GOLDEN_IMMEDIATE = {
    f"{name}i": GOLDEN[name] for name in ("add", "sll", "slt", "xor", "srl", "sra", "or", "and")
}
GOLDEN_IMMEDIATE["sltiu"] = GOLDEN["sltu"]
TAKEN = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: signed(a) < signed(b),
    "bge": lambda a, b: signed(a) >= signed(b),
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
}
