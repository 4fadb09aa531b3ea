"""Checkpoints of lab 6: a front, a defended design, three attacks, and their cures."""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from random import Random

import modexlab
from modexlab.eval.cli.course import Row, student_module
from modexlab.eval.cli.main import main
from modexlab.eval.designs.interfaces import STREAM
from modexlab.eval.lab.space import Space

NBITS, BASE, MODULUS = 8, 5, 201
SECRETS = (1, 5, 6, 77, 128, 171, 200, 255)
KEYS = ((199, 193), (251, 241), (65521, 65519))  # primes, for which e = 65537 has an inverse
E = 65537
FEWEST_POINTS, FEWEST_WORDS = 4, 50
ATTACKED = {"schedule": "left-to-right"}


def fronts(folder):
    """explore.py: front

    A point is on the front unless another one is nowhere worse and somewhere better. Equal points do not
    dominate one another. Return a sorted list of tuples.
    """
    student = student_module(folder, "explore.py")
    generator = Random("lab 6")
    for size in (1, 2, 3, 10, 30):
        for costs in (2, 3):
            points = list({tuple(generator.randrange(9) for _ in range(costs)) for _ in range(size)})
            expected = sorted(
                p for p in points if not any(q != p and all(map(int.__le__, q, p)) for q in points)
            )
            yield Row(f"{len(points)} points", student.front, {"points": points}, expected)


def defended(folder):
    """space.toml and explore.py: a design of your front

    Sweep a space of at least four points first; the checkpoint takes the figures from your store. CHOICE
    names the parameters as the table of the sweep does.
    """
    student = student_module(folder, "explore.py")
    yield Row("HYPOTHESIS is written", lambda: len(student.HYPOTHESIS.split()) > 5, {}, True)
    yield Row(
        f"DEFENCE has {FEWEST_WORDS} words", lambda: len(student.DEFENCE.split()) >= FEWEST_WORDS, {}, True
    )
    space = folder / "space.toml"
    count = len(list(Space.load(str(space)).points()))
    yield Row(
        f"at least {FEWEST_POINTS} points", lambda points: points >= FEWEST_POINTS, {"points": count}, True
    )
    with redirect_stderr(StringIO()):
        sweep = modexlab.sweep(space)
    chosen = [
        member.measured.point
        for found in sweep.fronts.values()
        for _, member in found.sorted()
        if student.CHOICE.items() <= member.measured.point.machine.parameters.items()
    ]
    yield Row(
        "CHOICE is on a front", lambda CHOICE: bool(CHOICE and chosen), {"CHOICE": student.CHOICE}, True
    )


def machine(settings):
    return modexlab.design("mont").at(NBITS, **settings)


def column(settings, exp):
    """The middle column of the trace of the RTL."""
    lines = []
    made = machine(settings)
    with made.simulation(STREAM, "rtl", "python", trace=lambda _, text: lines.append(text)) as simulation:
        simulation.run([(BASE, exp, MODULUS)])
    return ["|".join(part.strip() for part in line.split("|")[1:3]) for line in lines]


def timing(folder):
    """attacks.py: timing

    Compare the cycles of 128, 129 and 131: one more bit that is 1 each time.
    """
    student = student_module(folder, "attacks.py")
    for secret in range(1 << (NBITS - 1), 1 << NBITS, 9):
        arguments = {"cycles": len(column(ATTACKED, secret)) - 1}
        yield Row("a secret exponent", student.ones, arguments, secret.bit_count())


def power(folder):
    """attacks.py: simple power analysis

    Two states of the loop offer a product. One is there for each bit behind the first, the other one for
    bits that are 1. Begin with the exponent 1, and read from the highest bit.
    """
    student = student_module(folder, "attacks.py")
    for secret in SECRETS:
        yield Row("a secret exponent", student.exponent, {"column": column(ATTACKED, secret)}, secret)


def signature(message, p, q, fault):
    """A signature by CRT whose half modulo q is changed by a fault."""
    n, d = p * q, pow(E, -1, (p - 1) * (q - 1))
    sp, sq = pow(message, d, p), pow(message, d, q) ^ fault
    return (sp + p * ((sq - sp) * pow(p, -1, q) % q)) % n


def faults(folder):
    """attacks.py: a fault on CRT

    Let s be wrong modulo q alone. Then s^e - m is a multiple of p, and no multiple of q. Which function
    of Python's `math` finds a common factor?
    """
    student = student_module(folder, "attacks.py")
    for p, q in KEYS:
        for message, fault in ((2, 1), (1234, 4), (7777, 2)):
            wrong = signature(message, p, q, fault)
            arguments = {"n": p * q, "e": E, "message": message % (p * q), "signature": wrong}
            yield Row("a wrong signature", student.prime, arguments, p)


def mended_timing(folder):
    """mend.py: TIMING

    `modexlab show mont` lists the schedules, and says which settings take the same number of cycles for
    all exponents. The trace must not depend on the exponent either.
    """
    settings = student_module(folder, "mend.py").TIMING
    first = column(settings, SECRETS[0])
    for secret in SECRETS:
        yield Row(
            "cycles",
            lambda exp: machine(settings).cycles(BASE, exp, MODULUS),
            {"exp": secret},
            len(first) - 1,
        )
        yield Row("trace", lambda exp: column(settings, exp), {"exp": secret}, first)


def mended_faults(folder):
    """mend.py: FAULTS

    The machine can raise the signature to the public exponent and compare it with the message before it
    releases it: `modexlab attack faults --help`.
    """
    settings = student_module(folder, "mend.py").FAULTS
    yield Row("CRT is used", lambda: settings.get("crt"), {}, True)
    options = [f"--set={name}={str(value).lower()}" for name, value in settings.items() if name != "crt"]
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        code = main(
            ["attack", "faults", "mont-keyed", "--nbits", "16", "--crt", "--samples", "400", *options]
        )
    yield Row("exit code of 400 faults, 1: a wrong result left", lambda: code, {}, 0)


CHECKPOINTS = (fronts, defended, timing, power, faults, mended_timing, mended_faults)
