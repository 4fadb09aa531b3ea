"""ModExpCL: the cycle-level model of ModExp, a list of steps over the models of its multipliers.

A step is a conversion, a copy, or products that belong together: side by side on two multipliers, in series
on one. It begins in the cycle in which the step before it ends, and ends with the last of its products. Its
factors are offered to the multipliers in that cycle, if the machine forwards them, or in the next one; a
multiplier takes them when it is ready. Meanwhile the leading zeros of the exponent are shifted out, one in
each cycle after the request, and the loop begins when none is left.

No number of cycles is given: they follow from the steps and from the multipliers. Tests compare them with the
formula (timing.py) and with RTL.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import NamedTuple

from pymtl3 import *

from ..fl.mod_exp import operand_status
from ..fl.multipliers.bit_by_bit import reduced
from ..fl.program.plan import Plan
from ..fl.status import STATUS_NBITS, Status
from ..rtl.messages import (
    connect_in_series,
    declare_streams,
    mk_entered_req,
    mk_entered_resp,
    mk_modexp_req,
    mk_modexp_resp,
    trace_conversions,
)
from .mul_rem import divide_aligned
from .one_at_a_time import OneAtATimeCL, counted
from .serial import shift_sub_steps
from .timing import montgomery_status


class Product(NamedTuple):
    """A product of two registers on one of the multipliers, and the registers that it is written to."""

    unit: int
    x: str
    y: str
    to: tuple[str, ...]

    def __str__(self) -> str:
        return f"{', '.join(self.to) or '-'} = {self.x} {self.y}"


@dataclass(frozen=True)
class Step:
    """Products in the order in which they are offered, a conversion of a register, or a copy."""

    products: tuple[Product, ...] = ()
    converts: str = ""
    copies: tuple[tuple[str, str], ...] = ()  # at its end: a register, and the one that it is loaded from
    aligns: bool = False  # it ends when the exponent has no leading zero; at once, if it has none


def steps_of(plan: Plan, exp: int) -> Iterator[Step]:
    """The steps of an exponentiation. Registers: r, the result; b, the base; one, and 1."""
    second = plan.nunits - 1  # the multiplier of the second product
    if plan.conversion == "double":
        yield Step(converts="b")
        if plan.enters_one:
            yield Step(converts="r")
    elif plan.montgomery:
        yield Step(converts="r")  # R^2 mod n, or a root of it
        for _ in range(plan.squarings):
            yield Step((Product(0, "r", "r", ("r",)),))
        base, one = Product(0, "r", "b", ("b",)), Product(second, "r", "1", ("r",))
        if not plan.enters_one:
            yield Step((base,), copies=(("r", "one"),))
        elif plan.conversion == "shift-sub" and plan.dependent:  # paper 004's machines of one multiplier
            yield Step((base,))
            yield Step((one,))
        else:
            yield Step((base, one))
    if plan.aligns:
        yield Step(aligns=True)
    yield from loop_of(plan, exp)
    if plan.enters_one:
        yield Step((Product(0, "r", "1", ("r",)),))


def loop_of(plan: Plan, exp: int) -> Iterator[Step]:
    """The steps for the bits of the exponent."""
    length = plan.nbits if plan.full_scan else exp.bit_length()
    bits = [exp >> i & 1 for i in range(length)]
    times, square = Product(0, "r", "b", ("r",)), Product(0, "r", "r", ("r",))
    if plan.right_to_left:
        base = Product(plan.nunits - 1, "b", "b", ("b",))
        for bit in bits or [0] * plan.steps_once:
            yield Step((times, base) if bit else (base,))
    elif plan.schedule == "ladder":
        for bit in reversed(bits):
            low, high = ("b", "r") if bit else ("r", "b")
            yield Step((Product(0, "r", "b", (high,)), Product(1, low, low, (low,))))
    elif plan.schedule == "always":
        for bit in reversed(bits):
            yield Step((square,))
            yield Step((times if bit else times._replace(to=()),))
    elif bits:
        reduces = Step((times._replace(to=("r", "b")),))  # the base may be at or above the modulus
        yield reduces if plan.reduces_top else Step(copies=(("r", "b"),))
        for bit in bits[-2::-1]:
            yield Step((square,))
            if bit:
                yield Step((times,))


class Offer(NamedTuple):
    """A product with its factors."""

    product: Product
    a: int
    b: int


@dataclass(frozen=True)
class Progress:
    """The rest of an operation, and its registers."""

    steps: tuple[Step, ...]  # the one that runs, and those after it; empty: the result is in r
    registers: dict[str, int]
    offers: tuple[Offer, ...] = ()  # of the step, in order, those that no multiplier has taken
    awaited: tuple[Product, ...] = ()
    zeros: int = 0  # leading zeros of the exponent that are left

    def begun(self) -> "Progress":
        """At the beginning of a step."""
        steps = self.steps
        if steps and steps[0].aligns and not self.zeros:
            steps = steps[1:]
        products = steps[0].products if steps else ()
        held = self.registers
        offers = tuple(Offer(product, held[product.x], held[product.y]) for product in products)
        return replace(self, steps=steps, offers=offers, awaited=products)

    def after(self, arrived: dict[int, int], converted: int | None) -> tuple["Progress", bool]:
        """At the end of a cycle with these products by multiplier; and whether the next step begins."""
        step, held, awaited = self.steps[0], dict(self.registers), list(self.awaited)
        for unit, value in arrived.items():
            product = next(product for product in awaited if product.unit == unit)
            awaited.remove(product)
            held |= dict.fromkeys(product.to, value)
        if converted is not None:
            held[step.converts] = converted
        zeros = max(0, self.zeros - 1)
        now = replace(self, registers=held, awaited=tuple(awaited), zeros=zeros)
        waits = awaited or (step.converts and converted is None) or (step.aligns and zeros)
        if waits:
            return now, False
        held |= {to: held[source] for to, source in step.copies}
        return replace(now, steps=self.steps[1:]).begun(), True


def doublings(x: int, mod: int, count: int, per_cycle: int) -> Generator[None, None, int]:
    """x * 2^count mod n."""
    for _ in range(count // per_cycle):
        for _ in range(per_cycle):
            x = reduced(2 * x, mod)
        yield
    return x


def square_of_r(nbits: int, mod: int) -> Generator[None, None, int]:
    """R^2 mod n as the square of R - n, which is reduced before if n is short (paper 004, section III)."""
    r = (1 << nbits) - mod
    yield  # the request has started the unit
    if not mod >> (nbits - 1):
        r = yield from shift_sub_steps(1, r, mod, nbits, bits_per_cycle=1, until="noticed")
        yield  # the rest is stored
    return (yield from shift_sub_steps(r, r, mod, nbits, bits_per_cycle=1, until="noticed"))


class ModExpCL(Component):
    """The model of ModExp with multipliers of `mk_unit(nbits)`."""

    def construct(s, plan, mk_unit):
        nbits, nunits, forward = plan.nbits, plan.nunits, plan.forward
        Request, Response = mk_modexp_req(nbits), mk_modexp_resp(nbits)
        if plan.screened:
            Request, Response = mk_entered_req(nbits), mk_entered_resp(nbits)
        declare_streams(s, Request, Response)
        s.units = [mk_unit(nbits) for _ in range(plan.nunits)]
        s.connect_ports(plan)
        idle = Progress((), {"r": 0})
        # at the beginning and at the end of this cycle; whether a step begins with that; what is offered
        s.memory = memory = SimpleNamespace(now=idle, then=idle, begins=False, offers=(), step=0)

        @update
        def in_rdy():
            s.istream.rdy @= ~s.busy & ~s.answers

        @update
        def work():
            now = memory.now
            memory.begins, memory.then, offers = False, now, now.offers
            if s.busy:
                arrived = {i: int(s.units[i].ostream.msg) for i in range(nunits) if s.units[i].ostream.val}
                memory.then, memory.begins = now.after(arrived, int(s.converted) if s.convert_done else None)
                if memory.begins:
                    offers = memory.then.offers if forward else ()
            elif s.istream.val & ~s.answers:
                memory.begins, memory.then = True, first(plan, s.istream.msg)
            memory.offers = offers
            for i in range(nunits):
                mine = [offer for offer in offers if offer.product.unit == i]
                s.units[i].istream.val @= int(bool(mine))
                s.units[i].istream.msg.a @= mine[0].a if mine else 0
                s.units[i].istream.msg.b @= mine[0].b if mine else 0
            converts = memory.then.steps[0].converts if memory.begins and memory.then.steps else ""
            s.convert_val @= int(bool(converts))
            s.convert_in @= memory.then.registers.get(converts, 0)

        @update_ff
        def state():
            if s.reset:
                s.busy <<= 0
                s.answers <<= 0
            elif s.answers:
                s.answers <<= ~s.ostream.rdy
            elif s.busy | s.istream.val:
                offers = list(memory.then.offers)
                for i, unit in enumerate(s.units):
                    if unit.istream.val & unit.istream.rdy:
                        offers.remove(next(offer for offer in offers if offer.product.unit == i))
                memory.now = replace(memory.then, offers=tuple(offers))
                memory.step = memory.step + memory.begins if s.busy else 0
                s.busy <<= int(bool(memory.then.steps))
                s.answers <<= int(not memory.then.steps)
                s.result <<= memory.then.registers["r"]
                if ~s.busy:
                    s.status <<= int(status_of(plan, s.istream.msg))
                    s.modulus <<= s.istream.msg.mod

    def connect_ports(s, plan):
        """The answer, the multipliers, and the converter if there is one."""
        nbits = plan.nbits
        s.busy = Wire()
        s.answers = Wire()
        s.status = Wire(STATUS_NBITS)
        s.modulus = Wire(nbits)
        s.result = Wire(nbits)
        s.ostream.val //= s.answers
        s.ostream.msg.status //= s.status
        s.ostream.msg.result //= s.result
        if plan.screened:
            s.ostream.msg.mod //= s.modulus
        for unit in s.units:
            unit.modulus //= s.modulus
            unit.ostream.rdy //= 1
        s.convert_val, s.convert_done = Wire(), Wire()
        s.convert_in, s.converted = Wire(nbits), Wire(nbits)
        if plan.montgomery:
            s.add_converter(plan)
        else:
            s.convert_done //= 0
            s.converted //= 0

    def add_converter(s, plan):
        """The model of ModDouble, or of SquareOfR, which paper 004's machines have."""
        Word = mk_bits(plan.nbits)
        shift_sub = plan.conversion == "shift-sub"

        def converted(x, mod):
            if shift_sub:
                work = square_of_r(plan.nbits, mod)
            else:
                work = doublings(int(x), mod, plan.doublings, plan.doublings_per_cycle)
            value, cycles = counted(work)
            return Word(value), cycles

        s.converter = OneAtATimeCL(Word, Word, converted, not shift_sub, plan.nbits)
        s.converter.istream.val //= s.convert_val
        s.converter.istream.msg //= s.convert_in
        s.converter.ostream.val //= s.convert_done
        s.converter.ostream.msg //= s.converted
        s.converter.ostream.rdy //= 1

        @update
        def modulus_of_converter():
            s.converter.modulus @= s.modulus if s.busy else s.istream.msg.mod

    def line_trace(s):
        units = " ".join("*" if unit.ostream.val else "." for unit in s.units)
        return f"{s.istream}|{s.memory.step:3d}|{units}|{s.ostream}"


