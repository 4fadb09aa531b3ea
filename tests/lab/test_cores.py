"""`modexlab compare cores`: which cores are compared, the derived figures, and the text.

Our figures are made up here, because the arithmetic is under test; those of the long regression are measured.
"""

import re
from dataclasses import replace

import msgspec
import pytest
from modexlab.eval.cli.commands import compare
from modexlab.eval.designs import catalogue, own
from modexlab.eval.designs.protection import Requested
from modexlab.eval.lab.comparison import cores as lab
from modexlab.eval.lab.comparison import published_data
from modexlab.eval.lab.comparison.cores import cores, in_steps, long, missing, wanted
from modexlab.eval.lab.metrics import METRICS, Measurement
from modexlab.eval.lab.pareto import goals_of
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.space import Part, Space
from modexlab.eval.lab.store.snapshot import Snapshot
from modexlab.eval.lab.sweep import goals_at
from modexlab.flow.kit import kit
from pytest import approx

from tests.command_line import picked, refusals
from tests.harness import parametrize, refused, regress
from tests.paths import ROOT
from tests.report.examples import figures_of

MANIFEST = str(ROOT / "tests" / "foreign" / "start_done.toml")
pytestmark = pytest.mark.usefixtures("untranslated")
MACHINE = {"stage": "flow", "flow": (("fmax", True),)}
UNIT = {"interface": "unit", **MACHINE}
WORK = {"encrypt": (77, 0.2), "decrypt": (129, 0.3)}  # cycles and energy
TESTS = {"rtl": {"passed": 30, "failed": 0}, "gates": {"passed": 30, "failed": 0}}
KEYS = """
    design ours nbits product_cycles product_ns operation_cycles operation_us area_um2 area_time floor
    floor_ratio utilisation energy_nj tests_passed tests_failed source period_ns technology note part kind
    marks command
"""


def of_flow(area, clock, **counted):
    """A run of the flow whose slack is a tenth of the clock; counted: cycles and energy by operation."""
    by_operation = {
        operation: {
            "cycles": cycles,
            "time_ns": cycles * clock,
            "energy_nj": energy,
            "energy_drawn_nj": 2 * energy,
            "energy_drawn_std_nj": energy / 4,
        }
        for operation, (cycles, energy) in counted.items()
    }
    figures = figures_of({"area_um2": area, "clock_ns": clock, "wns_ns": clock / 10}, **by_operation)
    return Measurement(figures, 1.0, {}, "", "made up for a test", (), {"tests": TESTS})


def only(found, **fields):
    """The only core with these fields."""
    (core,) = [item for item in found if all(getattr(item, name) == value for name, value in fields.items())]
    return core


class Bench:
    """A store with made-up runs of the flow."""

    def __init__(self, store):
        self.store = store

    def run(self, name, nbits, area, clock, at=UNIT, settings=(), marks=(), **counted):
        made = replace(of_flow(area, clock, **counted), marks=marks)
        self.store.record(Point(name, nbits, settings, **at), made)

    def cores(self, nbits=32, names=(), manifests=()):
        return cores(Snapshot(self.store), [nbits], names, manifests)

    def core(self, name, nbits=32, part="unit"):
        return only(self.cores(nbits), name=name, part=part)


@pytest.fixture
def bench(store):
    return Bench(store)


# ---- derived figures


def test_a_multiplier_beside_its_floor(bench):
    """The floor is computed from areas that the test parses from the Liberty file itself."""
    bench.run("mont", 128, 20_000.0, 1.5, product=(16, 0.5))
    core = bench.core("mont", 128)
    text = kit.find().lib.read_text()
    selector, adder = (
        float(re.search(rf"cell \({name}\) \{{.*?area\s*:\s*([\d.]+)", text, re.DOTALL)[1])
        for name in ("AOI222_X1", "FA_X1")
    )
    assert picked(core, "kind ours measured") == ("ours", True, True)
    names = "product_cycles period_ns product_ns energy_nj tests_passed tests_failed"
    assert picked(core, names) == (16, 1.5, 24.0, 0.5, 60, 0)
    area_time, floor = 20_000 * 24.0 / 1e6, 128 * 128 * (selector + adder) * 1.5 / 1e6
    shares = floor, area_time, area_time / floor, floor / area_time
    assert picked(core, "floor area_time floor_ratio utilisation") == approx(shares) and floor < area_time
    assert "FreePDK45" in core.technology and core.source.startswith("measured here after synthesis")


