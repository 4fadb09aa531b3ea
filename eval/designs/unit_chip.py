"""Chip of a multiplier alone, a source for the flow, as the papers' multiplier tables need it.

Its requests are products {a, b} under a modulus at static ports. The rows are corner cases and pseudo-random
factors, with products as the domain defines them; energy is measured for one product.
"""

import itertools
import random
from collections.abc import Mapping
from typing import Any

from ...fl.accelerator import DELAYS, Row
from ...fl.errors import BadInput
from .chip import AcceleratorChip
from .foreign.foreign import ForeignDesign
from .foreign.foreign_chip import CoreChip, ForeignChip
from .foreign.function_core import FunctionCore
from .interfaces import DEFAULT, UNIT, UNIT_TITLE
from .machine import Design
from .machine_chip import DRAWN, RANDOM_ROWS, WARM_UPS, Chip
from .own import OwnDesign
from .verilog.machine import unit_top
from .widths import check_width
from .workload_names import PRODUCT, Workload

MODULUS = "modulus"  # the static port that all units have
Product = tuple[str, int, int, int]  # name, factors, modulus


def chip(
    design: Design | OwnDesign | None,
    nbits: int,
    settings: Mapping[str, Any],
    interface: str = DEFAULT.name,
    system: bool = False,
    **kernel: str,
) -> AcceleratorChip:
    """The source for the flow of a machine, its multiplier alone, a core described by a manifest, or a user's
    accelerator.
    """
    if isinstance(design, OwnDesign):
        if system or interface == UNIT:
            asked = "--system" if system else f"--interface {interface}"
            raise BadInput(f"{design.name} is not an RSA machine: drop {asked}")
        own = CoreChip if issubclass(design.kind, FunctionCore) else AcceleratorChip
        return own(design, nbits, settings, interface)
    kind = UnitChip if interface == UNIT else Chip
    if isinstance(design, ForeignDesign):
        kind = ForeignChip
    return kind(design, nbits, settings, interface, system, **kernel)


class UnitChip(Chip):
    """A machine's product unit alone."""

    note = ""
    place = f", {UNIT_TITLE}"

    def check(self):
        """BadInput if it cannot be built, for example because its operands are in the machine's memories."""
        check_width(self.nbits)
        self._component()

    @property
    def top(self):
        return unit_top(self.machine)

    def _component(self):
        return self.machine.multiplier()

    def energy(self):
        """One product of pseudo-random factors."""
        seed = f"{self.nbits} bits"
        generator = random.Random(seed)
        mod = self._modulus(generator)
        return [Workload(PRODUCT, generator.randrange(mod), generator.randrange(mod), mod, seed)]

    def _drawn(self, work):
        generator, mod = random.Random(self.seed_of_spread(work.name)), work.mod
        count = self._affordable(DRAWN)
        drawn = [(generator.randrange(mod), generator.randrange(mod), mod) for _ in range(count)]
        return drawn if count > 1 else []

    def _other(self, operands, generator):
        """Other factors, with another product if there is one, under the same modulus."""
        a, b, mod = operands
        for _ in range(WARM_UPS):
            drawn = generator.randrange(mod), generator.randrange(mod), mod
            if (drawn[0] * drawn[1] - a * b) % mod:
                return drawn
        return operands

    def _modulus(self, generator: random.Random) -> int:
        length = self.machine.modulus_nbits
        drawn = generator.getrandbits(length) | 1 << (length - 1) | 1
        return self.machine.modulus or drawn

    def products(self) -> list[Product]:
        """Named factors below an odd modulus, which every unit accepts."""
        only = self.machine.modulus
        top = only or (1 << self.machine.modulus_nbits) - 1
        named = []
        for mod in dict.fromkeys((top, only or top - 2, only or 3)):
            factors = {"0": 0, "1": 1, "n - 1": mod - 1}
            which = "largest" if mod == top else mod.bit_length()
            named += [
                (f"{a} by {b}, modulus {which}", factors[a], factors[b], mod)
                for a, b in (("0", "0"), ("1", "1"), ("0", "n - 1"), ("n - 1", "n - 1"), ("1", "n - 1"))
            ]
        generator = random.Random(self.nbits)
        for index in range(RANDOM_ROWS):
            mod = self._modulus(generator)
            named.append((f"random {index}", generator.randrange(mod), generator.randrange(mod), mod))
        return named

    def _table(self):
        """Factors and modulus; the product follows from the domain."""
        delays = itertools.cycle(DELAYS)
        return [(Row(name, (a, b, mod), *next(delays)), ()) for name, a, b, mod in self.products()]

    def _exchange(self, ports, requests, *_):
        """A product under its modulus at the static ports."""
        ((a, b, mod),) = requests
        machine = self.machine
        space = (machine.build.unit.space or machine.space)(mod)
        known = {MODULUS: space.unit_modulus} | {number.name: number.of(mod) for number in machine.given}
        return {
            "requests": [hex(ports.request.pack((a, b), "request"))],
            "expected": [hex(space.product(a, b))],
            "statics": {name: hex(known[name]) for name, _ in ports.statics},
        }

    def _asked(self, exchange, operands):
        return exchange([operands], ())

    def _window(self, work):
        return work.operands, 0

    def _most_cycles(self):
        return sum(self.machine.timing.latency(a, b, mod) for _, a, b, mod in self.products())
