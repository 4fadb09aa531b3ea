"""Word-level proof by algebra that rewritten arithmetic keeps its function: shared sums and carry-save
chains, at any width.

`before` and `after` are two designs in yosys' JSON with the same net numbers; sharing.py or carry_save.py
made `after`. Cells that are the same in both need no proof. For each net of both designs that a
new cell of `after` drives, the proof shows that its value is unchanged if the nets that it is computed from
are unchanged. By induction along `after`, which has no loops, all nets of both designs are then unchanged,
and no other net of `before` may be read. Each step shows an identity of polynomials over the bits, which are
0 or 1: ~a is 1 - a, a & b is a b, a ^ b is a + b - 2 a b, and the sum bit of a full adder is a + b + c - 2
carry, so that sums of words cancel (after Ciesielski et al., "Verification of gate-level arithmetic circuits
by function extraction", DAC 2015). Identities of words hold modulo two to the power of their width. Sums that
are shared between conditions (sharing.py) cancel if the lowest bit of a word is replaced by the operands less
the other bits.

A chain (carry_save.py) is proved step by step: if the sum s is total + carry, the next sum, half of s plus a
word, is the sum of the next pair. As halving moves carries down again, this must hold for the numbers
themselves and not only modulo a power of two. They can differ only by 2^width times the carry that a row
drops, which is 0 because no sum reaches 2^width. Upper bounds of the sums follow from the bits of each word
that are always 0; the caller must prove those (`words`, `zeros`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ..netlist.document import Bit, Cell, Module, cell_bits, operands, port_bits, readers
from ..netlist.order import in_order
from ..synth.carry_save import Step, extends

Monomial = frozenset[Bit]
ONE: Monomial = frozenset()
BITWISE = ("$and", "$xor", "$not", "$or", "$mux")
ARITHMETIC = ("$add", "$sub")
MOST_PRODUCTS = 100_000  # of a polynomial; those of equal words have some hundreds
DEPTH = 3  # levels of a cell's fan-in in `before` that are expanded
VALUES = {"0": 0, "1": 1}


class NotShownError(Exception):
    """Raised when a difference is not shown to be zero; the message names it."""


class Polynomial(dict[Monomial, int]):
    """A sum of products of bits with nonzero coefficients; a bit is 0 or 1 and so equal to its square."""

    def __add__(self, other: "Polynomial") -> "Polynomial":
        total = Polynomial(self)
        for monomial, value in other.items():
            total[monomial] = total.get(monomial, 0) + value
        return total._reduced()

    def __sub__(self, other: "Polynomial") -> "Polynomial":
        return self + -1 * other

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        total = Polynomial()
        for one, value in self.items():
            for two, factor in other.items():
                total[one | two] = total.get(one | two, 0) + value * factor
        return total._reduced()

    def __rmul__(self, factor: int) -> "Polynomial":
        return Polynomial({monomial: factor * value for monomial, value in self.items()})

    def _reduced(self) -> "Polynomial":
        return Polynomial({monomial: value for monomial, value in self.items() if value})

    def modulo(self, modulus: int) -> "Polynomial":
        return Polynomial({monomial: factor % modulus for monomial, factor in self.items()})._reduced()

    def replaced(self, bit: Bit, value: "Polynomial") -> "Polynomial":
        """Substitute a polynomial for a bit."""
        kept = Polynomial({monomial: factor for monomial, factor in self.items() if bit not in monomial})
        taken = Polynomial({monomial - {bit}: factor for monomial, factor in self.items() if bit in monomial})
        if len(kept) + len(taken) * len(value) > MOST_PRODUCTS:
            raise NotShownError("what has too many products of bits")
        return kept + taken * value

    @property
    def bits(self) -> set[Bit]:
        return set().union(*self)


def words(before: Module, chains: Iterable[Sequence[Step]]) -> list[Bit]:
    """The nets in the words that the chains add; the caller has to prove which of them are always 0."""
    drivers = _drivers(before)
    steps = (row for chain in chains for row in _steps(before, drivers, chain))
    every = (bit for _, _, added in steps for word in added for bit in word if isinstance(bit, int))
    return list(dict.fromkeys(every))


def show(
    before: Module, after: Module, chains: Iterable[Sequence[Step]] = (), zeros: Collection[Bit] = ()
) -> int:
    """The number of rewritten sums and differences; NotShownError unless all of them are shown to
    be unchanged.
    """
    return _Proof(before, after, zeros).show(chains)


class _Proof:
    def __init__(self, before: Module, after: Module, zeros: Collection[Bit]) -> None:
        for field in {*before, *after} - {"cells"}:
            if before.get(field) != after.get(field):
                raise NotShownError(f"the {field} of the module")
        self.before, self.after, self.zeros = before, after, {*zeros, "0"}
        self.old, self.new = (
            {name: cell for name, cell in one["cells"].items() if other["cells"].get(name) != cell}
            for one, other in ((before, after), (after, before))
        )
        for name, cell in self.new.items():
            if cell["type"] not in (*BITWISE, "$fa", *ARITHMETIC):
                raise NotShownError(f"{name}, a new {cell['type']}")
        self.of_before, self.of_after = _drivers(before), _drivers(after)
        drivers = {bit: name for bit, name in self.of_after.items() if name in self.new}
        # readers first
        self.order = in_order({name: _nets(cell, "input") for name, cell in self.new.items()}, drivers)[::-1]
        if len(self.order) < len(self.new):
            raise NotShownError("a loop")
        self.shown: set[Bit] = set()
        self.halves: dict[tuple[Bit, ...], Polynomial] = {}  # sums of chains, without the lowest bit

    def show(self, chains: Iterable[Sequence[Step]]) -> int:
        count = 0
        for chain in chains:
            self._chain(chain)
            count += len(chain)
        for name, cell in self.old.items():
            out = tuple(cell["connections"].get("Y", ()))
            if name in self.new and not self.shown.issuperset(out):
                if cell["type"] == self.new[name]["type"] == "$mux":
                    self._same_bits(name)
                else:
                    self._word(name, out)
                count += 1
        self._covered()
        return count

    def _chain(self, chain: Sequence[Step]) -> None:
        most = 0
        for previous, step, added in _steps(self.before, self.of_before, chain):
            width = len(step.sum)
            if not len(step.total) == len(step.carry) == width:
                raise NotShownError(f"a pair of another width for {step.sum}")
            places = (place for word in added for place, bit in enumerate(word) if bit not in self.zeros)
            most = (most >> 1) + sum(1 << place for place in places)
            if most >> width:
                raise NotShownError(f"a sum that may pass its width, {width} bits")
            true = sum(map(_number, added), self._half(previous) if previous else Polynomial())
            atoms = {*previous.total, *previous.carry} if previous else set()
            made = self._expanded(_number(step.total) + _number(step.carry), atoms)
            # true = made + 2^width * (carries, which are 0 or 1): as neither is negative and true < 2^width,
            # the carries are 0
            for monomial, factor in (true - made).items():
                if factor < 0 or factor % (1 << width) or monomial == ONE:
                    raise NotShownError(f"the pair of {step.sum}")
            self._true_bits(step)
        # the sum itself, if the chain ends with it
        self.halves[step.sum[1:]] = self._half(step)
        self._end(step)

    def _half(self, step: Step) -> Polynomial:
        """(total + carry) / 2, rounded down."""
        both = _number(step.total[1:]) + _number(step.carry[1:])
        return both + _bit(step.total[0]) * _bit(step.carry[0])

    def _true_bits(self, step: Step) -> None:
        """Show that the low bits of a sum that gates drive directly are those of total + carry."""
        carry = Polynomial()
        atoms = {*step.total, *step.carry}
        for out, a, b in zip(step.sum, step.total, step.carry, strict=True):
            name = self.of_after.get(out, "")
            if name not in self.new or self.new[name]["type"] not in BITWISE:
                return
            a_plus_b = _xor(_bit(a), _bit(b))
            cell = self.new[name]
            made = _function(name, cell, cell["connections"]["Y"].index(out))
            if self._expanded(made, atoms) != _xor(a_plus_b, carry):
                raise NotShownError(f"the bit {out} of a sum")
            self.shown.add(out)
            carry = _bit(a) * _bit(b) + a_plus_b * carry

    def _end(self, step: Step) -> None:
        """Show that the sum at the end of a chain adds its pair."""
        name = self.of_after.get(step.sum[0], "")
        cell = self.new.get(name)
        if cell is None or cell["type"] != "$add" or tuple(cell["connections"]["Y"]) != step.sum:
            raise NotShownError(f"the end of a chain, {step.sum}")
        pair = sorted([step.total, step.carry], key=str)
        if sorted(operands(cell), key=str) != pair:
            raise NotShownError(f"the sum {name} at the end of a chain")
        self.shown.update(step.sum)

    def _word(self, name: str, out: tuple[Bit, ...]) -> None:
        """Show that the new cell of a sum, difference or choice, or of its low bits, has the same
        value modulo its power of two.
        """
        cell = self.new[name]
        made_out = tuple(cell["connections"].get("Y", ()))
        if not made_out or made_out != out[: len(made_out)] or cell["type"] not in (*ARITHMETIC, *BITWISE):
            raise NotShownError(f"{name}, which was {self.old[name]['type']}")
        atoms = {bit for chain in self.halves.values() for monomial in chain for bit in monomial}
        was, made = (self._result(item) for item in (self.old[name], cell))
        modulus = 1 << len(made_out)
        difference = self._expanded(was - made, atoms).modulo(modulus)
        if difference and self._unfolded(name, difference, modulus):
            raise NotShownError(f"{name}, which was {self.old[name]['type']}")
        self.shown.update(made_out)

    def _same_bits(self, name: str) -> None:
        """Show that a multiplexer selects some of the old one's bits in the same way."""
        was, made = (
            {bits[0]: bits for bits in zip(*(cell["connections"][pin] for pin in "YAB"), strict=True)}
            for cell in (self.old[name], self.new[name])
        )
        same = self.old[name]["connections"]["S"] == self.new[name]["connections"]["S"]
        if not same or any(was.get(out) != bits for out, bits in made.items()):
            raise NotShownError(f"{name}, which was another choice")
        self.shown.update(made)

    def _unfolded(self, name: str, difference: Polynomial, modulus: int) -> Polynomial:
        """The difference modulo a power of two, with the sums and choices in the cell's fan-in replaced by
        their operands until it is zero.
        """
        for cell in (*self._fresh(name), *self._behind(name)):
            if not difference:
                break
            read = difference.bits
            out = cell["connections"]["Y"]
            if cell["type"] in BITWISE:
                for place, bit in enumerate(out):
                    if bit in read:
                        difference = difference.replaced(bit, _function(name, cell, place))
            elif out[0] in read and 1 << len(out) >= modulus:
                # the lowest bit, by the others and the operands
                value = self._result(cell) - _number(["0", *out[1:]])
                difference = difference.replaced(out[0], value)
            difference = difference.modulo(modulus)
        return difference

    def _fresh(self, name: str) -> list[Cell]:
        """The new sums and choices in a cell's fan-in whose nets are not in `before`; readers first."""
        found = set()
        todo = [name]
        while todo:
            for bit in _nets(self.new[todo.pop()], "input"):
                below = self.of_after.get(bit, "")
                if below in self.new and below not in found and bit not in self.of_before:
                    found.add(below)
                    todo.append(below)
        known = (self.new[item] for item in self.order if item in found)
        return [cell for cell in known if cell["type"] in (*BITWISE, "$add")]

    def _behind(self, name: str) -> list[Cell]:
        """The sums and choices of `before` in a cell's fan-in, up to DEPTH levels; readers first."""
        found: dict[str, None] = {}
        cells, level = self.before["cells"], [name]
        for _ in range(DEPTH):
            read = {bit for item in level for pin in "AB" for bit in cells[item]["connections"].get(pin, ())}
            drivers = sorted({self.of_before[bit] for bit in read & self.of_before.keys()})
            level = [
                driver
                for driver in drivers
                if cells[driver]["type"] in (*BITWISE, "$add")
                and len(out := cells[driver]["connections"]["Y"]) > 1
                and out[0] in read  # a whole word, not its half
            ]
            for driver in level:
                found.pop(driver, None)
                found[driver] = None
        return [cells[driver] for driver in found]

    def _result(self, cell: Cell) -> Polynomial:
        if cell["type"] in BITWISE:
            bits = (_function("a choice", cell, place) for place in range(len(cell["connections"]["Y"])))
            return sum(((1 << place) * bit for place, bit in enumerate(bits)), Polynomial())
        a, b = map(self._value, operands(cell))
        if cell["type"] not in ARITHMETIC:
            raise NotShownError(f"a {cell['type']}")
        return a - b if cell["type"] == "$sub" else a + b

    def _value(self, word: tuple[Bit, ...]) -> Polynomial:
        """A word as a polynomial; half of a chain's sum as that of its pair."""
        for half, polynomial in self.halves.items():
            if extends(word, half):
                return polynomial
        return _number(word)

    def _expanded(self, polynomial: Polynomial, atoms: Collection[Bit]) -> Polynomial:
        """Replace the bits that only new cells drive, other than atoms, by the functions of their cells;
        carries that do not cancel remain.
        """
        read = polynomial.bits
        for name in self.order:
            cell = self.new[name]
            if cell["type"] not in (*BITWISE, "$fa"):
                continue
            for place, out in enumerate(cell["connections"]["Y"]):
                if out in read and out not in atoms and out not in self.of_before:
                    value = _function(name, cell, place)
                    polynomial = polynomial.replaced(out, value)
                    read |= value.bits
        return polynomial

    def _covered(self) -> None:
        """Check that each net of both designs is shown, and that every net that is read has a driver."""
        words = [bits for cell in self.before["cells"].values() for bits in cell["connections"].values()]
        nets = set().union(*words, *(port["bits"] for port in self.before["ports"].values()))
        for name, cell in self.new.items():
            if nets.intersection(_nets(cell, "output")) - self.shown:
                raise NotShownError(f"what {name} drives")
        driven = set(self.of_after)
        read = {bit for bit in readers(self.after) if isinstance(bit, int)}
        driven.update(port_bits(self.after, "input"))
        if lost := read - driven:
            raise NotShownError(f"{min(map(str, lost))}, which nothing drives any more")


