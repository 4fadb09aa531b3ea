"""Operands for comparing accelerators: those of paper 001, section 5.1, and seeded ones of any width."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...fl.status import Status

if TYPE_CHECKING:
    from .machine import Machine


@dataclass(frozen=True)
class Workload:
    """One exponentiation with a name; papers have cycles under the same names."""

    name: str
    base: int
    exp: int
    mod: int

    def on(self, modulus: int) -> Workload:
        """The same base and exponent for a machine that takes this modulus alone; 0: it takes any."""
        return Workload(self.name, self.base % modulus, self.exp, modulus) if modulus else self

    @property
    def operands(self) -> tuple[int, int, int]:
        return self.base, self.exp, self.mod

    @property
    def requests(self) -> tuple[tuple[int, int, int]]:
        """Its only request."""
        return (self.operands,)

    @property
    def golden(self) -> int:
        return pow(self.base, self.exp, self.mod)

    @property
    def responses(self) -> tuple[tuple[Status, int]]:
        """The only response."""
        return ((Status.OK, self.golden),)

    def as_json(self) -> dict[str, str]:
        """The operands in hexadecimal, as they are longer than JSON's numbers."""
        return {name: hex(getattr(self, name)) for name in ("base", "exp", "mod")}


MODULUS_001 = 2603398711
WORKLOADS = (
    Workload("encrypt", 1119317562, 65537, MODULUS_001),
    Workload("decrypt", 1460365373, 977851481, MODULUS_001),
)


def some_operands(machine: Machine, mod: int | None = None) -> tuple[int, int, int]:
    """Pseudo-random base, exponent and modulus of full length that the machine takes, the same in every
    call.
    """
    nbits = machine.nbits
    generator = random.Random(nbits)
    odd = generator.getrandbits(machine.modulus_nbits) | 1 << (machine.modulus_nbits - 1) | 1
    if mod is None:
        mod = machine.modulus or odd
    base = generator.randrange(mod or 1)
    return base, generator.getrandbits(nbits) | 1 << (nbits - 1), mod
