"""A multiplier alone as the flow wants it: what the papers' tables of one multiplier are of.

Its requests are products {a, b} under a modulus at static ports. The rows are corners and pseudo-random factors, with what the domain says
of each; the energy workload is one product.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from .asic import DELAYS, DRAWN, RANDOM_ROWS, SPARE_CYCLES, Chip
from .foreign.foreign import ForeignDesign
from .foreign.foreign_chip import ForeignChip
from .interfaces import DEFAULT, UNIT, UNIT_TITLE, Operands
from .mixes import PRODUCT
from .widths import check_width
from .workloads import Workload

if TYPE_CHECKING:
    from .design import Design

MODULUS = "modulus"  # the static port that all units have
Product = tuple[str, int, int, int]  # name, factors, modulus


def chip(
    design: Design | None,
    nbits: int,
    settings: Mapping[str, Any],
    interface: str = DEFAULT.name,
    system: bool = False,
    **kernel: str,
) -> Chip:
    """What goes through the flow: a machine, its multiplier alone, or the core of a manifest."""
    kind = UnitChip if interface == UNIT else Chip
    if isinstance(design, ForeignDesign):
        kind = ForeignChip
    return kind(design, nbits, settings, interface, system, **kernel)


class UnitChip(Chip):
    """The unit that a machine's products are made by."""

    ROOT: ClassVar[str] = "eval.designs.unit_chip"

    def check(self) -> None:
        """BadInput for what cannot be made, such as a unit whose operands are in its machine's memories."""
        check_width(self.nbits)
        assert self.design is not None
        self.machine.multiplier()

    @property
    def top(self) -> str:
        assert self.design is not None
        return re.sub(r"\W", "_", f"{self.design.name}_{self.nbits}_{UNIT}")

    @property
    def place(self) -> str:
        return f", {UNIT_TITLE}"

    def _component(self) -> Any:
        return self.machine.multiplier()

    def energy(self) -> list[Workload]:
        """One product of pseudo-random factors."""
        generator = random.Random(f"{self.nbits} bits")
        mod = self._modulus(generator)
        return [Workload(PRODUCT, generator.randrange(mod), generator.randrange(mod), mod)]

    def _drawn(self, work: Workload) -> list[Operands]:
        generator, mod = random.Random(f"{work.name}, {self.nbits} bits"), work.mod
        count = self._affordable(DRAWN)
        return (
            [(generator.randrange(mod), generator.randrange(mod), mod) for _ in range(count)]
            if count > 1
            else []
        )

    @property
    def note(self) -> str:
        return ""

    def _modulus(self, generator: random.Random) -> int:
        length = self.machine.modulus_nbits
        drawn = generator.getrandbits(length) | 1 << (length - 1) | 1
        return self.machine.modulus or drawn

    def products(self) -> list[Product]:
        """Named factors, both below an odd modulus, as every unit takes them."""
        length, only = self.machine.modulus_nbits, self.machine.modulus
        top = only or (1 << length) - 1
        named: list[Product] = []
        for mod in dict.fromkeys((top, only or top - 2, only or 3)):
            named += [
                (f"{name}, modulus {'largest' if mod == top else mod.bit_length()}", a, b, mod)
                for name, a, b in (
                    ("0 by 0", 0, 0),
                    ("1 by 1", 1, 1),
                    ("0 by n - 1", 0, mod - 1),
                    ("n - 1 by n - 1", mod - 1, mod - 1),
                    ("1 by n - 1", 1, mod - 1),
                )
            ]
        generator = random.Random(self.nbits)
        for index in range(RANDOM_ROWS):
            mod = self._modulus(generator)
            named.append((f"random {index}", generator.randrange(mod), generator.randrange(mod), mod))
        return named

    def _streams(self, component: Any) -> dict[str, Any]:
        from ...flow.workload import STREAM, ports_json
        from ...rtl.sim.ports import Ports

        ports = Ports.of(component)
        machine = self.machine

        def asked(a: int, b: int, mod: int) -> dict[str, Any]:
            space = machine.unit_space(mod)
            known = {MODULUS: space.unit_modulus} | {each.name: each.of(mod) for each in machine.given}
            return {
                "requests": [hex(ports.request.pack((a, b), "request"))],
                "expected": [hex(space.product(a, b))],
                "statics": {name: hex(known[name]) for name, _ in ports.statics},
            }

        products = self.products()
        rows = [
            {"name": name, **asked(*factors), "source_delay": source, "sink_delay": sink}
            for (name, *factors), (source, sink) in zip(products, itertools.cycle(DELAYS), strict=False)
        ]
        cycles = sum(machine.timing.latency(a, b, mod) for _, a, b, mod in products)
        return {
            "protocol": STREAM,
            "ports": ports_json(ports),
            "max_cycles": 2 * cycles + 100 * len(rows) + SPARE_CYCLES,
            "rows": rows,
            "energy": {work.name: asked(*work.operands) for work in self.energy()},
            "drawn": {
                work.name: [asked(*each) for each in drawn]
                for work in self.energy()
                if (drawn := self._drawn(work))
            },
        }