def status_of(plan, request):
    """The status of a request."""
    if plan.screened:
        return int(request.status)
    base, mod = int(request.base), int(request.mod)
    return operand_status(base, mod, odd_only=plan.odd_only, reduced_only=plan.reduced_only)


def first(plan, request):
    """An operation at its request; a refused one has no steps, and the result 0."""
    if status_of(plan, request) != Status.OK:
        return Progress((), {"r": 0})
    exp = int(request.exp)
    one = int(request.one) if plan.conversion == "given" else int(request.mod != 1)
    registers = {"r": one, "b": int(request.base), "one": one, "1": 1}
    zeros = plan.nbits - exp.bit_length() if plan.aligns else 0
    return Progress(tuple(steps_of(plan, exp)), registers, zeros=zeros).begun()


# ---- paper 001's machine between converters


class MontConvertInCL(Component):
    """The model of MontConvertIn: R^2 mod n by an aligned division, then two products with it."""

    def construct(s, nbits, mk_unit):
        Request, Entered = mk_modexp_req(nbits), mk_entered_req(nbits)
        Word = mk_bits(nbits)
        declare_streams(s, Request, Entered)
        s.held = Wire(Request)
        s.status = Wire(STATUS_NBITS)
        s.busy, s.bad = Wire(), Wire()
        s.both = Wire()  # both products are there

        def divided(mod, _):
            remainder, cycles = counted(divide_aligned(1 << 2 * nbits, int(mod)))
            return Word(remainder), cycles

        s.divider = OneAtATimeCL(Word, Word, divided, False)
        s.divider.istream.msg //= s.istream.msg.mod
        s.units = [mk_unit(nbits) for _ in range(2)]
        s.units[0].istream.msg.a //= 1
        s.units[1].istream.msg.a //= s.held.base
        for unit in s.units:
            unit.modulus //= s.held.mod
            unit.istream.msg.b //= s.divider.ostream.msg
            unit.istream.val //= s.divider.ostream.val
        s.ostream.msg.status //= s.status
        s.ostream.msg.one //= s.units[0].ostream.msg
        s.ostream.msg.base //= s.units[1].ostream.msg
        s.ostream.msg.exp //= s.held.exp
        s.ostream.msg.mod //= s.held.mod

        @update
        def handshakes():
            good = montgomery_status(int(s.istream.msg.base), int(s.istream.msg.mod)) == Status.OK
            s.istream.rdy @= ~s.busy
            s.divider.istream.val @= s.istream.val & ~s.busy & int(good)
            s.divider.ostream.rdy @= s.units[0].istream.rdy & s.units[1].istream.rdy
            s.both @= s.units[0].ostream.val & s.units[1].ostream.val
            s.ostream.val @= s.bad | s.both
            s.units[0].ostream.rdy @= s.both & s.ostream.rdy
            s.units[1].ostream.rdy @= s.both & s.ostream.rdy

        @update_ff
        def state():
            if s.reset:
                s.busy <<= 0
                s.bad <<= 0
            elif s.istream.val & s.istream.rdy:
                status = montgomery_status(int(s.istream.msg.base), int(s.istream.msg.mod))
                s.busy <<= 1
                s.bad <<= int(status != Status.OK)
                s.status <<= int(status)
                s.held <<= s.istream.msg
            elif s.ostream.val & s.ostream.rdy:
                s.busy <<= 0
                s.bad <<= 0

    def line_trace(s):
        return f"{s.istream}|{s.divider.line_trace()}|{s.ostream}"


