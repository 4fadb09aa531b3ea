"""Checkpoints of lab 5: area, slack and energy, measured again through the flow."""

import functools

import modexlab
from modexlab.eval.cli.course import Row, student_module
from modexlab.eval.designs.interfaces import UNIT

NBITS, PERIOD_NS = 16, 2.0
MOST_NS, MOST_UM2 = 10, 2500
PIPELINES = {"FOUR_STAGES": (4, 4), "TWO_STAGES": (2, 8)}  # stages, steps in a stage
METRICS = {
    "area_um2": "area_um2",
    "slack_ns": "wns_ns",
    "clean_nj": "energy_nj",
    "glitch_nj": "energy_inertial_nj",
}


@functools.cache
def measured(nstages, steps):
    """The figures of a product unit; the products of an earlier run of the flow are used again."""
    machine = modexlab.design("mont-001").at(NBITS, nstages=nstages, steps_per_stage=steps)
    point = modexlab.point(machine, "product", stage="flow", interface=UNIT, clock_period=PERIOD_NS)
    return modexlab.measure(point)


def filled(student, name):
    """The figures that the student has noted; all of them before anything is measured."""
    noted = getattr(student, name)
    for key in METRICS:
        if not isinstance(noted.get(key), (int, float)):
            raise modexlab.BadInput(f"{name} has no number for {key!r}; measure it, and note it")
    return noted


def figures(folder):
    """FOUR_STAGES and TWO_STAGES: your measurements

    Measure the multiplier alone: `--interface unit --nbits 16 --clock 2`. The slack is the first one,
    without wires. The energy of a product has three values: clean_nj is the one without glitches, and
    glitch_nj the first.
    """
    student = student_module(folder, "joules.py")
    noted = {name: filled(student, name) for name in PIPELINES}
    for name, pipeline in PIPELINES.items():
        for key, metric in METRICS.items():
            found = noted[name][key]
            expected = float(measured(*pipeline).value(metric))
            yield Row(f"{name}[{key!r}]", lambda found=found: float(found), {}, expected)


def formulas(folder):
    """joules.py: clock, time and energy

    The longest path takes the clock period less the slack. A positive slack does not make a product
    faster, as the clock stays. Milliwatts times nanoseconds are picojoules.
    """
    student = student_module(folder, "joules.py")
    probe = student.highest_clock_mhz(period_ns=4.0, slack_ns=2.0)
    yield Row(
        "half of the period is left",
        lambda probe=probe, **_: float(probe),
        {"period_ns": 4.0, "slack_ns": 2.0},
        500.0,
    )
    for pipeline in PIPELINES.values():
        found = {name: measured(*pipeline).value(name) for name in ("cycles", "power_mw", *METRICS.values())}
        name = f"{pipeline[0]} stages of {pipeline[1]}"
        slack = {"period_ns": PERIOD_NS, "slack_ns": found["wns_ns"]}
        fmax, time = (measured(*pipeline).value(metric) for metric in ("fmax_mhz", "time_ns"))
        yield Row(name, student.highest_clock_mhz, slack, float(fmax))
        yield Row(name, student.product_ns, {"cycles": found["cycles"], **slack}, float(time))
        power = {"power_mw": found["power_mw"], "cycles": found["cycles"], "period_ns": PERIOD_NS}
        yield Row(name, student.energy_nj, power, found["energy_nj"])
        clean, glitches = found["energy_nj"], found["energy_inertial_nj"]
        arguments = {"clean_nj": clean, "glitch_nj": glitches}
        yield Row(name, student.glitch_factor, arguments, glitches / clean)


def choice(folder):
    """CHOICE: a smaller unit

    With fewer stages than the width needs, a product goes around several times: nstages * steps_per_stage
    may be less than 16. The steps in a stage decide about the clock.
    """
    chosen = student_module(folder, "joules.py").CHOICE
    found = measured(chosen["nstages"], chosen["steps_per_stage"])
    yield Row(
        "the clock is met: slack", lambda slack_ns: slack_ns >= 0, {"slack_ns": found.value("wns_ns")}, True
    )
    for metric, most in (("time_ns", MOST_NS), ("area_um2", MOST_UM2)):
        value = {metric: found.value(metric)}
        yield Row(f"at most {most}", lambda most=most, **value: min(value.values()) <= most, value, True)


CHECKPOINTS = (figures, formulas, choice)
