"""Registers that start with random bits: reset must be effective in the harness with every backend and in
every design.
"""

import pytest
from modexlab.rtl.sim import SimulationTimeout, Stall, simulate

from tests.harness import each_design
from tests.rtl.sim.examples import EXPECTED, REQUESTS, STATICS, AddMod

SEEDS = (1, 2, 3)


def requests(machine):
    """Valid operands, with invalid ones in between, which take another path through the controller."""
    mod = machine.modulus or 0xB5
    operands = [(mod - 2, 0xFF, mod), (3, 1, 0), (5, 0x80, mod), (0, 0, mod), (mod - 1, 0x55, mod)]
    return [machine.carried(*operand) for operand in operands]


def test_reset_reaches_a_design_whatever_the_seed():
    """The registers of the harness, and the previous values for its first edges, are random as well."""
    expected = simulate(AddMod(8)).run(REQUESTS, statics=STATICS)
    assert expected.responses == EXPECTED
    for seed in range(32):
        with simulate(AddMod(8), power_up_seed=seed) as sim:
            assert sim.run(REQUESTS, statics=STATICS) == expected, seed


@each_design("mont-001")
def test_reset_suffices_after_power_up_and_in_mid_operation(design):
    machine = design.at(8)
    sent = requests(machine)

    def run(sim, **options):
        return sim.run(sent, stall=Stall(4, 0.2, 0.3), **options)

    with simulate(machine.rtl()) as sim:
        expected = run(sim)
        assert expected.responses == [machine.fl(*operands) for operands in sent]
        last = expected.done[-1]
        for cycles in (1, 3, expected.done[0] - 2, last // 2, last - 1):
            with pytest.raises(SimulationTimeout):
                run(sim, max_cycles=cycles)
            assert run(sim) == expected, f"after a reset in cycle {cycles}"
    for seed in SEEDS:
        with simulate(machine.rtl(), power_up_seed=seed) as sim:
            assert run(sim) == expected, f"power-up with seed {seed}"
