"""modexlab from Python: the code on its page and in its notebook runs, and importing it is fast."""

import copy
import json
import pickle
import re
import sys
import types

import modexlab
import pytest
from modexlab.eval.lab import metrics
from modexlab.eval.lab.store.store import Store

from tests.harness import code_of, finished, parametrize, refuses, regress
from tests.paths import ROOT
from tests.test_house import BELOW

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


def test_a_store_measures_once(tmp_path, monkeypatch):
    store = modexlab.store(tmp_path / "store.jsonl")
    machine = modexlab.design("mont").at(16)
    first = modexlab.measure(machine, stage="cl", store=store)
    monkeypatch.setattr("modexlab.machine.measure", None)
    assert modexlab.measure(machine, stage="cl", store=store) == first
    assert modexlab.measure(modexlab.point(machine, stage="cl"), store=store) == first
    (row,) = store.rows()
    assert row.value == first.value("cycles")


def test_sweep_and_front(tmp_path):
    space = tmp_path / "space.toml"
    space.write_text(
        'title = "steps"\nobjectives = {cycles = "min"}\n'
        '[[part]]\ndesigns = ["mont"]\nnbits = [16]\nstages = ["formula"]\n[part.set]\nsteps_per_stage = '
        "[2, 4, 8]\n"
    )
    store = Store(tmp_path / "store.jsonl")
    sweep = modexlab.sweep(space, store)
    assert (sweep.new, len(sweep.measured), len(sweep.failed)) == (3, 3, 0)
    assert modexlab.sweep(space, store).new == 0
    ((values, row),) = modexlab.front(store.rows(), ("cycles",), "encrypt")
    assert row.parameters["steps_per_stage"] == 8
    assert values == (min(item.value for item in store.rows()),)