class MontConvertOutCL(Component):
    """The model of MontConvertOut: a product with 1."""

    def construct(s, nbits, mk_unit):
        declare_streams(s, mk_entered_resp(nbits), mk_modexp_resp(nbits))
        s.busy = Wire()
        s.status = Wire(STATUS_NBITS)
        s.modulus = Wire(nbits)
        s.unit = mk_unit(nbits)
        s.unit.modulus //= s.modulus
        s.unit.istream.msg.a //= s.istream.msg.result
        s.unit.istream.msg.b //= 1
        s.unit.ostream.rdy //= s.ostream.rdy
        s.ostream.val //= s.unit.ostream.val
        s.ostream.msg.result //= s.unit.ostream.msg
        s.ostream.msg.status //= s.status

        @update
        def handshakes():
            s.istream.rdy @= ~s.busy & s.unit.istream.rdy
            s.unit.istream.val @= ~s.busy & s.istream.val

        @update_ff
        def state():
            if s.reset:
                s.busy <<= 0
            elif s.istream.val & s.istream.rdy:
                s.busy <<= 1
                s.status <<= s.istream.msg.status
                s.modulus <<= s.istream.msg.mod
            elif s.ostream.val & s.ostream.rdy:
                s.busy <<= 0

    def line_trace(s):
        return f"{s.istream}|{s.unit.line_trace()}|{s.ostream}"


class MontModExpCL(Component):
    """The model of MontModExp, three models in series."""

    def construct(s, plan, mk_unit):
        nbits = plan.nbits
        declare_streams(s, mk_modexp_req(nbits), mk_modexp_resp(nbits))
        s.convert_in = MontConvertInCL(nbits, mk_unit)
        s.mod_exp = ModExpCL(plan, mk_unit)
        s.convert_out = MontConvertOutCL(nbits, mk_unit)
        connect_in_series(s, s.convert_in, s.mod_exp, s.convert_out)

    line_trace = trace_conversions
