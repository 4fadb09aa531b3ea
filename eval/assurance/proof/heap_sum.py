"""Proof by algebra that a bit heap adds up, at any width.

Each full adder has sum + 2 carry = v + w + x and puts its carry in the next column; a contract of its own
proves this. The value of the output pair is therefore a weighted sum of bits in which the outputs of an adder
can be replaced by its inputs, readers first, until only the rows of the heap are left, each bit with the
weight of its column. Weights count modulo 2^columns. Each bit stands for its complement, and a row has ones
where it has no bit. If a difference remains, random rows are tried; rows that the heap adds up wrongly
disprove it.
"""

import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pymtl3 import Component

from ....flow.netlist import document, yosys
from ....flow.netlist.document import Bit, Module
from ....flow.netlist.order import in_order
from ....flow.prove.assertions import Decision
from ....flow.prove.report import PROVED, REFUTED, UNDECIDED
from ....rtl.units.heap.bit_heap import BitHeap
from .check import UNITS, Check, source_of
from .ports import arguments

if TYPE_CHECKING:
    from ....fl.compression.bit_heap import HeapPlan

READ = """\
read_slang --ignore-timing --keep-hierarchy --top {top} heap.sv
hierarchy -check -top {top}
proc
opt_clean
write_json heap.json
"""
INPUTS = ("v", "w", "x")
TRIES = 200

Words = tuple[tuple[int, tuple[Bit, ...]], ...]  # each with its lowest column and its bits


class Adder(NamedTuple):
    """One bit of a vector of adders."""

    inputs: tuple[Bit, ...]
    sum: Bit
    carry: Bit


class Heap(NamedTuple):
    """The connections of a heap."""

    adders: tuple[Adder, ...]  # readers first
    rows: Words
    pair: Words
    columns: int
    ones: frozenset[Bit]  # where words have no bit

    def weighted(self, words: Words) -> Counter[Bit]:
        """Words as a weighted sum of bits."""
        total: Counter[Bit] = Counter()
        for low, bits in words:
            for place, bit in enumerate(bits, low):
                self.add(total, bit, 1 << place)
        return total

    def add(self, total: Counter[Bit], bit: Bit, weight: int) -> None:
        if bit in self.ones:
            return
        if bit == "0":
            bit = "1"
        total[bit] = (total[bit] + weight) % (1 << self.columns)

    def rest(self) -> Counter[Bit]:
        """The difference between the sums of the output pair and of the rows."""
        total = self.weighted(self.pair)
        for adder in self.adders:
            weight = total.pop(adder.sum, 0)
            for bit in adder.inputs:
                self.add(total, bit, weight)
            self.add(total, adder.carry, -2 * weight)
        total.subtract(self.weighted(self.rows))
        return Counter({bit: weight for bit, weight in total.items() if weight % (1 << self.columns)})

    def adds_up(self, rows: list[int]) -> bool:
        """Whether the pair adds up to these rows; undriven bits are 0."""
        nets = dict.fromkeys(self.ones, 1)
        for (_, bits), value in zip(self.rows, rows, strict=True):
            nets |= {bit: value >> place & 1 for place, bit in enumerate(bits)}
        for adder in reversed(self.adders):
            count = sum(nets.get(bit, 0) for bit in adder.inputs)
            nets[adder.sum], nets[adder.carry] = count % 2, count // 2
        made, wanted = (
            sum((1 - nets.get(bit, 0)) << place for low, bits in row for place, bit in enumerate(bits, low))
            for row in (self.pair, self.rows)
        )
        return (made - wanted) % (1 << self.columns) == 0


def heap_check(name: str, unit: Component) -> Check | None:
    """The check of a bit heap; None for any other unit."""
    if not isinstance(unit, BitHeap):
        return None
    plan = arguments(unit)["plan"]
    rows, columns = len(plan.lines), plan.columns
    return Check(
        f"{name} rows={rows} columns={columns}",
        UNITS,
        f"the pair is the sum of the rows modulo 2^{columns}",
        lambda seconds, text, top: _outcome(_heap(_module(text, top, seconds), plan)),
        source_of(lambda: BitHeap(plan)),
    )


def _module(verilog: str, top: str, seconds: float) -> Module:
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        (Path(directory) / "heap.sv").write_text(verilog)
        yosys.run("heap", READ.format(top=top), Path(directory), limit=max(1.0, seconds))
        return document.module(Path(directory) / "heap.json", top)


def _heap(module: Module, plan: "HeapPlan") -> Heap:
    columns = plan.columns
    ports = {name: tuple(port["bits"]) for name, port in module["ports"].items()}
    rows = tuple(
        (line.lo, ports["row"][i * columns :][line.lo : line.hi]) for i, line in enumerate(plan.lines)
    )
    cells = module["cells"].values()
    levels = [cell["connections"] for cell in cells if cell["type"].startswith("FullAdders")]
    ones = {"1", *ports["row"]}.difference(*(bits for _, bits in rows))
    ones.update(bit for pins in levels for bit in pins["carry"][::columns])
    adders = _sorted(
        [
            Adder(
                tuple(pins[pin][place] for pin in INPUTS),
                bit,
                pins["carry"][place + 1] if (place + 1) % columns else f"lost {number} {place}",
            )
            for number, pins in enumerate(levels)
            for place, bit in enumerate(pins["sum"])
        ]
    )
    for adder in reversed(adders):
        absent = sum(bit in ones for bit in adder.inputs)
        if absent > 1:
            ones.add(adder.carry)
        if absent > 2:
            ones.add(adder.sum)
    pair = tuple((0, ports[name]) for name in ("sum", "carry"))
    return Heap(adders, rows, pair, columns, frozenset(ones))


def _sorted(adders: list[Adder]) -> tuple[Adder, ...]:
    """The adders in reverse topological order: readers before the adders that they read."""
    of = {bit: at for at, adder in enumerate(adders) for bit in (adder.sum, adder.carry)}
    order = in_order({at: adder.inputs for at, adder in enumerate(adders)}, of)
    return tuple(adders[at] for at in reversed(order))


def _outcome(heap: Heap) -> Decision:
    how = f"algebra on {len(heap.adders):,} adders"
    if not heap.rest():
        return Decision(PROVED, how)
    generator = random.Random(1)
    for _ in range(TRIES):
        rows = [generator.getrandbits(len(bits)) for _, bits in heap.rows]
        if not heap.adds_up(rows):
            return Decision(REFUTED, "random rows", [{f"row_{i}": value for i, value in enumerate(rows)}])
    return Decision(UNDECIDED, f"{how} leaves {len(heap.rest())} bits")