def test_a_machine_does_private_operations(bench):
    bench.run("mont", 32, 10_000.0, 2.0, MACHINE, **WORK)
    core = bench.core("mont", 32, "machine")
    names = "operation_cycles public_cycles operation_us public_us product_ns operation_energy_nj"
    assert picked(core, names) == approx((129, 77, 0.258, 0.154, 8.0, 0.3))
    assert picked(core, "area_time floor") == (None, None), "the area is that of two multipliers and more"
    bench.run("serial", 32, 9_000.0, 2.0, MACHINE, encrypt=(1, 1.0), decrypt=(2, 1.0))
    apart = bench.core("serial", part="machine")
    assert apart.area_time == approx(9_000 * 17 * 2.0 / 1e6) and lab.WHOLE in apart.note


def test_without_figures_cycles_are_by_formula(store):
    found = cores(Snapshot(store), [32, 1024])
    own = [core for core in found if core.kind != lab.PUBLISHED]
    assert {core.kind for core in own} == {"ours", "twin"} and not any(core.measured for core in own)
    for core in own:
        machine = catalogue.find(core.design).at(core.nbits, **core.settings)
        # with CRT a machine's products have half the width
        assert core.product_cycles == (None if core.settings.get("crt") else machine.product_cycles)
        assert {*picked(core, "product_ns area_um2 operation_us tests_passed")} == {None}
        assert "modexlab asic" in core.command and "--fmax" in core.command
    asked = missing(found)
    assert {item.key for item in asked} == {core.point.key for core in own if core.point is not None}
    assert [item.key for item in asked] == [point.key for point in wanted([32, 1024]).points]
    assert only(found, name="systolic-002", part="unit", nbits=1024).product_cycles == 194


def test_what_is_measured_is_not_missing(bench):
    before = {point.key: str(point) for point in missing(bench.cores())}
    bench.run("mont", 32, 4_000.0, 2.0, product=(4, 0.1))
    for point in missing(bench.cores()):
        del before[point.key]
    assert [gone[:25] for gone in before.values()] == ["mont, 32 bits, unit, flow"]


def test_in_which_order_they_are_measured(store):
    """First one synthesis of each core with a known clock, then the searches. Both have the same order:
    designs of manifests, then our multipliers at every width, then those of papers, then whole machines,
    narrow ones first.
    """
    (design,) = catalogue.by_manifests([MANIFEST])
    found = cores(Snapshot(store), [2048, 32, 1024], manifests=[design])
    points = in_steps(found)
    known = [point for point in points if not dict(point.flow).get("fmax")]
    searched = points[len(known) :]
    assert points[: len(known)] == known == in_steps(found, search=False) and searched == missing(found)
    assert [item.key for item in known] == [
        at_once.key for item in searched if (at_once := lab.at_known_clock(item)) is not None
    ]
    assert searched[0].label == design.name
    first = [(item.subject, item.interface, item.nbits) for item in searched if item.label != design.name]
    widths = (32, 1024, 2048)
    ours, theirs = ([(name, "unit", nbits) for nbits in widths] for name in ("heap", "systolic-002"))
    assert first[:6] == [*ours, *theirs] and first[6] == ("heap", "stream", 32)


def test_one_synthesis_of_a_wide_multiplier_is_not_long(bench, monkeypatch):
    """A search for its clock is long, and so is a machine with or without a search."""
    at = {part: Point("heap", 1024, **fields) for part, fields in (("unit", UNIT), ("machine", MACHINE))}
    known = {("", *lab.machine_of(point.as_json())): 1.95 for point in at.values()}
    monkeypatch.setattr(lab, "known_clocks", lambda: known)
    points = in_steps(bench.cores(1024, ["heap"]))
    wide = [point for point in points if point.interface == "unit" and not point.settings]
    assert [long(point) for point in wide] == [False, True]
    assert all(long(point) for point in points if point.interface != "unit")
    bench.run("heap", 1024, 9e5, 1.95, {**UNIT, "flow": wide[0].flow}, product=(18, 9.0))
    core = bench.core("heap", 1024)
    assert lab.CLOCK_GIVEN in core.note and not core.searched
    again = in_steps(bench.cores(1024))
    assert wide[0] not in again and any(point.key == wide[1].key for point in again)


