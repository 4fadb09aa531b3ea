"""modexlab from Python: the code on its page and in its notebook runs, and importing it is fast."""

import json
import re
import sys

import modexlab
import pytest
from modexlab.eval.lab.ledger.ledger import Ledger

from tests.harness import code_of, finished, parametrize, refuses, regress
from tests.paths import ROOT

NOTEBOOK = ROOT / "eval" / "examples" / "pareto.ipynb"
FEW = {"mont": [{"steps_per_stage": 8}]}


def test_import_brings_nothing():
    code = (
        "import modexlab, sys; print([name for name in sys.modules if name.startswith(('pymtl3', "
        "'modexlab.'))])"
    )
    assert finished([sys.executable, "-c", code]).stdout == "[]\n"


def test_names():
    assert modexlab.__version__ and all(getattr(modexlab, name) for name in modexlab.__all__)
    with pytest.raises(AttributeError, match="no attribute 'measures'"):
        _ = modexlab.measures
    assert modexlab.design("mont") in modexlab.designs()
    assert repr(modexlab.design("fold").at(8, residues_per_cycle=1)) == (
        "<fold, 8 bits: schedule=right-to-left-1 scan=length residues_per_cycle=1>"
    )
    refuses(lambda: modexlab.design("monts"), "did you mean 'mont'")


@regress
def test_measure():
    machine = modexlab.design("mont").at(8, steps_per_stage=4)
    measured = modexlab.measure(machine, "decrypt")
    (work,) = modexlab.point(machine, "decrypt").parts()
    assert (
        measured.value("cycles") == measured.value("cycles", "decrypt") == machine.cycles(*work.work.operands)
    )
    assert modexlab.measure(machine, "decrypt", stage="formula").value("cycles") == measured.value("cycles")
    refuses(lambda: measured.value("area_um2"), "area_um2 was not measured here; there are cycles")
    refuses(lambda: measured.value("areas"), "did you mean 'area_um2'")
    refuses(lambda: measured.value("cycles", "encrypt"), "cycles of encrypt: give one of decrypt")
    refuses(lambda: modexlab.measure(machine, "decrypts"), "decrypts")
    refuses(lambda: modexlab.measure(machine, stage="gate"), "stage")
    refuses(lambda: modexlab.measure(machine, clock_period=3.0), "clock_period is a setting of the flow")
    refuses(lambda: modexlab.compare("005"), "paper")
    refuses(lambda: modexlab.front([], ("areas",)), "did you mean 'area_um2'")


def test_a_ledger_measures_once(tmp_path, monkeypatch):
    ledger = modexlab.ledger(tmp_path / "ledger.sqlite")
    machine = modexlab.design("mont").at(16)
    first = modexlab.measure(machine, stage="cl", ledger=ledger)
    monkeypatch.setattr("modexlab.eval.lab.measure.measure", None)
    assert modexlab.measure(machine, stage="cl", ledger=ledger) == first
    assert modexlab.measure(modexlab.point(machine, stage="cl"), ledger=ledger) == first
    (row,) = ledger.rows()
    assert row.value == first.value("cycles")


def test_explore_and_front(tmp_path):
    space = tmp_path / "space.toml"
    space.write_text(
        'title = "steps"\nobjectives = {cycles = "min"}\n'
        '[[part]]\ndesigns = ["mont"]\nnbits = [16]\nstages = ["formula"]\n[part.set]\nsteps_per_stage = '
        "[2, 4, 8]\n"
    )
    ledger = Ledger(tmp_path / "ledger.sqlite")
    sweep = modexlab.explore(space, ledger)
    assert (sweep.new, len(sweep.measured), len(sweep.failed)) == (3, 3, 0)
    assert modexlab.explore(space, ledger).new == 0
    ((values, row),) = modexlab.front(ledger.rows(), ("cycles",), "encrypt")
    assert row.parameters["steps_per_stage"] == 8
    assert values == (min(item.value for item in ledger.rows()),)


@regress
def test_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (shown,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "howto" / "python-api.md").read_text(), re.DOTALL
    )
    names = {}
    exec(shown, names)
    assert names["decryption"].value("cycles") == names["rows"][0].value
    assert names["sweep"].measured and not names["sweep"].failed


@regress
@parametrize("shapes", [FEW, None], ids=["few", "all"])
def test_notebook(shapes, tmp_path, monkeypatch):
    """All cells in order; in `make test` with fewer machines."""
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in code_of(NOTEBOOK):
        exec(code, names)
        if shapes is not None and "SHAPES" in names:
            names["SHAPES"] = shapes
    made = sum(map(len, names["SHAPES"].values()))
    assert 1 <= len(names["best"]) <= made
    assert len({row.measurement for row in names["rows"]}) == made
    assert (tmp_path / "pareto.png").stat().st_size > 10_000


@parametrize("name", ["leak", "pareto"])
def test_notebooks_show_their_results(name):
    """The stored notebooks contain their figures and drawings without being run."""
    cells = json.loads((NOTEBOOK.parent / f"{name}.ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    silent = [cell["id"] for cell in code[1:] if not cell["outputs"]]
    kinds = {output["output_type"] for cell in code for output in cell["outputs"]}
    assert not silent and {"stream", "display_data"} <= kinds and "error" not in kinds
