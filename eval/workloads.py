"""The operands with which accelerators are compared: those of paper 001, section 5.1."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """One exponentiation with a name; `Design.published` has cycles under the same names."""

    name: str
    base: int
    exp: int
    mod: int

    @property
    def operands(self) -> tuple[int, int, int]:
        return self.base, self.exp, self.mod

    @property
    def golden(self) -> int:
        return pow(self.base, self.exp, self.mod)


MODULUS_001 = 2603398711
WORKLOADS = (
    Workload("encrypt", 1119317562, 65537, MODULUS_001),
    Workload("decrypt", 1460365373, 977851481, MODULUS_001),
)