def test_a_clock_that_was_given_is_noted(bench):
    """A row with a searched clock replaces it, and is missing until then if requested."""

    def wanted_units(given=True):
        points = missing(bench.cores(32, ["mont"]), given=given)
        return [point for point in points if point.interface == "unit"]

    bench.run("mont", 32, 3_000.0, 3.0, {**UNIT, "flow": {"clock_period": 3.0}}, product=(4, 0.1))
    core = bench.core("mont")
    assert core.product_ns == 12.0 and lab.CLOCK_GIVEN in core.note
    (searched,) = wanted_units()
    assert dict(searched.flow)["fmax"] and not wanted_units(False)
    bench.run("mont", 32, 4_000.0, 2.0, product=(4, 0.1))
    core = bench.core("mont")
    assert core.product_ns == 8.0 and lab.CLOCK_GIVEN not in core.note and not wanted_units()


def test_all_that_the_store_has_of_the_kind(bench):
    """The table includes settings that are not in the space, and layouts as well as netlists."""
    bench.run("heap", 32, 4_000.0, 2.0, settings=(("digit_nbits", 8),), product=(7, 0.1))
    bench.run("heap", 32, 9_000.0, 2.5, product=(5, 0.1))
    bench.run("heap", 32, 9_500.0, 2.75, {**UNIT, "stage": "layout"}, product=(5, 0.1))
    found = [core for core in bench.cores() if core.design == "heap" and core.measured]
    assert [(item.name, item.stage, item.product_ns) for item in found] == [
        ("heap", "flow", 12.5),
        ("heap", "layout", 13.75),
        ("heap digit_nbits=8", "flow", 16.0),
    ]


def test_answers_that_come_later_than_the_next_product_begins(bench):
    """The interval between products counts. The latency is a separate figure, by formula until it is
    measured.
    """
    names = "latency_cycles product_cycles"
    for name, *cycles in (("systolic-002", 13, 11), ("mont", 4, 4), ("heap", 5, 5)):
        assert [*picked(bench.core(name), names)] == cycles
    assert picked(bench.core("fold", part="machine"), names) == (2, 1)
    bench.run("systolic-002", 32, 9_000.0, 2.0, product=(14, 0.1))
    assert picked(bench.core("systolic-002"), f"{names} product_ns") == (14, 11, 22.0)


def test_a_row_states_its_terms(bench, cli):
    """Clock requested and met, stage, kit, protections and spread of the energy, as data and in tables."""
    bench.run("mont", 32, 10_000.0, 2.0, MACHINE, **WORK)
    names = "period_ns met_ns stage technology conversions crt blinded checked constant_time exponent_nbits"
    rows = cli.json("compare cores mont --nbits 32 --own")
    (row,) = [row for row in rows if row["kind"] == "ours" and row["area_um2"]]
    terms = 2.0, 1.8, "flow", kit.find().data.title, "included", False, "no", False, "of a length", 30
    assert picked(row, names) == terms
    assert row["operation_drawn_nj"] == [0.6, 0.075] and row["drawn_nj"] is None
    for form in ("", "--markdown"):
        out = " ".join(cli(f"compare cores mont --nbits 32 --own {form}").out.split())
        assert "32 bits: a private operation, an exponent of 30 bits design" in out.replace("| ", "")
        assert (
            "Held fixed: style plain; stage after synthesis, wires supposed; "
            "technology FreePDK45, NanGate cells, typical corner; " in out
        )
        assert "constant time of a length; protections none; conversions included." in out
        assert "0.6 +-12%" in out and "1.80" in out


def test_protections_of_machines_and_of_published_ones(bench):
    heap = {core.name: core for core in bench.cores(1024) if core.design == "heap" and core.part == "machine"}
    assert {name: core.protections for name, core in heap.items()} == {
        "heap": "none",
        "heap crt=True verify=False": "CRT",
    }
    assert not any(core.limits for core in heap.values()), "a machine for keys is not one for one modulus"
    found = {core.design: core.protections for core in lab.published_cores([2048])}
    assert found["OpenSSL, RSA with CRT"] == "CRT, message blinded, check"
    assert found["OTBN, masked"] == "message and exponent blinded, ?" and found["004 Algo 6"] == "?"
    settings = (("blind", "both"), ("crt", True), ("schedule", "fixed-window"), ("verify", True))
    bench.run("heap", 32, 9e4, 2.0, MACHINE, settings, decrypt=(999, 1.0))
    (blinded,) = [core for core in bench.cores() if core.settings.get("blind")]
    assert blinded.protections == "CRT, message and exponent blinded, check"


