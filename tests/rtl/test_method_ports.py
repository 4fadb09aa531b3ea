"""A model with method interfaces takes the cycles of the same model with streams."""

from hypothesis import strategies as st
from modexlab.cl.method_ports import MethodPortsCL
from modexlab.cl.serial import ShiftSubCL, shift_sub_steps
from modexlab.rtl.sim import simulate

from tests.harness import draws, stepped

NBITS = 8


def called(unit, *operands):
    """The response to a request, and the cycles until it is ready."""
    while not unit.request.rdy():
        unit.sim_tick()
    unit.request(*operands)
    start = unit.sim_cycle_count()
    while not unit.response.rdy():
        unit.sim_tick()
    return unit.response(), unit.sim_cycle_count() - start


@draws(20, n=st.integers(1, 255), data=st.data())
def test_methods_and_streams(n, data):
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), min_size=1, max_size=3))
    unit = stepped(
        MethodPortsCL(lambda a, b: shift_sub_steps(a, b, n, NBITS, bits_per_cycle=1, until="spent"))
    )
    found = [called(unit, *pair) for pair in pairs]
    with simulate(ShiftSubCL(NBITS, until="spent"), "python") as simulation:
        run = simulation.run(pairs, statics={"modulus": n})
    assert [answer for answer, _ in found] == [a * b % n for a, b in pairs]
    assert [cycles for _, cycles in found] == run.latencies
