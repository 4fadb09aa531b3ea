"""Checkpoints of lab 3: a multiplier in a machine, and an accelerator of another kind."""

from functools import partial
from random import Random

import modexlab
from modexlab.eval.cli.course import Row, student_module
from modexlab.rtl.sim import Stall, simulate

NBITS, BITS = 8, (1, 2, 4)
STALL = Stall(1, 0.3, 0.3)
PRODUCTS = {
    "0 * 0 mod 1": (0, 0, 1),
    "largest * largest": (254, 254, 255),
    "2 p = m": (5, 4, 10),
    "an even modulus": (11, 7, 12),
    "the product is 0": (3, 5, 15),
    **{
        f"drawn {seed}": (Random(seed).randrange(200), Random(-seed).randrange(200), 200 + seed)
        for seed in range(12)
    },
}
POWERS = ((5, 5, 13), (7, 200, 255), (3, 65, 254), (0, 9, 11), (8, 1, 9))
SCHEDULES = ("right-to-left-2", "ladder", "always")


def design(folder):
    """The student's multiplier in a machine."""
    return student_module(folder / "blakley", "accelerator.py").DESIGN


def run(unit, stall=None):
    """All products, through a unit at a level."""
    with simulate(unit, "python") as simulation:
        statics = [{"modulus": m} for *_, m in PRODUCTS.values()]
        return simulation.run(
            [(a, b) for a, b, _ in PRODUCTS.values()], statics=statics, stall=stall, max_cycles=2000
        )


def products(folder):
    """blakley/rtl.py: products

    If rows fail, pick one with a small modulus and check p after each step with pencil and paper. The
    sum 2 p + b is below 3 m, so one subtraction is not enough. Subtract if p = m, too.
    """
    for bits in BITS:
        unit = design(folder).at(NBITS, bits_per_cycle=bits).multiplier()
        for (name, (a, b, m)), p in zip(PRODUCTS.items(), run(unit).responses, strict=True):
            arguments = {"bits_per_cycle": bits, "a": a, "b": b, "m": m}
            yield Row(name, lambda p=p, **_: int(p), arguments, a * b % m)


def levels(folder):
    """blakley/accelerator.py: FL, CL and the formula

    `product` is one line, and so is `cycles`. The unit stores its operands in one cycle, and spends another
    for each group of bits. `steps` yields once for each of these cycles, and then returns the product.
    """
    student = student_module(folder / "blakley", "accelerator.py")
    for name, (a, b, m) in PRODUCTS.items():
        yield Row(f"FL, {name}", student.product, {"a": a, "b": b, "m": m}, a * b % m)
    for bits in BITS:
        machine = design(folder).at(NBITS, bits_per_cycle=bits)
        for stall in (None, STALL):
            hardware, model = run(machine.multiplier(), stall), run(machine.build.unit.cl(NBITS), stall)
            name = f"cycles of the responses, {bits} bits in a cycle{', stalled' * bool(stall)}"
            yield Row(name, lambda model=model: list(model.done), {}, list(hardware.done))
            yield Row(f"products at CL: {name}", lambda model=model: model.responses, {}, hardware.responses)
        yield Row(
            "cycles by the formula",
            student.cycles,
            {"nbits": NBITS, "bits_per_cycle": bits},
            run(machine.multiplier()).latencies[0],
        )


def powers(folder):
    """blakley in a machine: powers

    If the products are right and a power is wrong, look at the handshakes: `rdy` must wait for the
    response, and the operands must stay while the unit is busy.
    """
    for schedule in SCHEDULES:
        machine = design(folder).at(NBITS, bits_per_cycle=2, schedule=schedule)
        with machine.session(level="rtl", backend="python") as session:
            (ran,) = session.operate([list(POWERS)])
        for (base, exp, mod), (_, result) in zip(POWERS, ran.responses, strict=True):
            arguments = {"base": base, "exp": exp, "mod": mod}
            yield Row(schedule, lambda result=result, **_: int(result), arguments, pow(base, exp, mod))


def hamming(folder, **settings):
    """The student's accelerator of another kind."""
    student_module(folder / "hamming", "accelerator.py")
    return modexlab.accelerator(folder / "hamming").at(32, **settings)


def distances(folder):
    """hamming: the function and its table

    In Python, `(x).bit_count()` counts ones. The table needs the two ends: no bit differs, and all bits
    differ.
    """
    student = hamming(folder)
    generator = Random("lab 3")
    for index in range(40):
        a, b = generator.getrandbits(32), generator.getrandbits(index % 33)
        yield Row(f"drawn {index}", student.fl, {"a": a, "b": b}, (a ^ b).bit_count())
    found = {(a ^ b).bit_count() for a, b in (row.request for row in student.rows())}
    for distance in (0, 32):
        yield Row(f"a row with distance {distance}", lambda wanted=distance: wanted in found, {}, True)


def hamming_levels(folder):
    """hamming: all levels, and a parameter

    `params = (Param("bits", 1, (1, 2, 4, 8), "..."),)` declares it. With more bits in a cycle the
    response must come earlier: pass `self.bits` to the component, and use it in `cycles`.
    """
    for bits in (1, 4):
        agree = partial(modexlab.check_levels, hamming(folder, bits=bits), ("cl", "python"))
        yield Row(f"the table with bits={bits}", lambda agree=agree: bool(agree()), {}, True)
    slow, fast = (hamming(folder, bits=bits).cycles(a=1, b=2) for bits in (1, 4))
    yield Row("cycles with bits=4", lambda: fast < slow, {}, True)


CHECKPOINTS = (products, levels, powers, distances, hamming_levels)
