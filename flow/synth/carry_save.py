"""Rewrites chains of additions and halvings: carry-save inside, one carry-propagating addition at the end.

In s' = (s + word) / 2, s'' = (s' + word') / 2, ... the low bits of a sum choose the next word, and the sum is
otherwise only added to. The steps of a Montgomery product have this form; paper 001's MontMulRem has 8 of
them between registers. With ripple carries each addition can start one step after the previous one, but the
last one ends a whole word later. Here a sum stays a pair (sum, carry), from which a row of full adders makes
the next pair; only the two lowest bits of its true value are computed. The bit that the halving drops leaves
a carry, which takes the free lowest place of the new pair. The chain ends with one addition by a prefix
network; a subtraction from that sum (the reduction at the end of the product) uses the pair as well, in
parallel.

This is correct if no sum of the chain exceeds its width, because then neither word of a pair does; upper
bounds are computed from the widths of the words. Koc, "RSA Hardware Implementation", RSA Laboratories TR-801
(1995), designs such hardware by hand.

Inside such a chain, netlist and design share no sums, so that abc alone leaves chains of 4 or more steps
undecided. A chain therefore records the pair of each of its sums, from which word_proof.py shows step by step
that the function is unchanged. For the proof the additions at the end stay words (`prefix=False`).

Works in place on yosys' JSON of a design after sharing.py.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..netlist.document import Bit, Document, Module, readers
from .sharing import Words, drivers, extended, operand_orders

LEAST_STEPS = 3
TRUE_BITS = 2  # low bits of each sum that are computed


class Step(NamedTuple):
    """A sum of a chain and the pair of words that it equals. Its low bits have drivers; at the end of the
    chain all bits have.
    """

    sum: tuple[Bit, ...]
    total: tuple[Bit, ...]
    carry: tuple[Bit, ...]


def save_carries(design: Document, *, prefix: bool = True) -> list[list[Step]]:
    """Rewrite all modules of a design; return the chains of additions that became rows of full adders."""
    return [chain for module in design["modules"].values() for chain in _Chains(module, prefix).rewrite()]


def narrow(design: Document) -> None:
    """Remove unread additions and multiplexers, and unread bits of them, from all modules, so that chains
    become visible.
    """
    for module in design["modules"].values():
        words = Words(module)
        while _narrow(words, readers(module)):
            pass


class _Pair(NamedTuple):
    """A word as (sum, carry)."""

    total: list[Bit]
    carry: list[Bit]


class _Chains(Words):
    def __init__(self, module: Module, prefix: bool) -> None:
        super().__init__(module)
        self.prefix = prefix
        self.drivers = drivers(self.cells)
        self.readers = readers(module)

    def rewrite(self) -> Iterator[list[Step]]:
        self.bounds: dict[str, int] = {}
        every = {name: after for name in self.cells if (after := self._following(name))}
        # if one addition reads the halves of two sums, both stay
        meeting = Counter(after for after, _ in every.values())
        following = {name: found for name, found in every.items() if meeting[found[0]] == 1}
        for start in sorted(following.keys() - {after for after, _ in following.values()}):
            chain, words = [start], []
            while chain[-1] in following:
                then, word = following[chain[-1]]
                chain.append(then)
                words.append(word)
            kept = (self._bound(name) < 1 << self._width(name) for name in chain)
            if len(chain) >= LEAST_STEPS and all(kept):
                yield self._save(chain, words)

    def _width(self, name: str) -> int:
        return len(self.cells[name]["connections"]["Y"])

    def _following(self, name: str) -> tuple[str, list[Bit]] | None:
        """(the addition that reads half of this sum, its other operand), if nothing else reads more than the
        low bits of the sum.
        """
        cell = self.cells[name]
        if cell["type"] != "$add":
            return None
        out = cell["connections"]["Y"]
        above = {reader for bit in out[TRUE_BITS:] for reader in self.readers.get(bit, ())}
        after = above.pop() if len(above) == 1 else ""
        if after not in self.cells or self.cells[after]["type"] != "$add":
            return None
        for half, word in operand_orders(self.cells[after]):
            if extends(half, out[1:]) and not set(word) & set(out):
                return after, list(word)
        return None

    def _bound(self, name: str) -> int:
        """The largest value of an addition before truncation to its width."""
        if name not in self.bounds:
            a, b = next(operand_orders(self.cells[name]))
            self.bounds[name] = self._most(list(a)) + self._most(list(b))
        return self.bounds[name]

    def _most(self, word: list[Bit], depth: int = 4) -> int:
        """The largest value of a word: from the addition that it is the sum or half the sum of, otherwise
        from its width.
        """
        most = sum(1 << place for place, bit in enumerate(word) if bit != "0")
        first = next((bit for bit in word if isinstance(bit, int)), "")
        if first not in self.drivers or not depth:
            return most
        name, place = self.drivers[first]
        cell = self.cells[name]
        out = cell["connections"].get("Y", [])
        shifted = out[place:]
        if not extends(word, shifted):
            return most
        if cell["type"] == "$add":
            bound = self._bound(name)
            return min(most, bound >> place) if bound < 1 << len(out) else most
        if place or cell["type"] not in ("$mux", "$or", "$and"):
            return most
        parts = [self._most(cell["connections"][pin], depth - 1) for pin in "AB"]
        if cell["type"] == "$and":
            return min(most, *parts)
        # the words of an or are products by mutually exclusive conditions; in any case their widths are a
        # bound
        highest = max(parts)
        return min(most, highest if cell["type"] == "$mux" else (1 << highest.bit_length()) - 1)

    def _save(self, chain: list[str], words: list[list[Bit]]) -> list[Step]:
        done = []
        state, first = (list(operand) for operand in next(operand_orders(self.cells[chain[0]])))
        pair = _Pair(state, ["0"] * len(state))
        carry: Bit = "0"
        for name, word in zip(chain, [first, *words], strict=True):
            width = self._width(name)
            pair = self._row(name, extended(pair.total, width), extended(pair.carry, width), word, carry)
            out = self.cells[name]["connections"]["Y"]
            done.append(Step(tuple(out), tuple(pair.total), tuple(pair.carry)))
            if name == chain[-1]:
                self._add(name, pair, "0", out)
                self._differences(pair, out)
                break
            carry = self._true_bits(name, pair, out)
            del self.cells[name]
            pair = _Pair(pair.total[1:], pair.carry[1:])
        return done

    def _row(self, name: str, a: list[Bit], b: list[Bit], c: list[Bit], carry_in: Bit) -> _Pair:
        """a + b + c + carry_in as a pair."""
        total, carry = ([self.net() for _ in a] for _ in range(2))
        self.put(f"{name}$row", "$fa", total, A=a, B=b, C=c, X=carry)
        return _Pair(total, [carry_in, *carry[:-1]])

    def _true_bits(self, name: str, pair: _Pair, out: list[Bit]) -> Bit:
        """Drive the two lowest bits of a sum; return the carry out of the lowest."""
        (a0, a1, *_), (b0, b1, *_) = pair
        self.put(f"{name}$bit0", "$xor", [out[0]], A=[a0], B=[b0])
        carry = self.made(f"{name}$carry0", "$and", A=[a0], B=[b0])
        both = self.made(f"{name}$both1", "$xor", A=[a1], B=[b1])
        self.put(f"{name}$bit1", "$xor", [out[1]], A=both, B=carry)
        return carry[0]

    def _differences(self, pair: _Pair, out: list[Bit]) -> None:
        """Make subtractions from the sum at the end of a chain, or from half of it, subtract from its
        pair.
        """
        for name, cell in list(self.cells.items()):
            if cell["type"] != "$sub":
                continue
            a, b = next(operand_orders(cell))
            if not extends(a, out[1:]):
                continue
            width = len(a)
            (carry,) = self.made(f"{name}$carry0", "$and", A=[pair.total[0]], B=[pair.carry[0]])
            inverse = self.made(f"{name}$not", "$not", A=b)
            total, carries = (extended(half[1:], width) for half in pair)
            row = self._row(name, total, carries, inverse, carry)
            self._add(name, row, "1", cell["connections"]["Y"])

    def _add(self, name: str, pair: _Pair, carry_in: Bit, out: list[Bit]) -> None:
        """Replace a cell by the sum of a pair, which drives `out`: Sklansky's prefix network, or a word-level
        addition.
        """
        width = len(out)
        a, b = pair.total[:width], pair.carry[:width]
        del self.cells[name]
        if not self.prefix:
            if carry_in == "0":
                self.put(name, "$add", out, A=a, B=b)
            else:  # a + b + 1 = a - ~b
                self.put(name, "$sub", out, A=a, B=self.made(f"{name}$complement", "$not", A=b))
            return
        half = self.made(f"{name}$p", "$xor", A=a, B=b)
        p, g = list(half), self.made(f"{name}$g", "$and", A=a, B=b)

        def combined(place: int, step: int, through: list[Bit]) -> None:
            (g[place],) = self.made(f"{name}$g{step}", "$or", A=[g[place]], B=through)

        if carry_in != "0":
            combined(0, 0, self.made(f"{name}$pc", "$and", A=[p[0]], B=[carry_in]))
        step = 1
        while step < width:
            for place in range(width):
                if place // step % 2:
                    below = place // step * step - 1
                    combined(place, step, self.made(f"{name}$t", "$and", A=[p[place]], B=[g[below]]))
                    if below >= step:
                        (p[place],) = self.made(f"{name}$p{step}", "$and", A=[p[place]], B=[p[below]])
            step *= 2
        self.put(name, "$xor", out, A=half, B=[carry_in, *g[:-1]])


def extends(word: Sequence[Bit], part: Sequence[Bit]) -> bool:
    """Whether a word is this part with zeros above it."""
    return [*word[: len(part)]] == [*part] and {*word[len(part) :]} <= {"0"}


def _narrow(words: Words, read: Mapping[Bit, set[str]]) -> bool:
    """Remove additions, multiplexers and bits that no cell reads; return whether there were any."""
    changed = False
    for name, cell in list(words.cells.items()):
        pins, adds = cell["connections"], cell["type"] == "$add"
        if not adds and cell["type"] != "$mux":
            continue
        places = [place for place, bit in enumerate(pins["Y"]) if read.get(bit)]
        if adds and places:
            places = list(range(places[-1] + 1))  # all lower bits contribute
        if len(places) == len(pins["Y"]):
            continue
        changed = True
        if not places:
            del words.cells[name]
        elif adds:
            a, b = next(operand_orders(cell))
            words.put(name, "$add", pins["Y"][: len(places)], A=a[: len(places)], B=b[: len(places)])
        else:
            pins |= {pin: [pins[pin][place] for place in places] for pin in "ABY"}
            cell["parameters"]["WIDTH"] = f"{len(places):032b}"
    return changed
