"""A small design after our own layout, for tests that adopt it."""

import pytest
from modexlab.flow.graph import runner
from modexlab.flow.source import VerilogFiles

from tests.paths import ROOT


@pytest.fixture(scope="session")
def accumulator():
    """The example of a user's Verilog, with its test cases."""
    source = ROOT / "flow" / "examples" / "accumulator.v"
    return VerilogFiles((source,), "accumulator", clock_port="clock", vectors=source.with_suffix(".json"))


@pytest.fixture(scope="session")
def laid_out(accumulator):
    """The files of the flow with routed wires, timing and power."""
    found = runner.run_flow(["timing-post", "power-post"], accumulator, {})
    assert not found.failed and not found.left_out
    return found.files()