def test_a_table_holds_one_workload_at_one_stage(bench, cli):
    """Exponents of another length, machines for one modulus, and layouts have separate tables."""
    for stage in ("flow", "layout"):
        bench.run("mont", 32, 10_000.0, 2.0, {**MACHINE, "stage": stage}, **WORK)
        bench.run(
            "ssmm", 32, 9_000.0, 2.0, {**MACHINE, "stage": stage}, encrypt=(577, 0.1), decrypt=(999, 0.4)
        )
    out = cli("compare cores --nbits 32 --nbits 1024 --own").out
    tables = {}
    for block in out.split("\n\n"):
        title, *lines = block.splitlines()
        tables.setdefault(title, []).append([line.split("  ")[0].rstrip("+!*") for line in lines[2:]])
    netlists, layouts = tables["32 bits: a private operation, an exponent of 30 bits"]
    assert {"mont", "ssmm", "heap"} <= {*netlists} and layouts[:2] == ["mont", "ssmm"]
    assert tables[
        "1,024 bits: a private operation, an exponent of 1,024 bits, moduli of up to 1,022 bits"
    ] == [["systolic-002", "Held fixed: constant time of a length; protections none; conversions included."]]
    (ours,) = tables["1,024 bits: a private operation, an exponent of 1,020 bits"]
    assert "heap crt=True verify=False" in ours and "systolic-002" not in ours
    fixed = "32 bits: a private operation, an exponent of 32 bits, one modulus, published, other technologies"
    assert tables[fixed][0][:3] == ["000 CM (PM)", "000 CM (M)", "000 MM (PM)"]


def test_the_machine_to_take(bench, cli):
    """--pick names the fastest within an area and the smallest within a time, or the one that misses the
    limit least.
    """
    for name, area, cycles in (("mont", 9_000.0, 100), ("ssmm", 4_000.0, 900), ("fold", 20_000.0, 50)):
        bench.run(name, 32, area, 2.0, MACHINE, encrypt=(cycles, 0.1), decrypt=(cycles, 0.1))
    bench.run("heap", 128, 90_000.0, 2.0, MACHINE, encrypt=(1000, 0.1), decrypt=(1000, 0.1))

    def pick(limit, more="--nbits 32"):
        return [row["design"] for row in cli.json(f"compare cores {more} --own --pick {limit}")]

    limits = {"0.009mm2": "mont", "8999um2": "ssmm", "1mm2": "fold", "0.2us": "mont", "199ns": "fold"}
    assert {limit: pick(limit) for limit in limits} == {limit: [name] for limit, name in limits.items()}
    assert pick("2ms", "") == ["ssmm", "heap"]
    out = cli("compare cores --own --pick 20000um2").out
    assert re.search(r"^ +32  fold\+ +ours  0\.100 ", out, re.MULTILINE)
    assert (
        "128 bits, an exponent of 125 bits, netlist: none of 1 machines; heap is nearest with 90,000 µm²"
        in out
    )
    for limit, what in (
        ("1s --nbits 64", "no machine of 64 bits has a result or a certified model; add --m"),
        ("9um2", "the nearest of 4 machines, ssmm of 32 bits, has 4,000 µm²; give at least that"),
    ):
        assert f"--pick {limit[: limit.find(' ')] if ' ' in limit else limit}: {what}" in cli.fails(
            f"compare cores --own --pick {limit}"
        )


PROTECTED = "--crt --blind both --verify"


@pytest.fixture
def behind_a_bus(bench):
    """Two machines at one clock with bare streams and behind AXI4-Lite, and a protected one with streams."""
    given = {"stage": "flow", "flow": {"style": "plain"}}
    for name, bare, added, cycles in (("mont", 10_000.0, 2_640.0, 129), ("heap", 15_000.0, 2_112.0, 300)):
        work = {"decrypt": (cycles, 0.3)}
        bench.run(name, 32, bare, 3.0, given, **work)
        bench.run(name, 32, bare + added, 3.0, {**given, "interface": "axi4lite"}, **work)
    settings = catalogue.find("mont-keyed"), 32, {}
    chosen = Requested(crt=True, blind="both", verify=True).settings(*settings)
    bench.run("mont-keyed", 32, 18_000.0, 3.0, given, settings=tuple(chosen.items()), decrypt=(813, 1.0))
    return bench


