"""The table of accelerator programs: sequences of accesses as a processor makes them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from modexlab.fl.xcel import BASE, EXP, GIVEN, GO, MOD, STATUS, WORDS, to_words, words_of

Access = tuple[int, int, int]  # write, addr, data
GivenOf = Callable[[int], tuple[int, ...]]  # what a machine takes as given, of a modulus


@dataclass
class Program:
    """A named sequence of accesses."""

    name: str
    nbits: int
    given_of: GivenOf
    accesses: list[Access] = field(default_factory=list)

    def write(self, addr, data=0):
        self.accesses.append((1, addr, data))
        return self

    def read(self, addr, times=1):
        self.accesses += [(0, addr, 0)] * times
        return self

    def push(self, addr, value):
        for word in to_words(value, self.nbits):
            self.write(addr, word)
        return self

    def key(self, mod):
        """Push the modulus and what is made from it."""
        self.push(MOD, mod)
        for i, value in enumerate(self.given_of(mod)):
            self.push(GIVEN + i, value)
        return self

    def operation(self, base, exp, mod):
        """Push all, go, pop the result, look at the status."""
        self.push(BASE, base).push(EXP, exp).key(mod).write(GO)
        return self.read(GO, words_of(self.nbits)).read(STATUS)


def programs(nbits, given_of=lambda mod: ()):
    """All programs for an accelerator of nbits bits."""
    words = words_of(nbits)
    rng = random.Random(f"xcel {nbits}")
    mod = rng.getrandbits(nbits) | 1 << (nbits - 1) | 1
    base, exp = rng.randrange(mod), rng.getrandbits(min(nbits, 16))

    def program(name):
        return Program(name, nbits, given_of)

    return [
        program("what it is").read(WORDS).read(STATUS),
        program("a result before any operation").read(GO).read(STATUS),
        program("one operation").operation(base, exp, mod),
        program("two operations").operation(base, exp, mod).operation(exp % mod, base, mod),
        program("the key stays")
        .operation(base, exp, mod)
        .push(BASE, 3)
        .write(GO)
        .read(GO, words)
        .read(STATUS),
        program("everything stays").operation(base, exp, mod).write(GO).read(GO, words),
        program("a word too many is popped").operation(base, exp, mod).read(GO).read(STATUS),
        program("not all words are popped")
        .push(BASE, base).push(EXP, exp).key(mod).write(GO).read(GO).write(GO).read(GO, words),
        program("go without operands").write(GO).read(GO, words).read(STATUS).operation(base, exp, mod),
        program("a word too many is pushed")
        .push(EXP, exp).key(mod).push(BASE, base).write(BASE, 1).write(GO).read(STATUS).read(GO, words)
        .operation(base, exp, mod),
        program("far too many words").push(EXP, exp).key(mod)
        .push(BASE, base).push(BASE, base).push(BASE, base).write(BASE, 1).write(GO).read(STATUS)
        .write(GO).read(STATUS).push(BASE, base).write(GO).read(STATUS).read(GO, words),
        program("modulus 0").operation(base, exp, 0).operation(base, exp, mod),
        program("even modulus").operation(1, 2, mod - 1).operation(base, exp, mod),
        program("base not below the modulus").operation(mod, 1, mod).operation(base, exp, mod),
        program("registers that are none").write(9, 5).read(9).write(STATUS if not given_of(3) else 31, 5)
        .read(STATUS).read(BASE).read(31),
        program("an operand above the width").push(EXP, exp).key(mod).push(BASE, base)
        .write(GO).read(GO, words)
        .operation((1 << (32 * words)) - 1, exp, mod),
    ]  # fmt: skip
