"""Semantics of every instruction at the functional level, one row per instruction, compiled to Python
functions.

    x     the registers; x[32] replaces x0 as a destination           a, b  numbers of rs1 and rs2
    i     the immediate                                               d     number of rd
    M, S  32 ones, and the sign bit: (v ^ S) - S is v as a signed number

MAKERS maps names to functions that return the function of one decoded instruction. That function has no
arguments, executes the instruction and, for a branch, returns the next pc. Jumps and system instructions are
in `modexlab.proc.iss.iss`.
"""

from collections.abc import Callable
from typing import Any

from ..software.memory import PAGE_SHIFT, PAGE_WORDS

M, S = 0xFFFF_FFFF, 0x8000_0000

Step = Callable[[], Any]  # returns the next pc if it ends a block

VALUES = {
    "add": "x[a] + x[b] & M",
    "sub": "x[a] - x[b] & M",
    "sll": "x[a] << (x[b] & 31) & M",
    "slt": "1 if x[a] ^ S < x[b] ^ S else 0",
    "sltu": "1 if x[a] < x[b] else 0",
    "xor": "x[a] ^ x[b]",
    "srl": "x[a] >> (x[b] & 31)",
    "sra": "(x[a] ^ S) - S >> (x[b] & 31) & M",
    "or": "x[a] | x[b]",
    "and": "x[a] & x[b]",
    "mul": "x[a] * x[b] & M",
    "mulh": "((x[a] ^ S) - S) * ((x[b] ^ S) - S) >> 32 & M",
    "mulhsu": "((x[a] ^ S) - S) * x[b] >> 32 & M",
    "mulhu": "x[a] * x[b] >> 32",
    "div": "quotient((x[a] ^ S) - S, (x[b] ^ S) - S) & M",
    "divu": "x[a] // x[b] if x[b] else M",
    "rem": "remainder((x[a] ^ S) - S, (x[b] ^ S) - S) & M",
    "remu": "x[a] % x[b] if x[b] else x[a]",
    "lui": "i",
    "auipc": "i",
}
# with an immediate in place of rs2
VALUES |= {
    f"{name}i{unsigned}": VALUES[f"{name}{unsigned}"].replace("x[b]", "i")
    for name, unsigned in (
        *((name, "") for name in ("add", "sll", "slt", "xor", "srl", "sra", "or", "and")),
        ("slt", "u"),
    )
}
BRANCHES = {
    "beq": "x[a] == x[b]",
    "bne": "x[a] != x[b]",
    "blt": "x[a] ^ S < x[b] ^ S",
    "bge": "x[a] ^ S >= x[b] ^ S",
    "bltu": "x[a] < x[b]",
    "bgeu": "x[a] >= x[b]",
}
# number of bytes, and the value loaded from `word`, the aligned word in memory at address `at`
LOADS = {
    "lb": (1, "((word >> (at & 3) * 8 & 0xFF) ^ 0x80) - 0x80 & M"),
    "lh": (2, "((word >> (at & 2) * 8 & 0xFFFF) ^ 0x8000) - 0x8000 & M"),
    "lw": (4, "word"),
    "lbu": (1, "word >> (at & 3) * 8 & 0xFF"),
    "lhu": (2, "word >> (at & 2) * 8 & 0xFFFF"),
}
# number of bytes, and the word in memory after the store
STORES = {
    "sb": (1, "{word} & ~(0xFF << (at & 3) * 8) | (x[b] & 0xFF) << (at & 3) * 8"),
    "sh": (2, "{word} & ~(0xFFFF << (at & 2) * 8) | (x[b] & 0xFFFF) << (at & 2) * 8"),
    "sw": (4, "x[b]"),
}


def quotient(a: int, b: int) -> int:
    """Signed division as in the specification: rounded toward zero; -1 for division by zero."""
    if b == 0:
        return -1
    return -(abs(a) // abs(b)) if (a < 0) != (b < 0) else abs(a) // abs(b)


def remainder(a: int, b: int) -> int:
    """The remainder of `quotient`: it has the sign of the dividend, and is the dividend for
    division by zero.
    """
    if b == 0:
        return a
    return -(abs(a) % abs(b)) if a < 0 else abs(a) % abs(b)


def _compiled(parameters: str, *body: str) -> Callable[..., Step]:
    """A function that, given the parameters, returns a function without arguments that has this body."""
    lines = [
        f"def make({parameters}):",
        "    def run():",
        *(f"        {line}" for line in body),
        "    return run",
    ]
    scope: dict[str, Any] = {"M": M, "S": S, "quotient": quotient, "remainder": remainder}
    exec("\n".join(lines), scope)
    return scope["make"]


def _makers() -> dict[str, Callable[..., Step]]:
    made = {name: _compiled("x, d, a, b, i", f"x[d] = {value}") for name, value in VALUES.items()}
    for name, condition in BRANCHES.items():
        made[name] = _compiled("x, a, b, target, after", f"return target if {condition} else after")
    page, index = f"at >> {PAGE_SHIFT}", f"at >> 2 & {PAGE_WORDS - 1}"
    for name, (nbytes, value) in LOADS.items():
        made[name] = _compiled(
            "x, d, a, i, pc, pages, load",
            "at = x[a] + i & M",
            "try:",
            f"    word = load(pc, at, {nbytes}) if at & {nbytes - 1} else pages[{page}][{index}]",
            "except KeyError:",
            f"    word = load(pc, at, {nbytes})",
            f"x[d] = {value}",
        )
    for name, (nbytes, value) in STORES.items():
        made[name] = _compiled(
            "x, a, b, i, pc, pages, store",
            "at = x[a] + i & M",
            f"page = pages.get({page})",
            f"if page is None or at & {nbytes - 1}:",
            f"    store(pc, at, {nbytes}, x[b])",
            "else:",
            f"    page[{index}] = {value.format(word=f'page[{index}]')}",
        )
    return made


MAKERS = _makers()