def test_a_machine_behind_an_interface(behind_a_bus, cli):
    """Answers come from results, or from a model that is certified by them, and the output says which."""
    asked = "compare cores --own --pick 1mm2 --interface axi4lite --nbits 32"
    (mont,) = cli.json(asked)
    assert picked(mont, "design area_um2 estimate") == ("mont", 12_640.0, None)
    assert mont["basis"].startswith("measured here after synthesis")
    (keyed,) = cli.json(f"{asked} {PROTECTED} --constant-time")
    machine = catalogue.find("mont-keyed").at(32, **keyed["settings"])
    nbits = sum(width for _, width in (*machine.shape.request, *machine.shape.response))
    assert picked(keyed, "design area_um2 row") == ("mont-keyed", approx(18_000 + 20 * nbits), None)
    assert keyed["basis"] == keyed["estimate"] and "within 3.1% of 2 results" in keyed["basis"]
    assert keyed["operation_us"] == approx(3e-3 * keyed["operation_cycles"])
    out = cli(f"{asked} {PROTECTED}").out
    assert re.search(r"mont-keyed .*~.* model ", out) and "20 um2 for each bit of request" in out
    assert re.search(r"mont\+ .* result ", cli(asked).out)
    assert "~ mont-keyed" in cli(f"compare cores --own --interface axi4lite --nbits 32 {PROTECTED}").out


@parametrize(
    "name, nbits, area, clock, why",
    [
        ("tiny", 32, 5e3, 2.0, "at a faster clock than the results of the model"),
        ("tiny", 64, 5e3, 3.0, "at a width without results"),
        ("tiny", 32, 1e3, 3.0, "beyond the tolerance"),
    ],
)
def test_no_estimate_without_a_certified_model(behind_a_bus, name, nbits, area, clock, why):
    given = {"stage": "flow", "flow": {"clock_period": clock, "style": "plain"}}
    behind_a_bus.run(name, nbits, 5e3, clock, given, **WORK)
    if area < 5e3:
        behind_a_bus.run(name, nbits, area, clock, {**given, "interface": "axi4lite"}, **WORK)
    found = cores(Snapshot(behind_a_bus.store), [nbits], selection=lab.Selection("axi4lite"))
    assert not any(core.estimate for core in found), why


def test_a_selection_of_machines(store):
    """Protections select designs with a program, at every width; the promise is that of the machine."""
    requested = Requested(crt=True, blind="both")
    points = wanted([32, 64], selection=lab.Selection("xcel", requested)).points
    assert {(point.subject, point.nbits) for point in points} == {
        (name, nbits) for name in ("mont-keyed", "heap") for nbits in (32, 64)
    }
    assert {point.interface for point in points} == {"xcel"}
    assert all(picked(point.machine.promises, "checked exponent_blinded") == (True, True) for point in points)
    with refused("naive has a controller of its own"):
        wanted([32], ["naive"], selection=lab.Selection(requested=requested))
    steady = wanted([32], selection=lab.Selection("xcel", constant_time=True)).points
    assert {"naive", "naive-001"}.isdisjoint(point.subject for point in steady) and steady
    assert all(point.machine.promises.constant_time for point in steady)


def test_a_private_operation_says_what_it_is(bench, cli):
    """The promise distinguishes protected machines from plain ones in one table."""
    bench.run("mont", 16, 1_000.0, 0.5, MACHINE)  # creates the file
    rows = cli.json("compare cores --nbits 32 --own")
    found = {
        row["design"]: picked(row, "constant_time exponent_nbits")
        for row in rows
        if row["part"] == "machine" and row["kind"] != "published"
    }
    assert found | {"heap": ("yes", 30), "mont": ("of a length", 30), "ssmm-004": ("no", 30)} == found
    assert re.search(r"^heap +ours +323 +yes", cli("compare cores --nbits 32 --own").out, re.MULTILINE)


@regress
def test_a_figure_from_a_repository_names_its_commit(bench, monkeypatch):
    """The commit may be `unknown`; a row has its URL and how it was obtained."""
    otbn = only(bench.cores(2048), design="OTBN")
    names = "operation_cycles commit crt constant_time"
    assert picked(otbn, names) == (18_889_021, "364b304c3c", False, "yes")
    assert "otbn_intro.md, 2024-01-09, commit 364b304" in otbn.source
    assert otbn.url.startswith("https://github.com/lowRISC/opentitan/")
    assert "README.md, commit cff48f4" in only(bench.cores(2048), design="brainhub/modsqr").source
    hardened = only(bench.cores(2048), design="OTBN, hardened")
    assert hardened.commit == "unknown" and "commit unknown" in hardened.source
    masked = only(bench.cores(4096), design="OTBN, masked")
    assert picked(masked, "instructions operation_cycles") == (120_180_621, None)
    untraceable = msgspec.structs.replace(published_data.figures()[0], source="a/b, c.md")
    monkeypatch.setattr(published_data, "field_file", lambda: published_data.FieldFile([untraceable]))
    with refused(r"a/b, c\.md has no commit; add"):
        published_data.figures.__wrapped__()


