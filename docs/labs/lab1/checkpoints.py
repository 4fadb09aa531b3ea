"""Checkpoints of lab 1: one product at three levels."""

from functools import partial
from random import Random

import modexlab
from modexlab.eval.cli.course import Row, student_module
from modexlab.eval.designs.interfaces import STREAM
from modexlab.fl.multipliers.montgomery import Montgomery

NBITS = 8
EXPONENTS = (1, 5, 6, 11, 128, 200, 255)
BASE, MODULUS = 5, 13


def operands(nbits):
    """Named operands: corners first, then drawn ones."""
    generator = Random(f"lab 1, {nbits} bits")
    top = (1 << nbits) - 1
    yield "modulus 1", (0, 0, 1)
    yield "largest * largest", (top - 1, top - 1, top)
    yield "product of the factors of m", (3, 5, 15)
    for index in range(30):
        m = generator.getrandbits(nbits) | 1
        yield f"drawn {index}", (generator.randrange(m), generator.randrange(m), m)


def accelerator(folder, nbits=NBITS):
    """The student's accelerator."""
    student_module(folder, "accelerator.py")
    return modexlab.accelerator(folder).at(nbits)


def functional(folder):
    """fl: the function

    The product is a * b * R^-1 mod m with R = 2^nbits. In Python, pow(x, -1, m) is the inverse of x
    modulo m.
    """
    for nbits in (NBITS, 16):
        student = accelerator(folder, nbits)
        for name, (a, b, m) in operands(nbits):
            yield Row(
                f"{name}, {nbits} bits",
                student.fl,
                {"a": a, "b": b, "m": m},
                Montgomery(m, nbits).product(a, b),
            )


def corner_row(folder):
    """rows: a request that finds the fault in rtl.py

    After the last step the sum can equal m. Then a * b is a multiple of m although neither factor is 0.
    The modulus must have two factors for that, such as 15 = 3 * 5.
    """
    requests = [row.request for row in accelerator(folder).rows()]

    def finds_the_fault():
        return any(a and b and a * b % m == 0 for a, b, m in requests)

    yield Row("one request with a, b > 0 and a * b = 0 mod m", finds_the_fault, {}, True)


def levels(folder):
    """rtl.py and cycles: the levels agree

    Run `modexlab run --accelerator lab1 --field a=7 --field b=9 --field m=13 --trace`, and count the
    lines from the request to the response. If there is no response, the state machine does not reach
    DONE. If a response equals m, a subtraction did not happen.
    """
    student = accelerator(folder)
    named = dict(operands(NBITS))
    with student.session(level="rtl", backend="python") as session:
        (ran,) = session.operate([list(named.values())])
    for (name, (a, b, m)), (p,) in zip(named.items(), ran.responses, strict=True):
        yield Row(f"{name}, RTL", lambda a, b, m, p=p: p, {"a": a, "b": b, "m": m}, student.fl(a, b, m))
    for nbits in (NBITS, 5):
        agree = partial(modexlab.check_levels, accelerator(folder, nbits), ("cl", "python"))
        yield Row(f"the table at {nbits} bits", lambda agree=agree: bool(agree()), {}, True)


def simulated(exp):
    """The middle column of the trace of the RTL."""
    lines = []
    machine = modexlab.design("mont").at(NBITS)
    with machine.simulation(STREAM, "rtl", "python", trace=lambda _, text: lines.append(text)) as simulation:
        simulation.run([(BASE, exp, MODULUS)])
    return ["|".join(part.strip() for part in line.split("|")[1:3]) for line in lines]


def trace(folder):
    """trace.py: the trace of `mont`

    Print the traces of exponents 5, 6 and 8. The lines of one state depend on the exponent.
    Read it in binary from its lowest bit.
    """
    student = student_module(folder, "trace.py")
    for exp in EXPONENTS:
        yield Row(f"exponent {exp:b} in binary", student.column, {"exp": exp}, simulated(exp))


CHECKPOINTS = (functional, corner_row, levels, trace)
