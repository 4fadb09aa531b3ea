"""The areas under other names, on a small design."""

import re

from tests.bench.names import SEEDS, compare
from tests.harness import regress


@regress
def test_areas_under_other_names(capsys):
    """The script alone makes the netlist of the run, apart from sizing; other names change the netlist."""
    found = compare(["naive", "--nbits", "8", "--clock", "3"])
    reported = re.search(r"^area +([\d,]+) um\^2", capsys.readouterr().out, re.MULTILINE)[1]
    own = found.pop("own names")
    assert abs(own / float(reported.replace(",", "")) - 1) < 0.01
    assert len(found) == len(SEEDS) and all(abs(area / own - 1) < 0.15 for area in found.values())
    assert set(found.values()) != {own}