def test_rows_that_are_not_measured_say_why(bench, cli):
    """Not measured yet, too slow, or failed, with the message; impossible points are listed as well."""
    bench.store.fail(Point("mont", 32, **UNIT), "step gate-sim: out of cells", 3.0)
    failed = bench.core("mont")
    assert failed.failure == "step gate-sim: out of cells" and failed.failure in failed.note
    assert bench.core("heap").note == lab.NOT_MEASURED
    assert bench.core("heap", 1024, "machine").note == lab.LONG
    out = " ".join(cli("compare cores mont fold --nbits 32 --own").out.split())
    failure = "could not be measured (--retry tries again): step gate-sim: out of cells."
    assert f"mont, 32 bits, unit, {failure}" in out
    assert "Not measured: 2 points" in out and "There is no fold, 32 bits, unit" in out


# ---- points


def test_widths_between_take_the_next_designs():
    at = {
        nbits: {point.subject for point in wanted([nbits]).points} for nbits in (16, 32, 100, 128, 4096, 2048)
    }
    assert at[16] == at[32] and at[100] == at[128] and at[4096] == at[2048] != at[32]
    assert {point.nbits for point in wanted([16, 100]).points} == {16, 100}


def test_a_named_design_is_there_at_every_width():
    points = wanted([24], ["ssmm-ct", "serial"]).points
    found = {f"{point.subject} {point.interface}" for point in points}
    assert found == {"ssmm-ct unit", "ssmm-ct stream", "serial stream"}
    assert all(dict(point.flow)["fmax"] for point in points)


def test_searches_begin_at_the_clocks_of_the_reference_results():
    known = 0
    for point in wanted(lab.widths()).points:
        flow, at_once = dict(point.flow), lab.at_known_clock(point)
        assert flow["fmax"]
        if at_once is None:
            assert flow["clock_period"] == 3.0, "as any search"
        else:
            assert dict(at_once.flow)["clock_period"] == flow["clock_period"]
            assert "fmax" not in dict(at_once.flow)
            known += 1
    assert known > 40
    assert not any(lab.at_known_clock(point) for point in wanted([8], ["mont"]).points), "its clock was given"
    for name, interface, clock_ns in (("heap", "unit", 1.5), ("mont", "stream", 2.65)):  # not set by hand
        (begun,) = (point for point in wanted([32], [name]).points if point.interface == interface)
        assert dict(begun.flow)["clock_period"] == clock_ns


def test_designs_by_manifests(bench):
    (design,) = catalogue.by_manifests([MANIFEST])
    core = only(bench.cores(32, ["mont"], [design]), kind="foreign")
    assert picked(core, "design ours source") == (design.name, False, "simulated"), "it has no formula"
    for operation, cycles in (("decrypt", core.operation_cycles), ("encrypt", core.public_cycles)):
        (part,) = core.point.parts(operation)
        assert cycles == design.at(core.nbits).counted(*part.work.operands)
    assert core.nbits == core.point.nbits and "--accelerator" in core.command
    counted = {"decrypt": (100, 0.3), "encrypt": (9, 1.0)}
    bench.run(design.reference, core.nbits, 5_000.0, 2.0, MACHINE, **counted)
    assert only(bench.cores(core.nbits, ["mont"], [design]), kind="foreign").operation_us == approx(0.2)


def test_accelerators_that_do_no_rsa_are_left_out(bench):
    """Also those whose clock was searched."""
    gcd = own.by_reference(str(ROOT / "eval" / "examples" / "gcd"))
    bench.run(gcd.reference, 32, 500.0, 2.0, MACHINE, **{"gcd typical": (9, 1.0)})
    assert "gcd" not in {core.name.partition("@")[0] for core in bench.cores(32)}


