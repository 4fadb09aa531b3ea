"""Rows: one operation each, with a name that says what it is for, and the delays of its source and sink in
columns.

A row is written once and runs at every level and backend. Tables are functions of the width, so that a corner
is named once.
"""

import random
from dataclasses import dataclass, fields, replace

from modexlab.fl.errors import shown
from modexlab.fl.status import Status


def brief(value):
    """A value as a failing row prints it, wide integers shortened."""
    if isinstance(value, tuple):
        return f"({', '.join(map(brief, value))})"
    return shown(int(value)) if isinstance(value, int) else str(value)


class Row:
    """Name and columns of a row, for messages; columns at their default are left out."""

    def __repr__(self):
        columns = [
            f"{column.name} {brief(getattr(self, column.name))}"
            for column in fields(self)
            if column.name != "name" and getattr(self, column.name) != column.default
        ]
        return f"{self.name}: {', '.join(columns)}"

    def judge(self, answer, expected, where):
        """Fail unless the answer is the expected one; the message has both."""
        assert answer == expected, f"{self!r}; {where} gives {brief(answer)}, expected {brief(expected)}"


@dataclass(frozen=True, repr=False)
class ProductRow(Row):
    """a * b mod `mod` on a multiplier."""

    name: str
    a: int
    b: int
    mod: int
    source_delay: int = 0
    sink_delay: int = 0

    @property
    def golden(self):
        return self.a * self.b % self.mod

    @property
    def request(self):
        return self.a, self.b


@dataclass(frozen=True, repr=False)
class ModExpRow(Row):
    """base^exp mod `mod` on a machine, which may refuse even moduli and bases that are not below the
    modulus.
    """

    name: str
    base: int
    exp: int
    mod: int
    source_delay: int = 0
    sink_delay: int = 0

    @property
    def request(self):
        return self.base, self.exp, self.mod

    def golden(self, design, nbits, **settings):
        """(status, result), by `pow` and by what the design says of its moduli and bases."""
        machine = design.at(nbits, **settings)
        if self.mod.bit_length() > machine.modulus_nbits:
            return Status.TOO_WIDE, 0
        if machine.modulus not in (0, self.mod):
            return Status.WRONG_MODULUS, 0
        if self.mod == 0:
            return Status.ZERO_MODULUS, 0
        if design.odd_only and self.mod % 2 == 0:
            return Status.EVEN_MODULUS, 0
        if design.reduced_only and self.base >= self.mod:
            return Status.BASE_TOO_LARGE, 0
        return Status.OK, pow(self.base, self.exp, self.mod)


def odd_moduli(table, nbits, count, least=2):
    """Names of rows, a generator of their operands, and moduli of all lengths, the same in every run."""
    rng = random.Random(f"{table} {nbits}")
    for i in range(count):
        yield f"random {i}", rng, rng.getrandbits(rng.randint(least, nbits)) | 1


# (source, sink) delays: what a row table is repeated with
DELAYS = {"slow source": (5, 0), "slow sink": (0, 7), "both slow": (3, 4)}


def with_delays(rows, every=3):
    """The rows, and some of them again with each of the delays."""
    extra = [
        replace(row, name=f"{row.name}, {name}", source_delay=source, sink_delay=sink)
        for name, (source, sink) in DELAYS.items()
        for row in rows[::every]
    ]
    return rows + extra
