"""Shares adders: sums that differ only in their conditions become one adder and multiplexers.

There are three rewritings. The first two pay if several adders have the same words y and n under different
conditions:

- (x ? y : 0) + n becomes x ? (y + n) : n. k adders become one adder and k multiplexers, and y + n does not
  wait for x. Paper 001's AddRed in Koc's form (Figure 8b) is of this kind: each step adds x_i * Y + N, with
  the same Y and N.

- (s + (x ? y : 0)) + (q ? n : 0) becomes s + one of 0, y, n, y + n. This turns the textbook's form (Figure
  8a) into Koc's, and two carry chains in series into one. Only the bits that q depends on remain of the first
  sum.

- q ? (x ? a : b) : (x ? c : 0), the result of both, becomes a sum of three products, for which the library
  has one cell per bit (AOI222, 2.1 um^2, compared with 4.8 for multiplexers): MontMulRem from 13,521 to
  12,577 um^2, sized for 3 ns.

Yosys' own `opt_share` does the opposite (it merges two adders in front of a multiplexer), so this runs after
it.

Works in place on yosys' JSON of a design after `proc` and `opt`; only cells of type $add, $mux and $and are
considered.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..netlist.document import Bit, Cell, Document, Module, fresh_nets, made_cell, operands

Cells = dict[str, Cell]
Word = tuple[Bit, ...]
Drivers = dict[Bit, tuple[str, int]]  # by net: a cell, and the index in its output
MOST_PRODUCTS = 3  # of AOI222
LEAST_USERS = 2  # an adder is worth more than two multiplexers of its width


def share_adders(design: Document) -> int:
    """Rewrite all modules of a design; return the number of adders that became multiplexers."""
    shared = 0
    for words in map(Words, design["modules"].values()):
        shared += _share_chains(words) + _share_sums(words)
        _choose_by_gates(words)
    return shared


class Words:
    """The cells of a module, with methods that add cells on unsigned words."""

    def __init__(self, module: Module) -> None:
        self.cells = module["cells"]
        self._fresh, self._repeated = fresh_nets(module), 0

    def net(self) -> Bit:
        """An unused net."""
        return next(self._fresh)

    def put(self, name: str, kind: str, out: Sequence[Bit], **pins: Sequence[Bit]) -> None:
        """Add a cell that drives `out`; a cell that it replaces passes on its source position."""
        width = f"{len(out):032b}"
        pins["Y"] = out
        parameters = {"WIDTH": width}
        if kind not in ("$mux", "$fa"):
            parameters = {f"{pin}_WIDTH": width for pin in pins}
            parameters |= {f"{pin}_SIGNED": "0" for pin in pins if pin != "Y"}
        cell = made_cell(kind, pins, "XY", hide_name=1)
        attributes = self.cells.get(name, {}).get("attributes", {})
        self.cells[name] = {**cell, "parameters": parameters, "attributes": attributes}

    def made(self, name: str, kind: str, **pins: Sequence[Bit]) -> list[Bit]:
        """Add a cell; return its output. The name gets a suffix if it is in use."""
        while name in self.cells:
            self._repeated += 1
            name = f"{name}_{self._repeated}"
        out = [self.net() for _ in pins["A"]]
        self.put(name, kind, out, **pins)
        return out

    def total(self, name: str, a: Word, b: Word) -> list[Bit]:
        """The output of a new cell for a + b, or one operand if the other is 0."""
        for operand, other in ((a, b), (b, a)):
            if set(operand) == {"0"}:
                return list(other)
        return self.made(name, "$add", A=a, B=b)


def drivers(cells: Cells) -> Drivers:
    """{net: (cell, index in its output)}."""
    return {
        bit: (name, place)
        for name, cell in cells.items()
        for pin, bits in cell["connections"].items()
        if cell["port_directions"].get(pin) == "output"
        for place, bit in enumerate(bits)
    }


def _share_chains(words: Words) -> int:
    """Rewrite (s + (x ? y : 0)) + (q ? n : 0); return the number of pairs of sums that became one."""
    cells, choices = words.cells, _Choices(words.cells)
    sums = {name: found for name in cells if (found := choices.conditional_sum(name))}
    by_out = {tuple(cells[name]["connections"]["Y"]): name for name in sums}
    groups = defaultdict(list)
    for name, (base, n, q) in sums.items():
        # the inner sum must be read whole, so that both are modulo the same power of two
        if base in by_out:
            state, y, x = sums[by_out[base]]
            groups[y, n].append((name, state, x, q))
    shared = {pair: users for pair, users in groups.items() if len(users) >= LEAST_USERS}
    for (y, n), users in shared.items():
        both = words.total(f"{users[0][0]}$both", y, n)
        for name, state, x, q in users:
            without_n = words.made(f"{name}$y", "$mux", A=["0"] * len(y), B=y, S=[x])
            with_n = words.made(f"{name}$n", "$mux", A=n, B=both, S=[x])
            word = words.made(f"{name}$word", "$mux", A=without_n, B=with_n, S=[q])
            words.put(name, "$add", cells[name]["connections"]["Y"], A=state, B=word)
    return sum(map(len, shared.values()))


def _share_sums(words: Words) -> int:
    """Rewrite (x ? y : c) + n; return the number of adders that became multiplexers."""
    cells, choices = words.cells, _Choices(words.cells)
    groups = defaultdict(list)
    for name, cell in cells.items():
        if cell["type"] == "$add":
            for operand, other in operand_orders(cell):
                chosen = choices.of(operand)
                if chosen and not choices.of(other):
                    groups[chosen.one, chosen.zero, other].append((name, chosen.condition))
                    break
    shared = {sums: users for sums, users in groups.items() if len(users) >= LEAST_USERS}
    for (one, zero, other), users in shared.items():
        first = users[0][0]
        if_one = words.total(f"{first}$one", one, other)
        if_zero = words.total(f"{first}$zero", zero, other)
        for name, condition in users:
            words.put(name, "$mux", cells[name]["connections"]["Y"], A=if_zero, B=if_one, S=[condition])
    return sum(map(len, shared.values()))


def _choose_by_gates(words: Words) -> None:
    """Turn a choice of four words by two conditions, q ? (x ? a : b) : (x ? c : d) with one word 0, into a
    sum of three products.
    """
    choices = _Choices(words.cells)
    for name, cell in list(words.cells.items()):
        if cell["type"] != "$mux":
            continue
        pins = cell["connections"]
        if_zero, if_one = (choices.of(tuple(pins[pin])) for pin in "AB")
        if not if_zero or not if_one or if_zero.condition != if_one.condition:
            continue
        conditions = (if_one.condition, pins["S"][0])
        wanted = [
            (word, (of_x, of_q))
            for chosen, of_q in ((if_one, True), (if_zero, False))
            for word, of_x in ((chosen.one, True), (chosen.zero, False))
            if set(word) != {"0"}
        ]
        if len(wanted) > MOST_PRODUCTS:
            continue
        opposite = {bit: words.made(f"{name}$not{bit}", "$not", A=[bit]) for bit in conditions}
        total: list[Bit] = []
        for number, (word, signs) in enumerate(wanted):
            x, q = ([bit] if holds else opposite[bit] for bit, holds in zip(conditions, signs, strict=True))
            chosen_bit = words.made(f"{name}$if{number}", "$and", A=x, B=q)
            product = words.made(f"{name}$word{number}", "$and", A=word, B=chosen_bit * len(word))
            if not total:
                total = product
            elif number < len(wanted) - 1:
                total = words.made(f"{name}$sum{number}", "$or", A=total, B=product)
            else:
                words.put(name, "$or", pins["Y"], A=total, B=product)


def extended(bits: list[Bit], width: int, sign: Bit = "0") -> list[Bit]:
    """A word extended or cut to a width."""
    return (bits + [sign] * width)[:width]


def operand_orders(cell: Cell) -> Iterator[tuple[Word, Word]]:
    """Both operands, as wide as the output, in both orders."""
    a, b = operands(cell)
    yield a, b
    yield b, a


class _Choice(NamedTuple):
    """A word that depends on one condition: its bits if the condition holds, and if it does not."""

    condition: Bit
    one: Word
    zero: Word


class _Choices:
    """The choices among the words of a module, as its cells are now."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.driver = cells, drivers(cells)

    def of(self, operand: Word) -> _Choice | None:
        """The choice of an operand if all its bits depend on the same condition; constant bits depend on
        none.
        """
        found = list(map(self._bit, operand))
        conditions = {bit[0] for bit in found if bit} - {None}
        if None in found or len(conditions) != 1:
            return None
        (condition,) = conditions
        if not isinstance(condition, int):
            return None
        _, one, zero = zip(*filter(None, found), strict=True)
        return _Choice(condition, one, zero)

    def _bit(self, bit: Bit) -> tuple[Bit | None, Bit, Bit] | None:
        """(condition, bit if it holds, bit if not) for an output of a multiplexer, or of an AND with a
        repeated bit.
        """
        if isinstance(bit, str):
            return None, bit, bit
        if bit not in self.driver:
            return None
        name, place = self.driver[bit]
        cell = self.cells[name]
        pins = cell["connections"]
        if cell["type"] == "$mux":
            return pins["S"][0], pins["B"][place], pins["A"][place]
        if cell["type"] == "$and":
            for repeated, other in operand_orders(cell):
                if len(repeated) > 1 and len(set(repeated)) == 1:
                    return repeated[0], other[place], "0"
        return None

    def conditional_sum(self, name: str) -> tuple[Word, Word, Bit] | None:
        """(s, y, x) if a cell computes s + (x ? y : 0), in this form or as x ? s + y : s."""
        cell = self.cells[name]
        pins = cell["connections"]
        if cell["type"] == "$add":
            for base, operand in operand_orders(cell):
                chosen = self.of(operand)
                if chosen and set(chosen.zero) == {"0"} and not self.of(base):
                    return base, chosen.one, chosen.condition
        elif cell["type"] == "$mux":
            adder = self.cells.get(self.driver.get(pins["B"][0], ("", 0))[0])
            if adder and adder["type"] == "$add" and adder["connections"]["Y"] == pins["B"]:
                for base, word in operand_orders(adder):
                    # if the condition itself is a bit of s, yosys has replaced that bit by 0 in the other
                    # branch
                    kept = zip(pins["A"], base, strict=True)
                    if all(bit == own or (bit == "0" and own == pins["S"][0]) for bit, own in kept):
                        return base, word, pins["S"][0]
        return None
