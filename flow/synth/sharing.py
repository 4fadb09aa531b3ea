"""Sums of conditional words: adders that differ only in their conditions become one adder and multiplexers.

Three rewritings, of which the first two pay when several adders meet the same words y and n under other conditions:

- (x ? y : 0) + n becomes x ? (y + n) : n. k adders become one and k multiplexers, and y + n is ready before x is. Paper 001's
  AddRed in Koc's form (Figure 8b) is of this kind: each step adds x_i * Y + N, with the same Y and N.
- (s + (x ? y : 0)) + (q ? n : 0) becomes s + one of 0, y, n, y + n. So the textbook's form (Figure 8a) becomes
  Koc's, and of two carry chains in a row one is left. Of the first sum only the bits that q needs remain.
- q ? (x ? a : b) : (x ? c : 0), as it comes of both, becomes a sum of three products, for which the library has one cell a bit
  (AOI222, 2.1 um^2, where multiplexers take 4.8): MontMulRem from 13,521 to 12,577 um^2, sized for 3 ns.

Measured on 32 bits: MontMulRem (koc) went from 22,147 to 17,101 um^2, the abc script changed in between. Yosys' own `opt_share`
goes the other way (it merges two adders in front of a multiplexer), so this comes after it.

Works on yosys' JSON of a design after `proc` and `opt`, in place: nothing but cells of type $add, $mux and $and is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from ..netlist.document import Bit, Cell, Document, Module

Cells = dict[str, Cell]
Word = tuple[Bit, ...]
MOST_PRODUCTS = 3  # AOI222 takes so many
LEAST_USERS = 2  # an adder is worth more than two multiplexers of its width


def share_adders(design: Document) -> int:
    """Rewrite all modules of a design; the number of adders that became multiplexers."""
    return sum(_share(module) for module in design["modules"].values())


def _share(module: Module) -> int:
    fresh = fresh_nets(module)
    cells: Cells = module["cells"]
    shared = _share_chains(cells, fresh) + _share_sums(cells, fresh)
    _choose_by_gates(cells, fresh)
    return shared


def drivers(cells: Cells) -> dict[Bit, tuple[str, int]]:
    """{net: (cell, place in its output)}."""
    return {
        bit: (name, place)
        for name, cell in cells.items()
        for pin, bits in cell["connections"].items()
        if cell["port_directions"].get(pin) == "output"
        for place, bit in enumerate(bits)
    }


def _share_chains(cells: Cells, fresh: Iterator[int]) -> int:
    """(s + (x ? y : 0)) + (q ? n : 0): the number of such pairs of sums that became one."""
    driver = drivers(cells)
    sums = {name: found for name in cells if (found := _conditional_sum(name, cells, driver))}
    by_out = {tuple(cells[name]["connections"]["Y"]): name for name in sums}
    groups: dict[tuple[Word, Word], list[tuple[str, Word, Bit, Bit]]] = {}
    for name, (base, n, q) in sums.items():
        # the inner sum must be taken whole: then both are modulo the same power of two
        if base in by_out:
            state, y, x = sums[by_out[base]]
            groups.setdefault((y, n), []).append((name, state, x, q))
    replaced = 0
    for (y, n), users in groups.items():
        if len(users) < LEAST_USERS:
            continue
        both = _sum(cells, f"{users[0][0]}$both", y, n, fresh)
        for name, state, x, q in users:
            without_n = _choose(cells, f"{name}$y", ["0"] * len(y), list(y), x, fresh)
            with_n = _choose(cells, f"{name}$n", list(n), both, x, fresh)
            word = _choose(cells, f"{name}$word", without_n, with_n, q, fresh)
            cells[name] = adder(cells[name], list(state), word)
            replaced += 1
    return replaced


def _conditional_sum(
    name: str, cells: Cells, driver: dict[Bit, tuple[str, int]]
) -> tuple[Word, Word, Bit] | None:
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
                # where the condition itself is a bit of s, yosys knows that bit to be 0 if the condition does not hold
                kept = (
                    bit == of_base or (bit == "0" and of_base == pins["S"][0])
                    for bit, of_base in zip(pins["A"], base, strict=True)
                )
                if all(kept):
                    return base, word, pins["S"][0]
    return None


def _share_sums(cells: Cells, fresh: Iterator[int]) -> int:
    """(x ? y : c) + n: the number of adders that became multiplexers."""
    driver = drivers(cells)
    groups: dict[tuple[Word, ...], list[tuple[str, Bit]]] = {}
    for name, cell in cells.items():
        if cell["type"] == "$add":
            for operand, other in operand_orders(cell):
                chosen = _chosen(operand, cells, driver)
                if chosen and not _chosen(other, cells, driver):
                    condition, one, zero = chosen
                    groups.setdefault((one, zero, other), []).append((name, condition))
                    break
    replaced = 0
    for (one, zero, other), users in groups.items():
        if len(users) < LEAST_USERS:
            continue
        first = users[0][0]
        if_one = _sum(cells, f"{first}$one", one, other, fresh)
        if_zero = _sum(cells, f"{first}$zero", zero, other, fresh)
        for name, condition in users:
            cells[name] = _multiplexer(cells[name], if_zero, if_one, condition)
            replaced += 1
    return replaced


def _choose_by_gates(cells: Cells, fresh: Iterator[int]) -> None:
    """One of four words by two conditions, q ? (x ? a : b) : (x ? c : d), one of them 0: a sum of three products."""
    driver = drivers(cells)
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
        opposite: dict[Bit, Bit] = {}
        for bit in (x, q):
            opposite[bit] = next(fresh)
            cells[f"{name}$not{bit}"] = gate("$not", [opposite[bit]], A=[bit])
        total: list[Bit] = []
        for number, (word, of_x, of_q) in enumerate(wanted):
            chosen: list[Bit] = [next(fresh)]
            cells[f"{name}$if{number}"] = gate(
                "$and", chosen, A=[x if of_x else opposite[x]], B=[q if of_q else opposite[q]]
            )
            product: list[Bit] = [next(fresh) for _ in word]
            cells[f"{name}$word{number}"] = gate("$and", product, A=list(word), B=chosen * len(word))
            if not total:
                total = product
                continue
            last = number == len(wanted) - 1
            out: list[Bit] = pins["Y"] if last else [next(fresh) for _ in word]
            cells[name if last else f"{name}$sum{number}"] = gate("$or", out, A=total, B=product)
            total = out


def fresh_nets(module: Module) -> Iterator[int]:
    """Numbers that no net of a module has."""
    return count(_highest(module) + 1)


def _highest(module: Module) -> int:
    """The largest number of a net."""

    def all_bits() -> Iterator[Bit]:
        for cell in module["cells"].values():
            for bits in cell["connections"].values():
                yield from bits
        for each in (*module["ports"].values(), *module["netnames"].values()):
            yield from each["bits"]

    return max((bit for bit in all_bits() if isinstance(bit, int)), default=1)


def _number(cell: Cell, parameter: str) -> int:
    return int(cell["parameters"][parameter], 2)


def _extended(bits: list[Bit], width: int, signed: bool) -> Word:
    return tuple((bits + [bits[-1] if signed else "0"] * width)[:width])


def operand_orders(cell: Cell) -> Iterator[tuple[Word, Word]]:
    pins = cell["connections"]
    width = len(pins["Y"])
    signed = bool(_number(cell, "A_SIGNED") and _number(cell, "B_SIGNED"))
    a, b = (_extended(pins[pin], width, signed) for pin in "AB")
    yield a, b
    yield b, a


def _chosen(operand: Word, cells: Cells, driver: dict[Bit, tuple[str, int]]) -> tuple[Bit, Word, Word] | None:
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


def _sum(cells: Cells, name: str, a: Word, b: Word, fresh: Iterator[int]) -> list[Bit]:
    """a + b by a new cell, or one of them where the other is 0."""
    for operand, other in ((a, b), (b, a)):
        if set(operand) == {"0"}:
            return list(other)
    total: list[Bit] = [next(fresh) for _ in a]
    cells[name] = adder({"hide_name": 1, "attributes": {}, "connections": {"Y": total}}, list(a), list(b))
    return total


def _choose(
    cells: Cells, name: str, zero: list[Bit], one: list[Bit], condition: Bit, fresh: Iterator[int]
) -> list[Bit]:
    """condition ? one : zero by a new cell."""
    out: list[Bit] = [next(fresh) for _ in one]
    cells[name] = _multiplexer(
        {"hide_name": 1, "attributes": {}, "connections": {"Y": out}}, zero, one, condition
    )
    return out


def adder(place: Cell, a: list[Bit], b: list[Bit]) -> Cell:
    """An adder in the place of a cell, with its output."""
    out = place["connections"]["Y"]
    width = f"{len(out):032b}"
    return {
        "hide_name": place["hide_name"],
        "type": "$add",
        "parameters": {
            "A_SIGNED": "0",
            "B_SIGNED": "0",
            **dict.fromkeys(("A_WIDTH", "B_WIDTH", "Y_WIDTH"), width),
        },
        "attributes": place["attributes"],
        "port_directions": {"A": "input", "B": "input", "Y": "output"},
        "connections": {"A": a, "B": b, "Y": out},
    }


def gate(kind: str, out: list[Bit], **inputs: list[Bit]) -> Cell:
    """A bitwise gate of words of one width."""
    width = f"{len(out):032b}"
    return {
        "hide_name": 1,
        "type": kind,
        "parameters": {"Y_WIDTH": width}
        | {f"{pin}_WIDTH": width for pin in inputs}
        | {f"{pin}_SIGNED": "0" for pin in inputs},
        "attributes": {},
        "port_directions": {**dict.fromkeys(inputs, "input"), "Y": "output"},
        "connections": {**inputs, "Y": out},
    }


def _multiplexer(place: Cell, zero: list[Bit], one: list[Bit], condition: Bit) -> Cell:
    """A multiplexer in the place of a cell, with its output."""
    out = place["connections"]["Y"]
    return {
        "hide_name": place["hide_name"],
        "type": "$mux",
        "parameters": {"WIDTH": f"{len(out):032b}"},
        "attributes": place["attributes"],
        "port_directions": {"A": "input", "B": "input", "S": "input", "Y": "output"},
        "connections": {"A": zero, "B": one, "S": [condition], "Y": out},
    }
