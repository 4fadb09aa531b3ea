"""ProgramExpCL: the cycle-level twin of a machine that executes a program (fl/program/ir.py), and the cycles
of each microinstruction.

    with products           from the request of its first product to its last response. With `forward` the
                            request is sent in the cycle in which the previous microinstruction ends;
                            otherwise, or if that one changes the modulus, one cycle later
    with a conversion       cycles of the conversion unit: times / per_cycle; on a scaled modulus those of
                            scaled_entry.py
    any other               1; one that reads s waits until a scan is complete, 2^k + 2 cycles after the
                            microinstruction that started it was entered
    aligning                until the leading zeros of the exponent have been shifted out, one per cycle from
                            the request on
    answer                  1

Cycles are counted from the handshake of the request, which is delayed by the microinstructions that examine
it (`loading_cycles`). Control flow depends only on exponents, so no products are computed unless the cycles
of the multiplier depend on its operands.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..fl.multipliers.scaled_entry import ScaledEntry
from ..fl.program.interpreter import Arithmetic, Executed, Made, run
from ..fl.program.ir import Program, Scan, Setup
from ..fl.status import Status
from ..rtl.messages import mk_keyed_req, mk_modexp_req, mk_modexp_resp
from .one_at_a_time import OneAtATimeCL, Waits
from .timing import UnitTiming


@dataclass(frozen=True)
class ProgramTiming:
    """Cycles of every kind of microinstruction on one machine."""

    program: Program
    unit: UnitTiming
    nbits: int
    forward: bool = True
    doublings_per_cycle: int = 4
    scaled: ScaledEntry | None = None

    @property
    def loading_cycles(self) -> int:
        """The cycles for which a private request is examined before it is accepted; one with a public
        exponent is examined for one cycle.
        """
        return sum(word.takes and not word.accepts for word in self.program.words)

    def product_cycles(self, made: Sequence[Made], modulus: int) -> int:
        """Cycles of the products of a microinstruction, from the first request to the last response."""
        if len(made) == 1:
            return self._one(made[0], modulus)
        first, second = ((product.a or 0, product.b or 0) for product in made)
        return self.unit.pair(first, second, self._blocks_by(made[0], modulus))

    def _blocks_by(self, product: Made, modulus: int) -> int:
        """A modulus with as many blocks as the product uses; either all products of a microinstruction are
        wide or none is.
        """
        return (1 << self.nbits) - 1 if product.wide else modulus or 1

    def _one(self, product: Made, modulus: int) -> int:
        blocks = self.unit.blocks_of(self._blocks_by(product, modulus))
        cycles = self.unit.product_cycles(blocks)
        if cycles is not None:
            return cycles
        assert product.a is not None and product.b is not None
        return self.unit.latency(product.a, product.b, modulus)

    def setup_cycles(self, setup: Setup, modulus: int) -> int:
        """Cycles of a conversion."""
        if self.scaled is None:
            return setup.times(self.unit.blocks_of(modulus)) // self.doublings_per_cycle
        known = {"scale": self.scaled.scale_cycles(modulus), "halve": self.scaled.leaving_cycles}
        return known.get(setup.kind, 1)

    def cycles(
        self, fields: Mapping[str, int], arithmetic: Arithmetic | None, status: Status = Status.OK
    ) -> int:
        """Cycles from the handshake of the request to the answer, for an operation with these fields."""
        trace: list[Executed] = []
        operands_count = self.unit.product_cycles(1) is None
        run(self.program, fields, arithmetic if operands_count else None, status, trace)
        return self.replayed(trace, fields.get("exp", 0))

    def replayed(self, trace: Sequence[Executed], exp: int) -> int:
        """Total cycles of executed microinstructions; an aligning one waits for the length of `exp`."""
        return max(self.ends(trace, exp), default=0)

    def ends(self, trace: Sequence[Executed], exp: int) -> Iterator[int]:
        """For each of these microinstructions, the cycle in which it ends."""
        now = ready = 0
        entered = None  # address of the last microinstruction if it repeats
        settled = False  # the last microinstruction changed the modulus
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
    """The twin of a ProgramExp; `inspect(fields)` is the status of a request."""
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

    wakes = 0
    if program.wipes_when_refused:  # as after reset
        wakes = timing.cycles(dict.fromkeys(names, 0), None, Status.ZERO_MODULUS) + 1
    return OneAtATimeCL(Request, Response, serve, False, waits=Waits(waits, wakes))
