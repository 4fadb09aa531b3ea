"""Third-party designs as sources for the flow: the manifest's module is the top module.

If that is a wrapper, area and power of the core alone are those of an instance in it. Rows outside the limits
of the manifest are omitted.
"""

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....fl.errors import BadInput, shown
from ....fl.status import Status
from ....flow.source import PACKAGE
from ..chip import AcceleratorChip
from ..interfaces import Operands
from ..machine import Machine
from ..machine_chip import MOST_ENERGY_CYCLES, Chip
from ..system_catalogue import OPERATIONS
from ..widths import check_width
from ..workload_names import parts_of
from .core import ALONE, CORE, Unanswered
from .ports import WRAPPER


@dataclass(frozen=True)
class Corner:
    """A row with its result; `refused`: the limit that excludes it, in which case it was not run."""

    name: str
    operands: Operands
    expected: int
    got: int | None = None
    cycles: int | None = None
    refused: str = ""
    unanswered: str = ""

    @property
    def passed(self) -> bool:
        return not self.refused and not self.unanswered and self.got == self.expected

    @property
    def failed(self) -> bool:
        return not self.refused and not self.passed

    def __str__(self) -> str:
        """A failed row, with operands, expected and actual result."""
        base, exp, mod = map(shown, self.operands)
        got = self.unanswered or f"got {shown(self.got or 0)}"
        return f"{self.name}: {base} ^ {exp} mod {mod}: expected {shown(self.expected)}, {got}{self._reason}"

    @property
    def _reason(self) -> str:
        """The likely defect, judging by the result."""
        _, exp, mod = self.operands
        if self.got is None or self.got == self.expected:
            return ""
        if exp == 0 and self.got == 1:
            return " (1 for the exponent 0, not reduced)"
        if self.got == mod and self.expected == 0:
            return " (the modulus instead of 0: a final subtraction compares by > and not by >=)"
        if self.got % mod == self.expected:
            return " (the same residue, not reduced)"
        return ""


def corners(
    machine: Machine,
    rows: Sequence[tuple[str, Operands]],
    progress: Callable[[int, int], None] | None = None,
) -> list[Corner]:
    """Run all rows; Unanswered if the core answers none of the first three."""
    found = {}
    asked = []
    for name, operands in rows:
        refused = machine.refusal(*operands)
        found[name] = Corner(name, operands, 0 if refused else pow(*operands), refused=refused)
        if not refused:
            asked.append((name, operands))
    try:
        with machine.session() as session:
            session.run([operands for _, operands in asked[:1]])  # a core that always hangs does so at once
            answers = session.run([operands for _, operands in asked], progress)
        for (name, row), answer in zip(asked, answers, strict=True):
            found[name] = Corner(name, row, pow(*row), answer.result, answer.cycles)
    except Unanswered:
        _one_by_one(machine, asked, found)
    return list(found.values())


def _one_by_one(machine: Machine, asked: list[tuple[str, Operands]], found: dict[str, Corner]) -> None:
    """Run each row from reset, to find out which of them are answered."""
    some = False
    for name, row in asked:
        try:
            with machine.session() as session:
                (answer,) = session.run([row])
        except Unanswered as error:
            if not some and name == asked[min(2, len(asked) - 1)][0]:
                raise
            found[name] = Corner(name, row, pow(*row), unanswered=f"no answer ({error})")
        else:
            some = True
            found[name] = Corner(name, row, pow(*row), answer.result, answer.cycles)


class CoreChip(AcceleratorChip):
    """A core at a width; in a wrapper, figures are those of its instance."""

    def check(self):
        _ = self.machine.interface(self.interface), self.machine.modules

    @property
    def _in_wrapper(self) -> bool:
        return self.machine.modules[1] is not None

    @property
    def core_instance(self) -> str:  # type: ignore[override]
        return f"{WRAPPER}.{CORE}" if self._in_wrapper else WRAPPER

    @property
    def place(self):
        return f"; instance {self.core_instance} is the core, the rest its wrapper" * self._in_wrapper

    @property
    def tool(self):
        return PACKAGE, importlib.metadata.version(PACKAGE)

    @property
    def core_top(self) -> str:  # type: ignore[override]
        return f"{self.top}{ALONE}" * self._in_wrapper


class ForeignChip(CoreChip, Chip):
    """An RSA core described by a manifest, at a width."""

    _fixed_length = _has_budget = False

    def check(self):
        check_width(self.nbits)
        if self.system:
            raise BadInput(
                f"{self.name} is described by a manifest, and the processor has no port for it: drop --system"
            )
        super().check()

    def energy(self):
        """Operations whose energy is measured: those within the limits; BadInput if there is none, or if the
        core computes one incorrectly.
        """
        core = self.machine
        works = [part.work for name in OPERATIONS for part in parts_of(name, core, self.nbits)]
        taken = [work for work in works if not core.refusal(*work.operands)]
        if not taken:
            core.require(*works[0].operands)
        for work in taken:
            core.counted(*work.operands)
        return taken

    def corners(self) -> list[Corner]:
        """All rows at RTL, in order."""
        return corners(self.machine, self.all_rows())

    def failed_rows(self):
        return [row.name for row in self.corners() if row.failed]

    def rows(self):
        """Names and operands of the rows within the limits."""
        return [(name, row) for name, row in self.all_rows() if not self.machine.refusal(*row)]

    def all_rows(self) -> list[tuple[str, Operands]]:
        """Rows of built-in designs, and powers that are 0, which some cores get wrong.

        A product that is 0 exposes a wrong comparison in a final subtraction; exponent 0 modulo 1 may give 1.
        """
        p = (1 << self.machine.modulus_nbits // 2) - 1
        q = p - 2
        rows = dict(super().rows()) | {
            "modulus 1, exponent 0": (0, 0, 1),
            "zero product, odd exponent": (p, 3, p * p),
            "zero product of two": (3 * p % (p * p), 5, p * p),
            "square of the modulus' root": (q, 2, q * q),
        }
        return [*rows.items()]

    def _expected(self, base, exp, mod, *_):
        """The answer that the core should give."""
        return Status.OK, self.machine.expected(base, exp, mod)

    def _window(self, work):
        """The operation with as many leading bits of the exponent as the cycle budget allows, and the cycles
        of the whole (0 if not cut).
        """
        core, (base, exp, mod) = self.machine, work.operands
        whole, most = core.counted(base, exp, mod), self._affordable(MOST_ENERGY_CYCLES)
        if whole <= most:
            return work.operands, 0
        length = exp.bit_length()
        kept = max(2, length * most // whole)
        while True:
            window = (base, exp >> (length - kept), mod)
            refused = core.refusal(*window)
            if kept <= 2 or not (refused or core.counted(*window) > most):
                return (work.operands, 0) if refused else (window, whole)
            kept = kept * 3 // 4
