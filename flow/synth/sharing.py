"""Shares adders: sums that differ only in their conditions become one adder and multiplexers.

Three rewritings, of which the first two pay when several adders meet the same words y and n under other
conditions:

- (x ? y : 0) + n becomes x ? (y + n) : n. k adders become one and k multiplexers, and y + n is ready before x
  is. Paper 001's AddRed in Koc's form (Figure 8b) is of this kind: each step adds x_i * Y + N, with the same
  Y and N.
- (s + (x ? y : 0)) + (q ? n : 0) becomes s + one of 0, y, n, y + n. So the textbook's form (Figure 8a)
  becomes Koc's, and of two carry chains in a row one is left. Of the first sum only the bits that q needs
  remain.
- q ? (x ? a : b) : (x ? c : 0), as it comes of both, becomes a sum of three products, for which the library
  has one cell a bit (AOI222, 2.1 um^2, where multiplexers take 4.8): MontMulRem from 13,521 to 12,577 um^2,
  sized for 3 ns.

Measured on 32 bits: MontMulRem (koc) went from 22,147 to 17,101 um^2, the abc script changed in between.
Yosys' own `opt_share` goes the other way (it merges two adders in front of a multiplexer), so this comes
after it.

Works on yosys' JSON of a design after `proc` and `opt`, in place: nothing but cells of type $add, $mux and
$and is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count

from ..netlist.document import Bit, Cell, Document, Module

Cells = dict[str, Cell]
Word = tuple[Bit, ...]
Drivers = dict[Bit, tuple[str, int]]  # by net: a cell, and the place in its output
MOST_PRODUCTS = 3  # AOI222 takes so many
LEAST_USERS = 2  # an adder is worth more than two multiplexers of its width


def share_adders(design: Document) -> int:
    """Rewrite all modules of a design; the number of adders that became multiplexers."""
    return sum(_share(module) for module in design["modules"].values())


def _share(module: Module) -> int:
    words = Words(module)
    shared = _share_chains(words) + _share_sums(words)
    _choose_by_gates(words)
    return shared


class Words:
    """The cells of a module, and new ones of unsigned words."""

    def __init__(self, module: Module) -> None:
        self.cells = module["cells"]
        self._fresh = fresh_nets(module)

    def net(self) -> Bit:
        """An unused net."""
        return next(self._fresh)

    def put(self, name: str, kind: str, out: Sequence[Bit], **pins: Sequence[Bit]) -> None:
        """Make the cell that drives `out`, at the source position of the one it replaces."""
        width = f"{len(out):032b}"
        pins["Y"] = out
        parameters = {"WIDTH": width}
        if kind not in ("$mux", "$fa"):
            parameters = {f"{pin}_WIDTH": width for pin in pins}
            parameters |= {f"{pin}_SIGNED": "0" for pin in pins if pin != "Y"}
        self.cells[name] = {
            "hide_name": 1,
            "type": kind,
            "parameters": parameters,
            "attributes": self.cells.get(name, {}).get("attributes", {}),
            "port_directions": {pin: "output" if pin in "XY" else "input" for pin in pins},
            "connections": {pin: list(bits) for pin, bits in pins.items()},
        }

    def made(self, name: str, kind: str, **pins: Sequence[Bit]) -> list[Bit]:
        """Return the output of a new cell."""
        out = [self.net() for _ in pins["A"]]
        self.put(name, kind, out, **pins)
        return out

    def total(self, name: str, a: Word, b: Word) -> list[Bit]:
        """Return a + b from a new cell, or one operand if the other is 0."""
        for operand, other in ((a, b), (b, a)):
            if set(operand) == {"0"}:
                return list(other)
        return self.made(name, "$add", A=a, B=b)


def drivers(cells: Cells) -> Drivers:
    """{net: (cell, place in its output)}."""
    return {
        bit: (name, place)
        for name, cell in cells.items()
        for pin, bits in cell["connections"].items()
        if cell["port_directions"].get(pin) == "output"
        for place, bit in enumerate(bits)
    }


def _share_chains(words: Words) -> int:
    """(s + (x ? y : 0)) + (q ? n : 0): the number of such pairs of sums that became one."""
    cells, driver = words.cells, drivers(words.cells)
    sums = {name: found for name in cells if (found := _conditional_sum(name, cells, driver))}
    by_out = {tuple(cells[name]["connections"]["Y"]): name for name in sums}
    groups: dict[tuple[Word, Word], list[tuple[str, Word, Bit, Bit]]] = {}
    for name, (base, n, q) in sums.items():
        # the inner sum must be taken whole: then both are modulo the same power of two
        if base in by_out:
            state, y, x = sums[by_out[base]]
            groups.setdefault((y, n), []).append((name, state, x, q))
    shared = [(pair, users) for pair, users in groups.items() if len(users) >= LEAST_USERS]
    for (y, n), users in shared:
        both = words.total(f"{users[0][0]}$both", y, n)
        for name, state, x, q in users:
            without_n = words.made(f"{name}$y", "$mux", A=["0"] * len(y), B=y, S=[x])
            with_n = words.made(f"{name}$n", "$mux", A=n, B=both, S=[x])
            word = words.made(f"{name}$word", "$mux", A=without_n, B=with_n, S=[q])
            words.put(name, "$add", cells[name]["connections"]["Y"], A=state, B=word)
    return sum(len(users) for _, users in shared)


def _conditional_sum(name: str, cells: Cells, driver: Drivers) -> tuple[Word, Word, Bit] | None:
    """(s, y, x) if a cell computes s + (x ? y : 0), written so or as x ? s + y : s."""
    cell = cells[name]
    if cell["type"] == "$add":
        for base, operand in operand_orders(cell):
            chosen = _chosen(operand, cells, driver)
            if chosen and set(chosen[2]) == {"0"} and not _chosen(base, cells, driver):
                return base, chosen[1], chosen[0]
    elif cell["type"] == "$mux":
        pins = cell["connections"]
        adder = cells.get(driver.get(pins["B"][0], ("", 0))[0])
        if adder and adder["type"] == "$add" and adder["connections"]["Y"] == pins["B"]:
            for base, word in operand_orders(adder):
                # where the condition itself is a bit of s, yosys knows that bit to be 0 if the condition does
                # not hold
                kept = (
                    bit == of_base or (bit == "0" and of_base == pins["S"][0])
                    for bit, of_base in zip(pins["A"], base, strict=True)
                )
                if all(kept):
                    return base, word, pins["S"][0]
    return None


def _share_sums(words: Words) -> int:
    """(x ? y : c) + n: the number of adders that became multiplexers."""
    cells, driver = words.cells, drivers(words.cells)
    groups: dict[tuple[Word, ...], list[tuple[str, Bit]]] = {}
    for name, cell in cells.items():
        if cell["type"] == "$add":
            for operand, other in operand_orders(cell):
                chosen = _chosen(operand, cells, driver)
                if chosen and not _chosen(other, cells, driver):
                    condition, one, zero = chosen
                    groups.setdefault((one, zero, other), []).append((name, condition))
                    break
    shared = [(sums, users) for sums, users in groups.items() if len(users) >= LEAST_USERS]
    for (one, zero, other), users in shared:
        first = users[0][0]
        if_one = words.total(f"{first}$one", one, other)
        if_zero = words.total(f"{first}$zero", zero, other)
        for name, condition in users:
            words.put(name, "$mux", cells[name]["connections"]["Y"], A=if_zero, B=if_one, S=[condition])
    return sum(len(users) for _, users in shared)


def _choose_by_gates(words: Words) -> None:
    """One of four words by two conditions, q ? (x ? a : b) : (x ? c : d), one of them 0: a sum of three
    products.
    """
    cells, driver = words.cells, drivers(words.cells)
    for name, cell in list(cells.items()):
        if cell["type"] != "$mux":
            continue
        pins = cell["connections"]
        q = pins["S"][0]
        if_zero, if_one = (_chosen(tuple(pins[pin]), cells, driver) for pin in "AB")
        if not if_zero or not if_one or if_zero[0] != if_one[0]:
            continue
        x = if_one[0]
        wanted = [
            (word, of_x, of_q)
            for (_, one, zero), of_q in ((if_one, True), (if_zero, False))
            for word, of_x in ((one, True), (zero, False))
            if set(word) != {"0"}
        ]
        if len(wanted) > MOST_PRODUCTS:
            continue
        opposite = {bit: words.made(f"{name}$not{bit}", "$not", A=[bit]) for bit in (x, q)}
        total: list[Bit] = []
        for number, (word, of_x, of_q) in enumerate(wanted):
            conditions = ([bit] if holds else opposite[bit] for bit, holds in ((x, of_x), (q, of_q)))
            chosen = words.made(f"{name}$if{number}", "$and", **dict(zip("AB", conditions, strict=True)))
            product = words.made(f"{name}$word{number}", "$and", A=word, B=chosen * len(word))
            if not total:
                total = product
            elif number < len(wanted) - 1:
                total = words.made(f"{name}$sum{number}", "$or", A=total, B=product)
            else:
                words.put(name, "$or", pins["Y"], A=total, B=product)


def fresh_nets(module: Module) -> Iterator[int]:
    """Numbers that no net of a module has."""
    named = (net["bits"] for net in (*module["ports"].values(), *module["netnames"].values()))
    pins = (bits for cell in module["cells"].values() for bits in cell["connections"].values())
    numbers = (bit for bits in chain(named, pins) for bit in bits if isinstance(bit, int))
    return count(max(numbers, default=1) + 1)


def extended(bits: list[Bit], width: int, sign: Bit = "0") -> list[Bit]:
    """Return a word with a width of its own."""
    return (bits + [sign] * width)[:width]


def operand_orders(cell: Cell) -> Iterator[tuple[Word, Word]]:
    """Yield both operands as wide as the output, in both orders."""
    pins = cell["connections"]
    signed = all(int(cell["parameters"][f"{pin}_SIGNED"], 2) for pin in "AB")
    a, b = (tuple(extended(pins[pin], len(pins["Y"]), pins[pin][-1] if signed else "0")) for pin in "AB")
    yield a, b
    yield b, a


def _chosen(operand: Word, cells: Cells, driver: Drivers) -> tuple[Bit, Word, Word] | None:
    """(condition, the operand's bits if it holds, and if not), if all its bits depend on one condition so."""
    condition: Bit | None = None
    one: list[Bit] = []
    zero: list[Bit] = []
    for bit in operand:
        if isinstance(bit, str):
            found: tuple[Bit | None, Bit, Bit] | None = (condition, bit, bit)
        elif bit in driver:
            name, place = driver[bit]
            found = _choice(cells[name], place)
        else:
            return None
        if found is None or (condition is not None and found[0] != condition):
            return None
        condition = found[0]
        one.append(found[1])
        zero.append(found[2])
    if not isinstance(condition, int):
        return None
    return condition, tuple(one), tuple(zero)


def _choice(cell: Cell, place: int) -> tuple[Bit | None, Bit, Bit] | None:
    """The same for one bit of the output of a multiplexer, or of an AND with one bit repeated."""
    pins = cell["connections"]
    if cell["type"] == "$mux":
        return pins["S"][0], pins["B"][place], pins["A"][place]
    if cell["type"] == "$and":
        for repeated, other in operand_orders(cell):
            if len(repeated) > 1 and len(set(repeated)) == 1:
                return repeated[0], other[place], "0"
    return None
