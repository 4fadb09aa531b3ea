"""`modexlab asic --crosscheck`: rejected options, and one small machine with its layout, compared with all
other tools.
"""

from unittest.mock import Mock

import pytest
from modexlab.eval.assurance import crosscheck
from modexlab.flow.check import check, connections, power, shapes, timing
from modexlab.rtl.sim import ToolError

from tests.command_line import refusals
from tests.harness import regress

test_what_is_refused = refusals(
    "asic --crosscheck",
    {
        "": "give either a DESIGN or --space SPACE",
        "mont --space course": "give either a DESIGN or --space SPACE",
        "monte": "unknown design 'monte'",
        "mont --clock soon": "clock_period = soon: give a number, such as 3.0",
        "--space paper-002": "no point of this space is at a stage with a netlist",
    },
)


def test_a_bug_is_not_a_figure_that_is_missing(cli, tmp_path, monkeypatch):
    """If a tool fails, the point is marked as not done; any other error is raised."""
    space = tmp_path / "one.toml"
    space.write_text('title = "One"\n[[part]]\ndesigns = ["mont"]\nnbits = [8]\nstages = ["flow"]\n')

    compared = Mock(side_effect=ToolError("sta ended with code 3"))
    monkeypatch.setattr(crosscheck, "compared", compared)
    cli.shows(f"asic --crosscheck --space {space}", "NOT DONE", "sta ended with code 3", code=1)
    compared.side_effect = RuntimeError("a bug")
    with pytest.raises(RuntimeError, match="a bug"):
        cli(f"asic --crosscheck --space {space}")


@regress
def test_a_machine_with_its_layout(cli, tmp_path):
    """Every figure agrees or has a known cause, and every check ran; a second run reuses the results."""
    told = cli.passes("asic --crosscheck mont --nbits 8 --layout --json").json()
    (netlist,) = told["netlists"]
    assert told["wrong"] == 0 and netlist["good"]
    checks = {row["check"] for row in netlist["compared"]}
    assert checks == {check.AREA, timing.CHECK, power.CHECK, shapes.CHECK, connections.CHECK}
    apart = [row for row in netlist["compared"] if row["check"] == timing.CHECK and row["unit"] == "ns"]
    assert len(apart) == 9 and all(abs(row["difference"]) <= timing.FAR_NS for row in apart)
    whole = [row for row in netlist["compared"] if row["what"].startswith("all of it, put right")]
    assert len(whole) == 2 and all(abs(row["difference"]) < 0.05 * row["theirs"] for row in whole)
    space = tmp_path / "one.toml"
    space.write_text(
        'title = "One"\n[[part]]\ndesigns = ["mont"]\nnbits = [8]\nstages = '
        '["layout"]\n[part.flow]\nclock_period = [3.0]\n'
    )
    cli.shows(f"asic --crosscheck --space {space}", "mont, 8 bits, layout", "agrees")