def _steps(
    before: Module, drivers: Mapping[Bit, str], chain: Sequence[Step]
) -> Iterator[tuple[Step | None, Step, list[tuple[Bit, ...]]]]:
    """(previous step or None, step, the words that it adds to half of the previous sum); NotShownError if the
    cell is no such sum.
    """
    previous = None
    for step in chain:
        cell = before["cells"].get(drivers.get(step.sum[0], ""))
        if cell is None or cell["type"] != "$add" or tuple(cell["connections"]["Y"]) != step.sum:
            raise NotShownError(f"{step.sum}, which was no sum")
        added = list(operands(cell))
        if previous is not None:
            halves = [word for word in added if extends(word, previous.sum[1:])]
            if not halves:
                raise NotShownError(f"{step.sum}, which was not the half of a sum and a word")
            added.remove(halves[0])
        yield previous, step, added
        previous = step


def _drivers(module: Module) -> dict[Bit, str]:
    """{net: cell}; NotShownError for a net with two drivers."""
    found: dict[Bit, str] = {}
    for name, cell in module["cells"].items():
        for bit in _nets(cell, "output"):
            if bit in found:
                raise NotShownError(f"the net {bit} with two drivers")
            found[bit] = name
    if twice := found.keys() & set(port_bits(module, "input")):
        raise NotShownError(f"the net {min(map(str, twice))} with two drivers")
    return found


