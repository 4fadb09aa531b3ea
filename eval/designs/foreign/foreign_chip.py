"""Foreign designs as the flow wants them: the core with its adapter as the top module, and the rows that it runs.

The adapter is in the netlist, as something has to drive the core there; it is an instance of its own, so that areas and powers of the
core alone can be told from it. What the limits of the manifest exclude is not asked.
"""

from __future__ import annotations

import importlib.metadata
import json
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ....fl.errors import BadInput
from ....fl.status import Status
from ....flow.source import PACKAGE
from ....rtl.sim import cache, sources
from ..asic import MOST_ENERGY_CYCLES, Chip
from ..interfaces import DEFAULT, Operands
from ..mixes import parts_of
from ..systems import OPERATIONS
from ..widths import check_width
from .adapter import CORE
from .foreign import ForeignMachine

if TYPE_CHECKING:
    from ....rtl.sim.ports import Ports
    from ..workloads import Workload


class ForeignChip(Chip):
    """A core at a width."""

    ROOT: ClassVar[str] = "eval.designs.foreign.foreign_chip"
    CORE: ClassVar[str] = CORE

    @property
    def core(self) -> ForeignMachine:
        """The machine, by its own type."""
        return cast(ForeignMachine, self.machine)

    def check(self) -> None:
        check_width(self.nbits)
        if self.interface != DEFAULT.name or self.system:
            asked = "--system" if self.system else f"--interface {self.interface}"
            raise BadInput(
                f"{self.name} has its own protocol ({self.core.manifest.of.protocol}): drop {asked}"
            )
        _ = self.core.adapter

    @property
    def top(self) -> str:
        return self.core.adapter.name

    @property
    def place(self) -> str:
        return f", by {self.core.manifest.of.protocol}; instance {CORE} is the core, the rest its adapter"

    @property
    def tool(self) -> tuple[str, str]:
        return PACKAGE, importlib.metadata.version(PACKAGE)

    def key(self) -> str:
        self.check()
        said = [self.name, self.nbits, self.parameters, self.tool, self.core.manifest.text]
        return cache.key(json.dumps(said, sort_keys=True), self.core.verilog(), sources.digest(self.ROOT))

    def _component(self) -> Any:
        return self.core.adapter

    def _verilog_of(self, component: Any) -> str:
        return self.core.verilog()

    @property
    def _core_top(self) -> str:
        return self.core.adapter.alone_name

    def _ports(self, component: Any) -> Ports:
        return self.core.adapter.streams(observed=False)

    # ---- what it is asked

    def energy(self) -> list[Workload]:
        """The operations whose energy counts, those that the core takes; BadInput if there is none, or if one is done wrong."""
        core = self.core
        works = [part.work for name in OPERATIONS for part in parts_of(name, core, self.nbits)]
        taken = [work for work in works if not core.refusal(*work.operands)]
        if not taken:
            core.require(*works[0].operands)
        for work in taken:
            core.counted(*work.operands)
        return taken

    def rows(self) -> list[tuple[str, Operands]]:
        """Named operands that the core takes by its limits."""
        return [(name, each) for name, each in self.all_rows() if not self.core.refusal(*each)]

    def all_rows(self) -> list[tuple[str, Operands]]:
        """Those of our own designs, and products that are 0: there the comparison of a last subtraction shows."""
        longest = self.core.modulus_nbits
        p = (1 << longest // 2) - 1
        q = p - 2
        rows = [
            *super().rows(),
            ("zero product, odd exponent", (p, 3, p * p)),
            ("zero product of two", (3 * p % (p * p), 5, p * p)),
            ("square of the modulus' root", (q, 2, q * q)),
        ]
        return [*dict(rows).items()]

    def _expected(self, base: int, exp: int, mod: int, *_: int) -> tuple[Status, int]:
        """What the core should answer."""
        return Status.OK, self.core.expected(base, exp, mod)

    def _window(self, work: Workload) -> tuple[Operands, int]:
        """The first bits of the exponent, as many as take the cycles that there may be."""
        base, exp, mod = work.operands
        whole = self.core.cycles(base, exp, mod)
        most = self._affordable(MOST_ENERGY_CYCLES)
        if whole <= most:
            return work.operands, 0
        length = exp.bit_length()
        kept = max(2, length * most // whole)
        window = (base, exp >> (length - kept), mod)
        while kept > 2 and (self.core.refusal(*window) or self.core.cycles(*window) > most):
            kept = kept * 3 // 4
            window = (base, exp >> (length - kept), mod)
        return (work.operands, 0) if self.core.refusal(*window) else (window, whole)
