"""Registers that start with random bits: reset must be effective in the harness at every stage and in every
design.
"""

import pytest
from modexlab.eval.designs.catalogue import designs
from modexlab.rtl.sim import SimulationTimeout, Stall, simulate

from tests.harness import parametrize, regress_if
from tests.rtl.sim.examples import AddMod

DESIGNS = designs()
NBITS = 8
SEEDS = (1, 2, 3)


def requests(design):
    """Valid operands, with invalid ones in between, which take another path through the controller."""
    machine = design.at(NBITS)
    mod = machine.modulus or 0xB5
    operands = [(mod - 2, 0xFF, mod), (3, 1, 0), (5, 0x80, mod), (0, 0, mod), (mod - 1, 0x55, mod)]
    return [machine.carried(*operand) for operand in operands]


def run(sim, design):
    return sim.run(requests(design), stall=Stall(4, 0.2, 0.3))


def test_reset_reaches_a_design_whatever_the_seed():
    """The registers of the harness, and the previous values for its first edges, are random as well."""
    sent, statics = [(200, 100), (1, 2), (250, 3)], {"modulus": 251}
    expected = simulate(AddMod(8)).run(sent, statics=statics)
    assert expected.responses == [49, 3, 2]
    for seed in range(32):
        with simulate(AddMod(8), power_up_seed=seed) as sim:
            assert sim.run(sent, statics=statics) == expected, seed


@parametrize(
    "design",
    [
        pytest.param(
            design,
            id=design.name,
            marks=regress_if(design.name != "mont-001", of=design.name),
        )
        for design in DESIGNS
    ],
)
def test_reset_suffices_after_power_up_and_in_mid_operation(design):
    with simulate(design.at(NBITS).rtl()) as sim:
        expected = run(sim, design)
        assert expected.responses == [design.at(NBITS).fl(*operands) for operands in requests(design)]
        last = expected.done[-1]
        for cycles in (1, 3, expected.done[0] - 2, last // 2, last - 1):
            with pytest.raises(SimulationTimeout):
                sim.run(requests(design), stall=Stall(4, 0.2, 0.3), max_cycles=cycles)
            assert run(sim, design) == expected, f"after a reset in cycle {cycles}"
    for seed in SEEDS:
        with simulate(design.at(NBITS).rtl(), power_up_seed=seed) as sim:
            assert run(sim, design) == expected, f"power-up with seed {seed}"
