"""Random programs on the pipeline, commit by commit against the simulator of instructions: under all kinds of
memories, with other multipliers and dividers, and at every stage.
"""

import random

import pytest
from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.sim import MemoryTiming

from tests.harness import examples, one_now
from tests.proc.examples import SlowXcel, simulation
from tests.proc.programs import RandomProgram, check, golden

# (mul_latency, div_bits, accelerator): how many programs natively in `make test`
NATIVE = {(1, 2, NullXcel): 300, (2, 4, SlowXcel): 75, (3, 1, NullXcel): 50}
POWER_UP_SEEDS = range(1, 5)
MAX_CYCLES = 1_000_000


def timing(seed):
    """Each kind of memory in turn: as fast as can be, slow, stalling, and drawn."""
    draw = random.Random(seed)
    drawn = MemoryTiming(draw.randint(1, 6), draw.choice([0.0, 0.1, 0.5, 0.8]), draw.randint(0, 6), seed)
    return (MemoryTiming(), MemoryTiming(3), MemoryTiming(stall=0.3, seed=seed), drawn)[seed % 4]


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize(
    "shape",
    one_now(NATIVE, *list(NATIVE)[1:]),
    ids=lambda shape: f"{shape[0]}-{shape[1]}-{shape[2].__name__}",
)
def test_native(shape):
    """Programs of 200 instructions and more."""
    for seed in range(examples(NATIVE[shape])):
        drawn = RandomProgram(seed + 1_000_000 * shape[0])
        assert compare(simulation(*shape), drawn, timing(seed)).instructions >= 200


def compare(sim, drawn, how):
    """One program with this memory; returns what is right."""
    program = drawn.program()
    expected = golden(program, drawn.manager)
    found = sim.run(program, manager=drawn.manager, timing=how, max_cycles=MAX_CYCLES, record=True)
    check(expected, found, f"{drawn.name}, {how}")
    return expected


@pytest.mark.parametrize("seed", one_now(POWER_UP_SEEDS, POWER_UP_SEEDS[0]))
def test_power_up(seed):
    """Registers start with random bits: reset must do its work, at first and after a program that has
    halted.
    """
    for number in range(10):
        compare(simulation(power_up_seed=seed), RandomProgram(2_000 * seed + number), timing(number))


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("stage", [pytest.param("python", marks=pytest.mark.regress), "verilog"])
def test_other_stages(stage):
    """A few programs of some 200 instructions; the cycles are those of stage native, too."""
    for seed in range(examples(7)):
        # with those that set up the registers and without those jumped over
        drawn = RandomProgram(10_000_000 + seed, 140)
        # memories of one cycle at stage python, where cycles are dear
        how = MemoryTiming(stall=0.2 * (seed % 2)) if stage == "python" else timing(seed)
        program = drawn.program()
        outcome = simulation(stage=stage).run(
            program, manager=drawn.manager, timing=how, max_cycles=MAX_CYCLES, record=True
        )
        assert outcome.instructions >= 150
        check(golden(program, drawn.manager), outcome, f"{drawn.name} at stage {stage}, {how}")
        twin = simulation().run(program, manager=drawn.manager, timing=how, max_cycles=MAX_CYCLES)
        assert (twin.cycles, twin.where, twin.window) == (outcome.cycles, outcome.where, outcome.window)
