"""Checkpoints of lab 2: latency, throughput and stalls, against simulations."""

import modexlab
from modexlab.cl.mont_mul_rem import MontMulRemCL
from modexlab.eval.cli.course import Row, student_module
from modexlab.rtl.sim import simulate
from modexlab.rtl.units.mont_mul_rem import MontMulRem

MODULI = {8: 0xC9, 16: 0xB5C3, 32: 0x9B2CB637}  # of full length
UNITS = ((8, 2, 4), (16, 4, 4), (16, 8, 2), (32, 8, 4), (32, 16, 2))  # nbits, steps, stages
MACHINES = ((8, 2, 4), (16, 4, 4), (16, 8, 2), (32, 8, 4), (32, 16, 2), (32, 4, 8))
EXPONENTS = (1, 5, 0b10000001, 0xFF)
COUNT, WAIT = 5, 3
STREAM, MOST_CYCLES, MOST_STEPS, MOST_STAGES = 100, 110, 8, 4


def run(component, nbits, count, wait=0):
    """A stream of products through a unit."""
    with simulate(component, "python") as simulation:
        requests = [(index + 2, 5) for index in range(count)]
        options = {"statics": {"modulus": MODULI[nbits]}, "sink_delays": [wait] * count}
        return simulation.run(requests, **options)


def streams(wait):
    """The cycles of the responses for each unit: of its RTL if it is small, else of its model."""
    for nbits, steps, stages in UNITS:
        for pipelined in (False, True):
            kind = MontMulRem if nbits == 8 else MontMulRemCL
            unit = kind(nbits, steps, stages, pipelined=pipelined)
            settings = {
                "nbits": nbits,
                "steps_per_stage": steps,
                "nstages": stages,
                "pipelined": pipelined,
            }
            name = f"{nbits} bits, {stages} stages of {steps}{', pipelined' * pipelined}"
            yield name, settings, run(unit, nbits, COUNT, wait).done


def latencies(folder):
    """latency: one product

    A product stays one cycle in each stage. How many stages does it pass?
    """
    student = student_module(folder, "predict.py")
    for nbits, steps, stages in UNITS:
        (found,) = run(MontMulRemCL(nbits, steps, stages), nbits, 1).latencies
        settings = {"nbits": nbits, "steps_per_stage": steps}
        yield Row(f"{nbits} bits, {stages} stages of {steps}", student.latency, settings, found)


def throughput(folder):
    """responses: a stream of products

    Without pipelining, the next request is accepted in the cycle in which the response leaves. With it,
    the first stage is free again after one cycle.
    """
    student = student_module(folder, "predict.py")
    for name, settings, done in streams(0):
        yield Row(name, student.responses, {"count": COUNT, **settings}, list(done))


def stalls(folder):
    """stalled: a slow sink

    While a response waits in the last stage, nothing behind it moves. Draw the stages for each cycle.
    """
    student = student_module(folder, "predict.py")
    for name, settings, done in streams(WAIT):
        yield Row(name, student.stalled, {"count": COUNT, "wait": WAIT, **settings}, list(done))


def machine_cycles(nbits, steps, stages, exp, **settings):
    """The cycles of mont-001, simulated at cycle level, which takes as many cycles as the RTL."""
    machine = modexlab.design("mont-001").at(nbits, steps_per_stage=steps, nstages=stages, **settings)
    with machine.session(level="cl") as session:
        (ran,) = session.operate([[(5, exp, MODULI[nbits])]])
    return ran.cycles


def machine(folder):
    """exponentiation: the machine mont-001

    Measure the exponents 1, 2 and 4: how many cycles does one more bit take? Compare 4 stages of 8 with 2
    stages of 16: how many products are made outside the loop? The rest does not depend on the pipeline.
    Compare it at 8, 16 and 32 bits.
    """
    student = student_module(folder, "predict.py")
    for nbits, steps, stages in MACHINES:
        for exp in EXPONENTS:
            name = f"{nbits} bits, {stages} stages of {steps}, exponent {exp:b}"
            arguments = {"exp": exp, "nbits": nbits, "steps_per_stage": steps}
            yield Row(name, student.exponentiation, arguments, machine_cycles(nbits, steps, stages, exp))


def shared_unit(folder):
    """one_unit: products and squares on one unit

    A bit that is 0 needs a square, a bit that is 1 a product too. How long after the product does the
    square leave the unit, with and without pipelining?
    """
    student = student_module(folder, "predict.py")
    for nbits, steps, stages in MACHINES:
        for pipelined in (False, True):
            for exp in EXPONENTS:
                name = (
                    f"{nbits} bits, {stages} stages of {steps}{', pipelined' * pipelined}, exponent {exp:b}"
                )
                arguments = {"exp": exp, "nbits": nbits, "steps_per_stage": steps, "pipelined": pipelined}
                settings = {"pipelined": pipelined, "schedule": "right-to-left-1"}
                cycles = machine_cycles(nbits, steps, stages, exp, **settings)
                yield Row(name, student.one_unit, arguments, cycles)


def choice(folder):
    """CHOICE: a unit for a stream

    Throughput comes from pipelining, the clock from few steps in a stage. More stages than necessary are
    registers that you pay for.
    """
    chosen = student_module(folder, "predict.py").CHOICE

    cycles = run(MontMulRemCL(32, **chosen), 32, STREAM).done[-1]
    for name, value, most in (
        (f"cycles of {STREAM} products", cycles, MOST_CYCLES),
        ("steps_per_stage", chosen["steps_per_stage"], MOST_STEPS),
        ("nstages", chosen["nstages"], MOST_STAGES),
    ):
        yield Row(f"{name}, at most {most}", lambda value, most=most: value <= most, {"value": value}, True)


CHECKPOINTS = (latencies, throughput, stalls, machine, shared_unit, choice)
