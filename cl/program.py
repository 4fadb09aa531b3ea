"""ProgramExpCL: the cycle-level twin of a machine that executes a program (fl/program/ir.py), and the cycles
of each microinstruction.

    a word with products    from its first product's request to its last answer. With `forward` the request
                            leaves in the cycle in
                            which the word before ends, otherwise, or where that word changes the modulus, in
                            the cycle after
    a conversion unit       its cycles: times / per_cycle; on a scaled modulus those of scaled_entry.py
    any other word          1; what reads s waits until a scan is over, 2^k + 2 cycles after the word that
                            began it was entered
    an aligning word        until the exponent's leading zeros have left, one in each cycle from the request
                            on
    the answer              1

Counted from the handshake of the request, for which the words that look at it make it wait
(`loading_cycles`). Which words are executed hangs on exponents alone, so that nothing is multiplied unless
the multiplier's cycles depend on its operands.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..fl.multipliers.scaled_entry import ScaledEntry
from ..fl.program.interpreter import Arithmetic, Executed, Made, run
from ..fl.program.ir import Program, Scan, Setup
from ..fl.status import Status
from ..rtl.messages import mk_keyed_req, mk_modexp_req, mk_modexp_resp
from .one_at_a_time import OneAtATimeCL
from .timing import UnitTiming


@dataclass(frozen=True)
class ProgramTiming:
    """Cycles of every kind of microinstruction on one machine."""

    program: Program
    unit: UnitTiming
    nunits: int
    nbits: int
    forward: bool = True
    doublings_per_cycle: int = 4
    scaled: ScaledEntry | None = None

    @property
    def loading_cycles(self) -> int:
        """For how long a request is looked at before it is taken; one with a public exponent: a cycle."""
        return sum(word.takes and not word.accepts for word in self.program.words)

    def product_cycles(self, made: Sequence[Made], modulus: int) -> int:
        """The products of a word, from the first request to the last answer."""
        costs = [self._one(product, modulus) for product in made]
        if len(made) <= self.nunits:
            return max(costs)
        first, second = ((product.a or 0, product.b or 0) for product in made)
        return self.unit.pair(first, second, self._blocks_by(made[0], modulus))

    def _blocks_by(self, product: Made, modulus: int) -> int:
        """A modulus of as many blocks as the product takes; words have products of one kind."""
        return (1 << self.nbits) - 1 if product.wide else modulus or 1

    def _one(self, product: Made, modulus: int) -> int:
        blocks = self.unit.blocks_of(self._blocks_by(product, modulus))
        cycles = self.unit.product_cycles(blocks)
        if cycles is not None:
            return cycles
        assert product.a is not None and product.b is not None
        return self.unit.latency(product.a, product.b, modulus)

    def setup_cycles(self, setup: Setup, modulus: int) -> int:
        """Return the cycles of a conversion."""
        if self.scaled is None:
            return setup.times(self.unit.blocks_of(modulus)) // self.doublings_per_cycle
        known = {"scale": self.scaled.scale_cycles(modulus), "halve": self.scaled.leaving_cycles}
        return known.get(setup.kind, 1)

    def cycles(
        self, fields: Mapping[str, int], arithmetic: Arithmetic | None, status: Status = Status.OK
    ) -> int:
        """From the request's handshake to the answer, for an operation with these fields."""
        trace: list[Executed] = []
        operands_count = self.unit.product_cycles(1) is None
        run(self.program, fields, arithmetic if operands_count else None, status, trace)
        return self.replayed(trace, fields.get("exp", 0))

    def replayed(self, trace: Sequence[Executed], exp: int) -> int:
        """The cycles of words that were executed; `exp` is what an aligning word waits for."""
        return max(self.ends(trace, exp), default=0)

    def ends(self, trace: Sequence[Executed], exp: int) -> Iterator[int]:
        """For each of these words, how many cycles have gone by when it ends."""
        now = ready = 0
        entered = None  # the last word's place, to tell a repetition
        settled = False  # the last word changed the modulus
        taken = False
        for executed in trace:
            word = executed.word
            if word.takes:
                if word.accepts:
                    taken, settled = True, word.settles
                yield now
                continue
            assert taken
            if word.aligns:
                aligned = self.nbits - exp.bit_length()
                if aligned > now:
                    now, settled = aligned, False
                yield now
                continue
            begin = now
            if word.find(Scan) and executed.pc != entered:
                ready = begin + (1 << self.program.digit_nbits) + 2
            if executed.made:
                start = begin if self.forward and not settled else begin + 1
                if word.needs_entry:
                    start = max(start, ready)
                now = start + self.product_cycles(executed.made, executed.modulus)
            elif word.setup is not None:
                now = begin + self.setup_cycles(word.setup, executed.modulus)
            else:
                now = begin + 1
                if word.needs_entry:
                    now = max(now, ready)
            settled = word.settles
            entered = executed.pc if word.flow.kind == "repeat" else None
            yield now


def ProgramExpCL(timing, arithmetic, inspect):
    """The twin of a ProgramExp; `inspect(fields)` is the status that a request is refused with."""
    program, nbits = timing.program, timing.nbits
    names = ("base", "exp", "mod", *(name for name, _ in program.fields))
    Request = mk_keyed_req(nbits, program.fields) if program.fields else mk_modexp_req(nbits)
    Response = mk_modexp_resp(nbits)

    def serve(msg, _):
        fields = {name: int(getattr(msg, name)) for name in names}
        status = inspect(fields)
        trace: list[Executed] = []
        outcome = run(program, fields, arithmetic, status, trace)
        return Response(int(outcome.status), outcome.result), timing.replayed(trace, fields["exp"])

    def waits(msg):
        return 1 if program.public and int(msg.public) else timing.loading_cycles

    return OneAtATimeCL(Request, Response, serve, False, waits=waits)