def test_a_design_by_a_manifest_may_be_named(store, cli):
    rows = cli.json(f"compare cores tiny-start-done --accelerator {MANIFEST} --nbits 32 --own")
    own = [row["design"] for row in rows if row["kind"] in ("ours", "twin", "foreign")]
    assert own == ["tiny-start-done"]
    message = cli.fails("compare cores tiny-strat --own --accelerator", MANIFEST)
    assert message.startswith("unknown design 'tiny-strat'")


def test_without_a_search_the_text_says_what_is_missing(store, cli, monkeypatch):
    monkeypatch.setattr(compare, "_measure", lambda *_: 0)
    said = cli("compare cores heap --nbits 16 --measure --no-search --own").out.split()
    assert "Not measured: 2 points whose clock is not known; --no-search skips the search. " in " ".join(said)


def test_a_space_that_is_wrong_is_reported(store, cli, monkeypatch):
    """An unknown design is refused; an illegal setting of a design is reported, also with --json."""

    def narrow(subject, **settings):
        part = Part((subject,), (32,), ("encrypt",), ("flow",), ("stream",), settings, {})
        return Space("", "", {"cycles": "min"}, (), (part,))

    monkeypatch.setattr(lab, "_space", lambda: narrow("mnt"))
    assert cli.fails("compare cores --nbits 32 --own").startswith("unknown design 'mnt'")
    monkeypatch.setattr(lab, "_space", lambda: narrow("mont", steps_per_stage=(5,)))
    said = cli("compare cores --nbits 32 --json --own")
    assert "there is no mont" in said.err and "steps_per_stage" in said.err


def test_published_rows_say_what_they_are():
    found = lab.published_cores(range(5000))
    assert {core.nbits for core in found} >= {32, 256, 512, 1024, 2048}
    names = "product_cycles product_ns"
    for core in found:
        assert core.technology and core.source.startswith("published: ") and len(core.source) > 20
        assert not core.ours and core.floor is None and core.point is None and core.obtained
        assert core.url == "unknown" or core.url.startswith("https://")
        assert re.fullmatch("unknown|[0-9a-f]{7,40}", core.commit)
        assert ("not printed in the paper" in core.source) == core.obtained.startswith("simulated with")
        assert any(picked(core, f"{names} operation_cycles operation_us instructions public_us")), core.design
    unit = only(found, design="001 MontMulRem")
    assert picked(unit, f"{names} area_um2") == (4, 12.0, 13846.736)
    paper = only(found, design="002 Proposed architecture", nbits=1024)
    assert picked(paper, names) == (194, 1940.0)
    assert only(found, design="Ozturk, VDF competition").product_ns == 25.2
    assert {core.limits for core in found if "VDF" in core.design} == {"one modulus, built in"}


def test_works_that_could_not_be_read_are_listed(store, cli):
    out = " ".join(cli("compare cores --nbits 1024 --own").out.split())
    left_out = published_data.field_file().unread
    assert len(left_out) > 5 and all(work in out for work in left_out)


def test_fronts_have_time_where_there_is_a_clock():
    goals = goals_of({"cycles": "min", "area_um2": "min"})
    assert [*goals_at(goals, "flow")] == ["time_ns", "area_um2"]
    assert [*goals_at(goals, "native")] == ["cycles"]
    assert [*goals_at(goals_of({"time_ns": "min", "cycles": "min"}), "layout")] == ["time_ns"]
    assert {"flow", "layout"} == set(METRICS["time_ns"].stages)


# ---- the command


def test_json_has_all_keys(bench, cli):
    bench.run("mont", 128, 20_000.0, 1.5, product=(16, 0.5))
    rows = cli.json("compare cores --nbits 128 --own")
    assert all(picked(row, KEYS) and row["nbits"] == 128 for row in rows)
    assert {row["ours"] for row in rows} == {True, False}
    (row,) = [row for row in rows if row["tests_passed"]]
    assert picked(row, "design product_ns tests_passed tests_failed") == ("mont", 24.0, 60, 0)


def test_text_fits_a_screen(bench, cli):
    settings = (("digit_nbits", 32), ("quotient_delay", 1), ("rows", "joint"))
    bench.run("heap", 128, 41_559.0, 1.8, settings=settings, product=(8, 0.5))
    bench.run("mont", 128, 1e7, 123.45, product=(16, 1000.0))
    out = cli.passes("compare cores --nbits 128 --own").out
    assert max(map(len, out.splitlines())) <= 120
    assert re.search(r"^heap digit.*\.\.\. ", out, re.MULTILINE)
    assert ", published, other technologies" in out and "each on its own technology" in out
    assert "by formula or simulated; --measure measures them." in " ".join(out.split())
    markdown = cli("compare cores --nbits 128 --markdown --own").out
    assert "| heap digit_nbits=32 quotient_delay=1 rows=joint+ |" in markdown
    assert "## 128 bits: a product" in markdown and "published: paper 004" in markdown


