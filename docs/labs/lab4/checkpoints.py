"""Checkpoints of lab 4: programs on the processor with accelerators, and Amdahl's law."""

import functools
import json
from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO
from pathlib import Path

from modexlab.eval.cli.course import Row, student_module
from modexlab.eval.cli.main import main
from modexlab.fl.errors import BadInput

EXPONENT, MODULUS = 65537, 2603398711  # of work.h
SOFTWARE = Path(__file__).parent / "starter" / "software.c"
PORT, BUS = ("--xcel", "mont"), ("--xcel", "mont", "--interface", "axi4lite")
PARTS = (Fraction(1, 2), Fraction(9, 10), Fraction(4, 7))
FACTORS = (2, 30, 1000)


def ran(program, *options):
    """The report of a program on the pipeline; again if its text has changed."""
    if not program.is_file():
        raise BadInput(f"{program} is missing; `modexlab new lab 4` writes it")
    return _ran(program, program.read_text(), options)


@functools.lru_cache
def _ran(program, text, options):
    with redirect_stdout(StringIO()) as output:
        main(["proc", str(program), *options, "--json"])
    if not output.getvalue():
        raise BadInput(f"{program.name} does not run; see `modexlab proc {program.name} {' '.join(options)}`")
    return json.loads(output.getvalue())


def amdahl(folder):
    """amdahl.py: the law

    Call the old time 1. The part takes `fraction` of it, and afterwards fraction / factor. The rest
    stays.
    """
    student = student_module(folder, "amdahl.py")
    for part in PARTS:
        for factor in FACTORS:
            after = (1 - part) + part / factor  # in units of the time before
            arguments = {"fraction": float(part), "factor": factor}
            yield Row("speedup", student.speedup, arguments, float(1 / after))
            target = float(1 / after)
            arguments = {"fraction": float(part), "target": target}
            yield Row("needed", student.needed, arguments, float(factor))
        yield Row("limit", student.limit, {"fraction": float(part)}, float(1 / (1 - part)))
        beyond = {"fraction": float(part), "target": float(1 / (1 - part)) + 0.1}
        yield Row("needed, beyond the limit", student.needed, beyond, None)


def results(program, *options):
    """Results of a program: the messages are those of the software, the powers those of Python."""
    messages = ran(SOFTWARE)["output"][::2]
    output = ran(program, *options)["output"]
    for index, message in enumerate(messages):
        found = tuple(output[2 * index : 2 * index + 2])
        yield Row(
            f"message and power {index}",
            lambda message, found=found: found,
            {"message": message},
            (message, pow(message, EXPONENT, MODULUS)),
        )


def port(folder):
    """port.c: the accelerator port

    Write base, exponent and modulus, then XCEL_GO. A read of XCEL_STATUS waits until the operation is
    done.
    """
    yield from results(folder / "port.c", *PORT)


def bus(folder):
    """bus.c: the bus

    `modexlab_init(&machine, BUS_BASE)` and `modexlab_load_key` once, then for each message
    `modexlab_start` (a base of one word), `modexlab_wait` and `modexlab_read`. Each returns 0 if all is
    well.
    """
    yield from results(folder / "bus.c", *BUS)
    slower = (
        ran(folder / "bus.c", *BUS)["window"]["cycles"] > ran(folder / "port.c", *PORT)["window"]["cycles"]
    )
    yield Row("the window takes longer than that of port.c", lambda: slower, {}, True)


def prediction(folder):
    """amdahl.py and port.c: the law predicts the measurement

    The fraction is that of the stats window in software.c, the factor compares both windows.
    """
    before, after = ran(SOFTWARE), ran(folder / "port.c", *PORT)
    arguments = {
        "fraction": before["window"]["cycles"] / before["cycles"],
        "factor": before["window"]["cycles"] / after["window"]["cycles"],
    }
    student = student_module(folder, "amdahl.py")
    yield from results(folder / "port.c", *PORT)
    yield Row("the whole run", student.speedup, arguments, before["cycles"] / after["cycles"])


CHECKPOINTS = (amdahl, port, bus, prediction)
