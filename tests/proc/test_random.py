"""Random programs on the pipeline, compared commit by commit with the instruction-set simulator: with all
kinds of memories, other multipliers and dividers, and with every backend.
"""

import random
from functools import partial

from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.sim import MemoryTiming

from tests.harness import examples, expect, one_now, parametrize, untraced
from tests.proc.examples import SlowXcel, simulation
from tests.proc.programs import RandomProgram, check, golden

# (mul_latency, div_bits, accelerator): number of native programs in `make test`
NATIVE = {(1, 2, NullXcel): 300, (2, 4, SlowXcel): 75, (3, 1, NullXcel): 50}
POWER_UP_SEEDS = range(1, 5)
MAX_CYCLES = 1_000_000


def timing(seed):
    """A kind of memory by seed: fastest, slow, stalling, or random."""
    draw = random.Random(seed)
    drawn = MemoryTiming(draw.randint(1, 6), draw.choice([0.0, 0.1, 0.5, 0.8]), draw.randint(0, 6), seed)
    return (MemoryTiming(), MemoryTiming(3), MemoryTiming(stall=0.3, seed=seed), drawn)[seed % 4]


@untraced
@parametrize(
    "shape",
    one_now(NATIVE, *list(NATIVE)[1:]),
    ids=lambda shape: f"{shape[0]}-{shape[1]}-{shape[2].__name__}",
)
def test_native(shape):
    """Programs of at least 200 instructions."""
    for seed in range(examples(NATIVE[shape])):
        drawn = RandomProgram(seed + 1_000_000 * shape[0])
        assert compare(simulation(*shape), drawn, timing(seed)).instructions >= 200


def compare(sim, drawn, how):
    """Run one program with this memory and compare; the outcome."""
    program = drawn.program()
    found = sim.run(program, manager=drawn.manager, timing=how, max_cycles=MAX_CYCLES, record=True)
    check(golden(program, drawn.manager), found, f"{drawn.name}, {how}, backend {found.backend}")
    return found


@parametrize("seed", one_now(POWER_UP_SEEDS, POWER_UP_SEEDS[0]))
def test_power_up(seed):
    """Registers start with random bits, so reset must be effective, initially and after a program
    has halted.
    """
    for number in range(10):
        compare(simulation(power_up_seed=seed), RandomProgram(2_000 * seed + number), timing(number))


@untraced
@parametrize("backend", one_now(["python", "verilog"], "verilog"))
def test_other_backends(backend):
    """A few programs of about 200 instructions; the cycles equal those of backend native."""
    for seed in range(examples(7)):
        # including the set-up of the registers and excluding skipped instructions
        drawn = partial(RandomProgram, 10_000_000 + seed, 140)
        # memories of one cycle with backend python, where cycles are slow to simulate
        how = MemoryTiming(stall=0.2 * (seed % 2)) if backend == "python" else timing(seed)
        outcome, twin = (compare(simulation(backend=name), drawn(), how) for name in (backend, "native"))
        assert outcome.instructions >= 150
        expect(twin, cycles=outcome.cycles, where=outcome.where, window=outcome.window)