def test_measuring_leaves_out_what_takes_long(store, cli, monkeypatch):
    asked = []

    def measure(points, store, args):
        asked.append(points)
        for point in points[:1]:
            store.record(point, of_flow(4_000.0, 2.0, product=(4, 0.1)))
        return 0

    monkeypatch.setattr(compare, "_measure", measure)
    monkeypatch.setattr(lab, "known_clocks", dict)  # none is known
    command = "compare cores systolic-002 --nbits 32 --nbits 1024 --own"
    rows = cli(f"{command} --measure --json").json()
    assert [item.nbits for item in asked[0]] == [32, 32]
    assert [row["area_um2"] for row in rows if row["tests_passed"]] == [4_000.0]
    assert "of them long (--full)" in cli(command).out
    cli(f"{command} --measure --full")
    assert [item.nbits for item in asked[1]] == [1024, 32, 1024]


def test_without_a_search(bench, cli, monkeypatch):
    """One synthesis each, if a clock is known; cores whose clock was searched are not measured again."""
    asked = []
    monkeypatch.setattr(compare, "_measure", lambda points, *_: asked.extend(points) or 0)
    points = [Point("heap", 32, **fields) for fields in (UNIT, MACHINE)]
    known = {(point.kit, *lab.machine_of(point.as_json())): 1.5 for point in points}
    monkeypatch.setattr(lab, "known_clocks", lambda: known)
    command = "compare cores heap serial --nbits 32 --measure --no-search --json --own"
    said = cli(command).err
    assert {(point.subject, point.interface) for point in asked} == {("heap", "unit"), ("heap", "stream")}
    assert all("fmax" not in dict(point.flow) for point in asked)
    assert "of 1 of 3 points no clock is known" in said
    bench.run("heap", 32, 9_000.0, 1.5, product=(5, 0.1))
    asked.clear()
    rows = cli(command).json()
    assert [point.interface for point in asked] == ["stream"]
    assert [row["searched"] for row in rows if row["tests_passed"]] == [True]


test_refused = pytest.mark.usefixtures("store")(
    refusals(
        "compare",
        {
            "cores mnt": "unknown design 'mnt'",
            "cores --nbits 7": "7 bits is out of range",
            "cores --table 3": "--table 3 with cores",
            "cores --pick=-3us": "--pick -3us: give an area or a time with its unit",
            "cores --pick 0um2": "as in 20000um2 or 5us",
            "--pick 5us": "papers have no machines to choose from; give `modexlab compare cores`",
            "paper-001 --pick 5us": "papers have no machines to choose from",
            "cores --full": "--full without --measure",
            "cores --no-search": "--no-search without --measure",
            "paper-001 --crt": "--crt: papers are compared with the machines that they describe; give",
            "cores naive --crt --nbits 32": "no program, which --crt, --blind or --verify needs",
            "paper-001 --no-search --measure": "papers have no clock that is searched",
            "cores --json --markdown": "give one of them",
            "cores --accelerator nowhere.toml": "nowhere.toml",
            "paper-001 --accelerator x.toml": "papers are not compared with your designs",
            "cors": "did you mean 'cores'",
        },
    )
)


@regress
def test_a_real_run(store, cli, real_content):
    """Two cores go through the flow, each at its highest clock; a second run measures nothing."""
    command = "compare cores mont mmmul-004 --nbits 8 --measure --json --own"
    result = cli(command)
    own = [row for row in result.json() if row["kind"] != "published"]
    assert result.code == 0 and len(own) == 4
    for row in own:
        assert row["area_um2"] and row["period_ns"] and not row["marks"], row
        assert row["tests_passed"] > 0 and row["tests_failed"] == 0 and not row["stale"]
        assert row["product_ns"] == approx(row["product_cycles"] * row["period_ns"])
        if row["part"] == "unit":
            assert 0 < row["utilisation"] < 1 and row["energy_nj"] > 0
        else:
            assert row["operation_us"] == approx(row["operation_cycles"] * row["period_ns"] / 1000)
    assert len(store.measurement(1).details["trials"]) > 1
    before = len(store.rows(history=True))
    assert cli(command).json() == result.json() and len(store.rows(history=True)) == before