# ---- a machine with its measurements


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The store of the commands."""
    monkeypatch.setenv("MODEXLAB_STORE", str(tmp_path / "own.jsonl"))
    return modexlab.store()


def test_a_machine(mine):
    machine = modexlab.design("mont").at(8, steps_per_stage=4)
    assert isinstance(machine, modexlab.Machine) and machine.parameters["steps_per_stage"] == 4
    assert machine.fl(5, 3, 13) == (0, 8) and machine.cycles(5, 3, 13) == machine.accelerator.cycles(5, 3, 13)
    assert machine.verilog().startswith("// mont_8: ") and "axi4lite" in machine.verilog("axi4lite")
    assert machine.promises.word == "of a length" and "promises" in dir(machine)
    assert copy.copy(machine) == machine
    assert {"run", "asic", "prove", "verilog", "cycles"} <= {*dir(machine)}
    with pytest.raises(AttributeError, match="mesure"):
        _ = machine.mesure


def test_figures_are_attributes(mine):
    machine = modexlab.design("mont").at(8)
    ran = machine.run("decrypt", stage="cl")
    assert ran.cycles == ran.value("cycles") == machine.cycles(workload="decrypt")
    assert ran.metrics == ("cycles",) and "cycles" in dir(ran) and ran.unit("cycles") == "cycles"
    assert repr(ran) == f"<cycles decrypt = {ran.cycles:g} cycles>" and "pow" in ran.tests
    assert pickle.loads(pickle.dumps(ran)) == ran and not hasattr(ran, "area_um2")
    refuses(lambda: ran.area_um2, "area_um2 was not measured here; there are cycles")
    refuses(lambda: ran.cycle, "unknown metric of this measurement 'cycle': did you mean 'cycles'?")
    refuses(lambda: ran.of("encrypt"), "unknown operation of this measurement 'encrypt'")
    assert [(row.stage, row.value) for row in mine.rows() if row.stage == "cl"] == [("cl", ran.cycles)]


def test_figures_of_several_operations():
    times = (metrics.figure("time_ns", value, name) for name, value in (("encrypt", 1.5), ("decrypt", 2.5)))
    made = metrics.Measurement((*times, metrics.figure("area_um2", 9.0)), 1.0, {}, "", "made up")
    chip = modexlab.Figures(made)
    refuses(lambda: chip.time_ns, "time_ns of which operation? Give one of encrypt, decrypt")
    decryption = chip.of("decrypt")
    assert (decryption.time_ns, decryption.area_um2, chip.area_um2) == (2.5, 9.0, 9.0)
    assert chip.operations == ("encrypt", "decrypt") and decryption.metrics == ("time_ns", "area_um2")


def test_measurements_take_the_path_of_the_commands(mine, monkeypatch):
    """They are read from the store, then from the reference results, and made otherwise."""
    monkeypatch.setattr("modexlab.machine.measure", None)
    reference = modexlab.results(
        stage="flow", nbits=32, interface="stream", subject="mont", metric="area_um2"
    )
    row = next(row for row in reference if not row.point["settings"] and not row.stale)
    chip = modexlab.design("mont").at(32).asic(**dict(row.flow))
    assert chip.area_um2 == row.value and not mine.rows()
    made = metrics.Measurement((metrics.figure("area_um2", 5.0),), 1.0, {}, "", "made up")
    monkeypatch.setattr("modexlab.machine.measure", lambda *_: made)
    machine = modexlab.design("mont").at(16)
    assert machine.asic(clock=2).area_um2 == 5.0
    monkeypatch.setattr("modexlab.machine.measure", None)
    assert machine.asic(clock=2) == modexlab.measure(machine, stage="flow", store=mine, clock_period=2.0)
    assert [row.flow["clock_period"] for row in mine.rows()] == [2.0]


@parametrize(
    "call, message",
    {
        "run('decrypts')": "unknown workload 'decrypts'",
        "run(stage='gates')": "unknown stage 'gates'",
        "asic(clok=3)": "unknown setting of stage flow 'clok'",
        "asic(to='timming')": "did you mean 'timing'",
        "asic(to='route')": "give layout=True, too",
        "verilog('axi')": "axi",
        "prove('tyme')": "mont has no such check; give one of units, protocol,",
    }.items(),
)
def test_calls_are_refused(mine, call, message):
    refuses(lambda: eval(f"machine.{call}", {"machine": modexlab.design("mont").at(8)}), message)


@regress
def test_the_flow(mine):
    machine = modexlab.design("mont").at(8)
    chip, part = machine.asic(clock=3), machine.asic(clock=3, to="timing")
    assert (part.area_um2, part.wns_ns) == (chip.area_um2, chip.wns_ns)
    refuses(lambda: part.power_mw, "power_mw was not measured here")
    assert len({row.measurement for row in mine.rows()}) == 1, "a part of the flow is not recorded"
    assert [verdict.verdict for verdict in machine.prove("protocol")] == ["proved"]


def test_results_as_a_data_frame(mine, monkeypatch):
    machine = modexlab.design("mont").at(8, steps_per_stage=2)
    ran = machine.run("decrypt", stage="cl")
    found = modexlab.results(mine)
    assert len(found) == 1 and found[0].value == ran.cycles and list(found[:1]) == list(found)
    assert repr(found) == "<1 rows of 1 measurements>"
    monkeypatch.setitem(sys.modules, "pandas", None)
    refuses(found.frame, "pandas is not installed")
    made = types.SimpleNamespace(DataFrame=lambda lines, columns: (lines, columns))
    monkeypatch.setitem(sys.modules, "pandas", made)
    ((line,), columns) = found.frame()
    assert (line["design"], line["operation"], line["cycles"]) == ("mont", "decrypt", ran.cycles)
    assert columns[-2:] == ["cycles", "steps_per_stage"] and line["steps_per_stage"] == 2
    ((line,), columns) = ran.frame()
    assert line == {"operation": "decrypt", "metric": "cycles", "value": ran.cycles, "unit": "cycles"}


TYPES = {
    'modexlab.design("mont")': "modexlab.machine.Design",
    'modexlab.design("mont").at(32)': "modexlab.machine.Machine",
    'modexlab.design("mont").at(32).asic(clock=3).area_um2': "float",
    'modexlab.design("mont").at(32).prove("time")': "list[modexlab.eval.lab.verdicts.Verdict]",
    "modexlab.results()[0].value": "float",
}


@regress
def test_type_checkers_see_the_types(tmp_path):
    """The package is laid out as it is installed: rooms, and eval/api as the package itself."""
    package = tmp_path / "modexlab"
    package.mkdir()
    for path in (*(ROOT / room for room in BELOW), *(ROOT / "eval" / "api").glob("*.py")):
        (package / path.name).symlink_to(path)
    program = tmp_path / "program.py"
    program.write_text("\n".join(["import modexlab", *(f"reveal_type({text})" for text in TYPES)]))
    options = ("--ignore-missing-imports", "--follow-imports=silent", "--config-file=", "--cache-dir=cache")
    made = finished([sys.executable, "-m", "mypy", *options, str(program)], cwd=tmp_path)
    assert re.findall(r'Revealed type is "(.*)"', made.stdout) == [*TYPES.values()], made.stdout


@regress
def test_page(mine, tmp_path, monkeypatch):
    """The examples of the page, in one program."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "howto" / "python-api.md").read_text()
    names = {}
    for shown in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(shown, names)
    assert names["decryption"].cycles == names["machine"].cycles(workload="decrypt")
    assert names["chip"].area_um2 > 0 and len(names["flow"]) > 100
    assert names["swept"].measured and not names["swept"].failed


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
