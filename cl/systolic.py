"""SystolicMontCL and SystolicModExpCL: the cycle-level models of paper 002's multiplier and exponentiator,
and their formulas.

The models are wavefronts: each step of a product is a generator that adds a word in each element of the array
and goes to the next one in the next cycle. A product ends with its last step. No number of cycles is given:
they follow from the cycles of a step, and from when words arrive; tests compare them with the formulas and
with RTL.

With s words of k bits, a product starts P = 3s + 2 cycles after the previous one (its words are consumed as
those of the previous product leave):

    a product, all words at once:   4s + 1
    an exponentiation:              max(P, a + 1) + (2 len + 1) P + s - 1

len is the length of the exponent. Its z leading zeros of nbits take a = floor(z / k) + z mod k shifts (z, if
the machine has at most one word). The formula has the 2 len + 2 products of the paper, and s - 1 cycles until
the last word arrives.

Our own machine, on a scaled modulus of L digits, has P = 2 (L + 1) and takes 2 + a + 2 len P + L cycles, or 2
+ a for exponent 0 (between the converters of scaled_mod_exp.py).
"""

from functools import partial

from ..fl.multipliers.scaled import ScaledShape
from ..fl.multipliers.systolic import SystolicShape, step
from ..fl.status import Status
from .one_at_a_time import stepped_cl, stepped_mod_exp_cl, together
from .timing import FixedTiming, montgomery_status


def systolic_interval(shape: SystolicShape) -> int:
    """Cycles from one product to the next."""
    return 3 * shape.nwords + 2


def systolic_timing(shape: SystolicShape) -> FixedTiming:
    """Timing of SystolicMont, whose product is complete when its last word is."""
    return FixedTiming(4 * shape.nwords + 1)


def systolic_status(shape: SystolicShape, base: int, mod: int) -> Status:
    """The status of these operands."""
    if mod.bit_length() > shape.modulus_nbits:
        return Status.TOO_WIDE
    return montgomery_status(base, mod)


def systolic_mod_exp_cycles(shape: SystolicShape, base: int, exp: int, mod: int) -> int:
    """Cycles of SystolicModExp."""
    if systolic_status(shape, base, mod):
        return 1
    interval = systolic_interval(shape)
    length = exp.bit_length()
    return (
        max(interval, aligns(shape.nbits, shape.digit_nbits, length) + 1)
        + (2 * length + 1) * interval
        + shape.nwords
        - 1
    )


def aligns(nbits: int, k: int, length: int) -> int:
    """The number of shifts, by k bits and by one bit, that bring the highest 1 of the exponent into place."""
    zeros = nbits - length
    return zeros // k + zeros % k if nbits > k else zeros


def scaled_array_timing(shape: ScaledShape) -> FixedTiming:
    """Timing of ScaledArray: products without a pause."""
    return FixedTiming(2 * shape.nsteps)


def systolic_exp_cycles(shape: ScaledShape, exp: int, status: int) -> int:
    """Cycles of SystolicExp, between its converters."""
    if status:
        return 1
    length = exp.bit_length()
    start = 2 + aligns(shape.nbits, shape.digit_nbits, length)
    return start + (2 * length * scaled_array_timing(shape).cycles + shape.ndigits if length else 0)


# ---- the models


LEFT = object()  # in the place of a step that has ended


class Wavefront:
    """A row of processing elements. Each step in it is a generator, at the next element in the next cycle."""

    def __init__(self):
        self.steps = []

    def enter(self, step):
        """Let a step begin at the first element, in this cycle."""
        self.steps.append(step)

    def run(self, control):
        """The cycles of a control that lets steps enter, and those until all steps have left."""
        for _ in control:
            self._move()
            yield
        while self.steps:
            self._move()
            yield

    def _move(self):
        self.steps = [step for step in self.steps if next(step, LEFT) is not LEFT]


def systolic_product(shape, row, x, y, m, n_prime, store):
    """The cycles until the next product can begin on the words of this one; `store` gets each word and its
    index.
    """
    mask, last = (1 << shape.digit_nbits) - 1, shape.nwords - 1
    a = [0] * shape.nwords
    stored = [False] * shape.nwords

    def keep(j):
        store(j, a[j])
        stored[j] = True

    def leave(last_step):
        for j in last_step:
            if j:
                keep(j - 1)
            if j == last:
                keep(j)
            else:
                yield

    for i in range(shape.nwords):
        x_i = x[i]
        yield  # x_i arrives, and its product with y_0
        yield  # the first element multiplies, while the second one stores a_0
        u_i = (a[0] + x_i * y[0]) * n_prime & mask
        yield  # the first element adds; it stores in the next cycle
        added = step(shape, a, x_i, u_i, y, m)
        row.enter(leave(added) if i == last else added)
    while not stored[0]:
        yield


def alignment(zeros, digit_nbits):
    """Leading zeros are shifted out, a digit of them in a cycle, or one."""
    while zeros:
        zeros -= digit_nbits if zeros >= digit_nbits else 1
        yield
    yield  # the highest bit is 1, or none is left


def shifted_at_once(nbits, digit_nbits):
    """The number of zeros that a cycle shifts out: a digit of an exponent that has more."""
    return digit_nbits if nbits > digit_nbits else 1


def bits_of(exp):
    """The bits of an exponent, the highest first."""
    return [exp >> i & 1 for i in reversed(range(exp.bit_length()))]


def into(register):
    """The words of a product go into a register, or nowhere."""

    def store(j, word):
        if register is not None:
            register[j] = word

    return store


def SystolicMontCL(shape):
    """The model of SystolicMont."""

    def work(a, b, n):
        result = [0] * shape.nwords
        x, y, m = map(shape.words, (a, b, n))
        row = Wavefront()
        yield  # the operands are stored
        yield from row.run(systolic_product(shape, row, x, y, m, shape.inverse(n), into(result)))
        return shape.number(result)

    return stepped_cl(shape.wide, work)


def SystolicModExpCL(shape, given):
    """The model of SystolicModExp."""

    def work(base, exp, mod, one, square, n_prime):
        x, power, other, m = map(shape.words, (base, square, one, mod))
        row = Wavefront()

        def product(factor, store):
            return systolic_product(shape, row, factor, power, m, n_prime, store)

        def enter(j, word):
            x[j], power[j] = word, other[j]

        def control():
            zeros = alignment(shape.nbits - exp.bit_length(), shifted_at_once(shape.nbits, shape.digit_nbits))
            yield from together(product(x, enter), zeros)
            for bit in bits_of(exp):
                yield from product(power, into(power))
                yield from product(x, into(power if bit else None))
            yield from product(shape.words(1), into(power))

        yield  # the operands are stored
        yield from row.run(control())
        result = shape.number(power)
        return 0 if result == mod else result

    return stepped_mod_exp_cl(shape.nbits, partial(systolic_status, shape), work, given)