def _nets(cell: Cell, direction: str) -> Iterator[int]:
    return (bit for bit in cell_bits(cell, direction) if isinstance(bit, int))


def _function(name: str, cell: Cell, place: int) -> Polynomial:
    """The polynomial of one bit of a cell's output Y."""
    pins = cell["connections"]
    if any(len(bits) != (1 if pin == "S" else len(pins["Y"])) for pin, bits in pins.items()):
        raise NotShownError(f"{name}, whose operands are of other widths than its result")
    inputs = [_bit(pins[pin][place]) for pin in "ABC" if pin in pins]
    if cell["type"] == "$fa":
        a, b, c = inputs
        return a + b + c - 2 * _bit(pins["X"][place])
    if cell["type"] == "$mux":
        a, b = inputs
        return a + _bit(pins["S"][0]) * (b - a)
    if cell["type"] == "$not":
        return _bit("1") - inputs[0]
    a, b = inputs
    if cell["type"] == "$and":
        return a * b
    return _xor(a, b) if cell["type"] == "$xor" else a + b - a * b


def _bit(bit: Bit) -> Polynomial:
    if isinstance(bit, int):
        return Polynomial({frozenset((bit,)): 1})
    if bit not in VALUES:
        raise NotShownError(f"a bit that is {bit}")
    return Polynomial({ONE: 1} if VALUES[bit] else {})


def _number(word: Iterable[Bit]) -> Polynomial:
    return sum(((1 << place) * _bit(bit) for place, bit in enumerate(word)), Polynomial())


def _xor(a: Polynomial, b: Polynomial) -> Polynomial:
    return a + b - 2 * (a * b)
