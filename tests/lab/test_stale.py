"""A row of the store is stale exactly if its hardware or the code that computes its figures has changed."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from unittest.mock import Mock, patch

import pytest
from modexlab.cl import timing
from modexlab.eval.designs import catalogue
from modexlab.eval.lab import content, keys, metrics
from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.store import store as stores
from modexlab.eval.lab.store.store import Store
from modexlab.flow.gates import gates
from modexlab.flow.kit import kit
from modexlab.rtl.sim import cache, sources, translation
from modexlab.rtl.sim.verilog_digests import Digests
from modexlab.rtl.units import add_red

from tests.harness import forget_content, parametrize, regress
from tests.paths import ROOT

POINTS = {
    f"{name} {stage}": Point(name, 8, stage=stage)
    for name, stages in {
        "mont": ("formula", "cl", "native", "flow", "layout", "fpga"),
        "naive": ("formula", "cl", "native", "flow"),
    }.items()
    for stage in stages
} | {"unit": Point("mont", 8, interface="unit", stage="flow"), "proc-naive": Point("proc-naive", 16)}
MONT = {"mont native", "mont flow", "mont layout", "mont fpga", "unit"}
WITH_KIT = {"mont flow", "mont layout", "naive flow", "unit"}
MADE_UP = metrics.Measurement((metrics.figure("cycles", 1),), 1.0, {}, "", "made up")


def forget():
    """Clear caches, so that digests are computed as in a new process."""
    for function in (sources.digest, keys.sources_of):
        function.cache_clear()
    forget_content()


@pytest.fixture(name="stale", scope="module")
def make_stale(tmp_path_factory):
    """A function that returns the names of the points with stale rows; all points are measured first. Tests
    change the code in this process, of which the recorded contents know nothing.
    """
    forget()
    with (
        patch.object(content, "recorded_contents", dict),
        Store(tmp_path_factory.mktemp("stale") / "store.jsonl") as store,
    ):
        names = {store.record(point, MADE_UP): name for name, point in POINTS.items()}

        def stale():
            forget()
            return {names[row.measurement] for row in store.rows() if row.stale}

        assert stale() == set()
        yield stale
    forget()


def edit(monkeypatch, *paths):
    """Change the digests as if these files had been edited."""
    real, edited = cache.file_digest, {ROOT / path for path in paths}
    assert all(path.is_file() for path in edited)
    monkeypatch.setattr(cache, "file_digest", lambda path: "edited" if path in edited else real(path))


def test_new_designs_and_comments_leave_all_rows_valid(stale, monkeypatch):
    monkeypatch.setattr(
        timing, "AnotherTiming", type("AnotherTiming", (timing.UnitTiming,), {}), raising=False
    )
    another = replace(catalogue.find("mont"), name="another")
    monkeypatch.setattr(catalogue, "DESIGNS", (*catalogue.DESIGNS, another))
    edit(
        monkeypatch,
        "cl/timing.py",
        "cl/mont_mul_rem.py",
        "eval/designs/catalogue.py",
        "eval/designs/verilog/machine.py",
        "eval/designs/verilog_header.py",
        "rtl/units/add_red.py",
        "rtl/verilog/names.py",
    )
    assert stale() == set()


def test_hardware_makes_the_rows_of_its_designs_stale(stale, monkeypatch):
    monkeypatch.setitem(add_red.ADD_REDS, "koc", add_red.AddRedTextbook)
    assert stale() == MONT


def test_a_measurement_has_the_digest_of_the_hardware_that_ran(monkeypatch):
    """Not that of the files, which may have been edited since this process imported them."""
    point = Point("mont", 8)
    assert measure(point).content == point.content
    monkeypatch.setitem(add_red.ADD_REDS, "koc", add_red.AddRedTextbook)
    forget()
    other = Point("mont", 8)
    assert measure(other).content == content.verilog_digests(other).hardware != point.content


def test_formulas_make_the_rows_of_their_stage_stale(stale, monkeypatch):
    """The formula determines the window of an energy; the cycle-level model has cycles of its own."""
    monkeypatch.setattr(timing.MontMulRemTiming, "product_cycles", lambda self, nblocks: nblocks + 7)
    assert stale() == {"mont formula", "mont flow", "mont layout", "unit"}


@parametrize(
    "path, names",
    {
        "flow/synth/synthesis.py": WITH_KIT | {"mont fpga"},
        "eval/designs/session.py": {"mont cl", "mont native", "naive cl", "naive native", "proc-naive"},
    }.items(),
)
def test_a_step_and_the_simulator_make_rows_of_their_stages_stale(stale, monkeypatch, path, names):
    edit(monkeypatch, path)
    assert stale() == names


def test_the_kit_makes_rows_of_netlists_stale(stale, monkeypatch):
    real = kit.find()
    monkeypatch.setattr(kit, "find", lambda path=None: replace(real, digest="of another Liberty file"))
    assert stale() == WITH_KIT


def test_a_netlist_of_stage_gates_belongs_to_a_kit(monkeypatch):
    real, asked = kit.find(), Mock(side_effect=KeyError)
    monkeypatch.setattr(cache, "cached_tree", asked)
    for digest in (real.digest, "of another Liberty file"):
        monkeypatch.setattr(kit, "find", lambda path=None, digest=digest: replace(real, digest=digest))
        with pytest.raises(KeyError):
            gates.synthesized.__wrapped__("module a; endmodule", "a")
    one, other = asked.call_args_list
    assert one.args[0] != other.args[0]


def test_rows_of_older_versions_are_stale(tmp_path, monkeypatch):
    """Their keys contain no digest of the hardware, the flow or the kit."""
    point = Point("mont", 8, stage="formula")
    with Store(tmp_path / "old.jsonl") as store:
        store.record(point, replace(MADE_UP, content="of other hardware"))
        assert [row.stale for row in store.rows()] == [True]
        monkeypatch.setattr(stores, "_version", lambda point, _: point.key)
        store.record(point, MADE_UP)
        assert [row.stale for row in store.rows(history=True)] == [True, True]


@parametrize(
    "text, same",
    [
        ("// other header\nmodule a ;\n\n\n  wire   b; // c\nendmodule\n", True),
        ("module a ;\n  wire b;/* two\nlines */\nendmodule", True),
        ("module a ;\n  wire c;\nendmodule\n", False),
        ('module a ;\n  wire b;\n  initial $display("// c");\nendmodule\n', False),
    ],
)
def test_digest_of_hardware_leaves_out_comments(text, same):
    found, plain = Digests.of(text), Digests.of("module a ;\n  wire b;\nendmodule\n")
    assert (found.hardware == plain.hardware) == same and found.text != plain.text
    assert Digests.of('x = "a // b";').hardware != Digests.of('x = "a // c";').hardware


def test_digests_come_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path))
    chip = Point("serial", 8, stage="flow").chip()
    made = chip.digests()
    assert made == Digests.of(chip.verilog())
    monkeypatch.setattr(translation.translated.Digests, "of", None)
    assert chip.digests() == made
    (entry,) = tmp_path.glob("digests-*")
    entry.write_bytes(entry.read_bytes()[:-1])
    with pytest.raises(TypeError):  # the damaged entry is computed again
        chip.digests()


# ---- in new processes, with real edits of a copy of the package

ROOMS = ("fl", "rtl", "cl", "proc", "flow", "eval")
ASK = """
import json, sys
from modexlab.eval.lab.point import Point
print(json.dumps({name: Point.from_json(data).version for name, data in json.load(sys.stdin).items()}))
"""


@regress
def test_edits_of_a_copy(tmp_path):
    package = tmp_path / "modexlab"
    shutil.copytree(ROOT / "eval" / "api", package)
    for room in ROOMS:
        shutil.copytree(ROOT / room, package / room, ignore=shutil.ignore_patterns("__pycache__"))

    def versions():
        asked = json.dumps({name: point.as_json() for name, point in POINTS.items()})
        where = {**os.environ, "PYTHONPATH": str(tmp_path)}
        found = subprocess.check_output([sys.executable, "-B", "-c", ASK], input=asked, env=where, text=True)
        return json.loads(found).items()

    def changed(path, old, new):
        file = package / path
        text = file.read_text()
        file.write_text(edited := text.replace(old, new) if old else text + new)
        assert edited != text
        after = versions()
        file.write_text(text)
        return {name for name, _ in before - after}

    before = versions()
    assert changed("cl/timing.py", "", "\n\nclass Another(UnitTiming):\n    pass\n") == set()
    assert changed("rtl/units/add_red.py", "", "# another comment\n") == set()
    assert changed("eval/designs/catalogue.py", '"fold",', '"folded",') == set()
    assert changed("rtl/units/add_red.py", ": AddRedKoc", ": AddRedTextbook") == MONT
    assert changed("flow/synth/synthesis.py", "", "\n") == WITH_KIT | {"mont fpga"}
