"""Static timing: a path by hand, OpenSTA against the flow's own estimate, and what neither can answer."""

import json
import os
import random
import re
import shutil
import signal
from itertools import pairwise

import pytest
from modexlab.fl.errors import BadInput
from modexlab.flow import product
from modexlab.flow.graph import graph, run_step
from modexlab.flow.kit import kit
from modexlab.flow.kit.liberty import Table
from modexlab.flow.timing import nldm, opensta, timing
from modexlab.flow.timing.cells import RISE
from modexlab.flow.timing.report import TimingReport
from modexlab.flow.timing.tables import Tables
from modexlab.flow.timing.wire_table import escaped
from modexlab.rtl.sim.toolchain import ToolError
from pytest import approx

from tests.flow.circuits import Circuit, adder, arc_delays, flop_to_flop, gated, tree
from tests.harness import needs_opensta, parametrize, refused

SAME_NS = 2e-6  # both round to 1e-6
CLOSE = 0.005  # OpenSTA shapes the waves behind a resistance, the estimate does not


def wires(circuit, directory, res_ohm):
    """Wires of up to 6 fF on every net."""
    pick = random.Random(1)
    table = {
        net: {"cap_ff": pick.uniform(0.5, 6), "res_ohm": pick.uniform(0, res_ohm), "source": "placement"}
        for net in circuit.read(directory).nets
    }
    path = directory / "wires.json"
    path.write_text(json.dumps(table))
    return path


def analyze(circuit, directory, **options):
    options = {"clock_ns": 1.0} | options
    return timing.analyze(circuit.write(directory), circuit.name, directory, **options)


def both(circuit, directory, **options):
    """By OpenSTA and by the flow's own engine."""
    return [analyze(circuit, directory, engine=engine, **options) for engine in timing.ENGINES]


def inverted_clock():
    """flop_to_flop with the first register at the falling edge."""
    circuit = flop_to_flop()
    circuit.cells[0] = ("first", "DFF_X1", {"D": "d", "CK": "clk_n", "Q": "a"})
    circuit.add("inverted", "INV_X1", A="clk", ZN="clk_n")
    return circuit


def by_hand(x, y, xs, ys, *corners):
    """Between four numbers of a table: corners at (x0, y0), (x0, y1), (x1, y0), (x1, y1)."""
    across, along = (x - xs[0]) / (xs[1] - xs[0]), (y - ys[0]) / (ys[1] - ys[0])
    low = corners[0] + (corners[1] - corners[0]) * along
    high = corners[2] + (corners[3] - corners[2]) * along
    return low + (high - low) * across


def test_a_path_by_hand(tmp_path):
    """DFF_X1 to INV_X1 to DFF_X1 with wires of 2 and 3 fF, from numbers copied out of stdcells.lib."""
    # the register answers with a rising edge, the clock's slew being 0.03 ns; INV_X1's A weighs 1.700230 fF
    # at a rising edge
    load_a = 2.0 + 1.700230
    slews, loads = (0.0171859, 0.0409838), (1.897810, 3.795620)
    to_q = by_hand(0.03, load_a, slews, loads, 0.0929639, 0.0967178, 0.0991291, 0.1028790)
    slew_a = by_hand(0.03, load_a, slews, loads, 0.00895003, 0.0123317, 0.00895914, 0.0123355)
    # the inverter falls; DFF_X1's D weighs 1.062342 fF at a falling edge
    load_b = 3.0 + 1.062342
    slews, loads = (0.00472397, 0.0171859), (3.795620, 7.591250)
    inverter = by_hand(slew_a, load_b, slews, loads, 0.00912396, 0.0137631, 0.0133910, 0.0192072)
    slew_b = by_hand(slew_a, load_b, slews, loads, 0.00507788, 0.00907788, 0.00782158, 0.0104713)
    # setup of a falling D: slew of D, slew of CK
    slews = (0.00117378, 0.0449324)
    setup = by_hand(slew_b, 0.03, slews, slews, 0.036831, 0.022224, 0.054595, 0.039810)
    slack = 1.0 - setup - to_q - inverter
    table = tmp_path / "wires.json"
    table.write_text(
        json.dumps({net: {"cap_ff": cap, "source": "routing"} for net, cap in (("a", 2), ("b", 3))})
    )
    for engine, report in zip(timing.ENGINES, both(flop_to_flop(), tmp_path, wires=table), strict=True):
        assert report.engine == engine and report.wires == "routing"
        path = report.paths[0]
        assert path.start == "first/CK" and path.end == "second/D"
        assert path.slack_ns == report.wns_ns == approx(slack, abs=SAME_NS)
        _, at_q, at_a, at_zn, at_d = path.points
        assert [(at.cell, at.pin, at.edge) for at in path.points[1:]] == [
            ("first", "Q", "rise"),
            ("gate", "A", "rise"),
            ("gate", "ZN", "fall"),
            ("second", "D", "fall"),
        ]
        assert at_q.type == "DFF_X1" and at_q.net == "a" and at_zn.net == "b" and at_d.type == "DFF_X1"
        figures = (at_q.slew_ns, at_q.load_ff, at_q.delay_ns, at_q.arrival_ns)
        assert figures == approx((slew_a, load_a, to_q, to_q), abs=SAME_NS)
        assert at_a.delay_ns == 0 and at_a.load_ff is None
        assert (at_zn.delay_ns, at_d.slew_ns) == approx((inverter, slew_b), abs=SAME_NS)


@parametrize("make", [adder, tree, gated])
@parametrize("res_ohm, propagated, derate", [(None, False, 0.0), (0.0, True, 0.08), (200.0, True, 0.0)])
def test_engines_agree(make, res_ohm, propagated, derate, tmp_path):
    circuit = make()
    found = None if res_ohm is None else wires(circuit, tmp_path, res_ohm)
    settings = {"fmax": True, "paths": 50, "clock_slew_ns": 0.04, "derate": derate}
    sta, own = both(circuit, tmp_path, wires=found, propagated=propagated, **settings)
    assert own.endpoints == sta.endpoints == len(sta.paths)
    for kind in ("paths", "hold_paths"):
        expected = {path.end: path for path in getattr(sta, kind)}
        assert {path.end for path in getattr(own, kind)} == expected.keys()
        for path in getattr(own, kind):
            other = expected[path.end]
            near = SAME_NS if not res_ohm else CLOSE * other.arrival_ns + 5e-4
            assert path.arrival_ns == approx(other.arrival_ns, abs=near)
            assert path.slack_ns == approx(other.slack_ns, abs=near)
            if not res_ohm:
                keys = ("cell", "type", "pin", "edge")
                for mine, theirs in zip(path.points, other.points, strict=True):
                    assert [getattr(mine, key) for key in keys] == [getattr(theirs, key) for key in keys]
                    assert mine.load_ff == approx(theirs.load_ff, abs=1e-4)
    near = SAME_NS if not res_ohm else 5e-4
    assert own.hold_wns_ns == approx(sta.hold_wns_ns, abs=near)
    assert own.constraints == sta.constraints
    assert (own.constraints["latency_ns"] > 0.05) == (propagated and circuit.name == "gated")
    assert own.fmax_mhz == approx(sta.fmax_mhz, rel=1e-4 if not res_ohm else CLOSE)


def test_slack_is_reported_with_both_wire_models(tmp_path, library):
    """Without wires and with the library's model, which OpenSTA takes where none is asked for and ours does
    not: each as an analysis with these wires alone finds it.
    """
    model = library.default_wire_load
    without, loaded = (both(adder(), tmp_path, wire_load=load) for load in (None, model))
    assert without[0].wires == "none" and loaded[0].wires == "model" and loaded[0].wire_load == model
    assert without[0].wns_ns > loaded[0].wns_ns + 0.005
    assert 1 - loaded[1].wns_ns == approx(1 - loaded[0].wns_ns, rel=CLOSE)
    for bare, wired in zip(without, loaded, strict=True):
        assert bare.wns_by_model_ns == wired.wns_by_model_ns == {"none": bare.wns_ns, model: wired.wns_ns}
    assert analyze(adder(), tmp_path, wires=wires(adder(), tmp_path, 10.0)).wns_by_model_ns == {}
    for name in ("5K", "no_wires"):
        with refused(rf"unknown wire-load model '{name}'.*5K_hvratio"):
            analyze(adder(), tmp_path, wire_load=name)


def test_report(tmp_path):
    """Names as in the source, modules, verdict; the same in the file."""
    circuit = adder()
    owners = {name: name.rpartition(".")[0] for name, *_ in circuit.cells} | {"dp.add.fa[3]": "dp.elsewhere"}
    hierarchy = tmp_path / "hierarchy.json"
    hierarchy.write_text(json.dumps({"cells": owners, "modules": {"": "adder"}}))
    report = analyze(circuit, tmp_path, clock_ns=0.5, hierarchy=hierarchy, fmax=True, paths=3)
    assert product.read(tmp_path / "timing.json", TimingReport) == report
    sdc = (tmp_path / "constraints.sdc").read_text()
    assert "create_clock -name clk -period 0.5 [get_ports {clk}]" in sdc
    assert not report.met and report.wns_ns < 0 and report.tns_ns < report.wns_ns
    assert report.hold_wns_ns > 0
    assert len(report.paths) == len(report.hold_paths) == 3
    path = report.paths[0]
    assert path.modules == ["dp", "dp.add", "dp.elsewhere"]
    assert path.end == "dp.s_reg[7]/D" and path.start in ("dp.a_reg[0]/CK", "dp.b_reg[0]/CK")
    assert {point.module for point in path.points if point.cell == "dp.add.fa[3]"} == {"dp.elsewhere"}
    missed = (
        f"0.5 ns is missed by {-report.wns_ns:.3f} ns: {0.5 - report.wns_ns:.3f} ns is met; "
        f"worst path {path.start} to dp.s_reg[7]/D, 10 cells in dp, dp.add"
    )
    assert report.verdict.startswith(missed)
    assert report.endpoints == 32
    # the highest clock is met, and a thousandth above it is not
    best = 1000 / report.fmax_mhz
    assert report.met_ns == approx(best, abs=SAME_NS)
    at_best = analyze(circuit, tmp_path, clock_ns=best)
    assert at_best.met and at_best.verdict.startswith(f"{best:g} ns is met with 0.000 ns")
    assert not analyze(circuit, tmp_path, clock_ns=best / 1.001).met


@parametrize("engine", timing.ENGINES)
def test_hold_at_inputs_is_told_and_not_judged(engine, tmp_path):
    report = analyze(flop_to_flop(), tmp_path, input_hold_ns=0.0, engine=engine)
    assert report.hold_paths[0].slack_ns < 0 < report.hold_wns_ns
    assert report.met and "hold at the input d is missed by" in report.caveats[-1]
    late = flop_to_flop()
    late.cells[-1][2]["CK"] = "z"
    for source, net in pairwise(["clk", *"stuvwxyz"]):
        late.add(net, "CLKBUF_X1", A=source, Z=net)
    report = analyze(late, tmp_path, engine=engine, propagated=True)
    missed = f"hold is missed by {-report.hold_wns_ns:.3f} ns on a path from a register"
    assert not report.met and report.verdict.startswith(missed)


@needs_opensta
def test_fmax_where_paths_take_half_a_cycle(tmp_path):
    """Slack is not the period less a constant there: OpenSTA's search finds the clock, the estimate says that
    it does not look.
    """
    circuit = inverted_clock()
    report = analyze(circuit, tmp_path, clock_ns=3.0, fmax=True)
    assert 0 <= report.fmax.slack_ns <= 1e-5
    assert report.fmax.clock_ns == approx(2 * (1.5 - report.wns_ns), abs=1e-4)
    own = analyze(circuit, tmp_path, clock_ns=3.0, engine="nldm")
    assert "1 latches or registers of an inverted clock are not checked: first" in own.caveats[0]


def test_constants_make_no_paths(tmp_path):
    """Behind a tie cell and through gates that it closes nothing arrives; what a full adder can no longer do
    is left out.
    """
    circuit = adder(2)
    circuit.add("one", "LOGIC1_X1", Z="hi")
    circuit.add("closed", "NOR2_X1", A1="hi", A2="dp.s[1]", ZN="low")
    circuit.add("dead", "DFF_X1", D="low", CK="clk", Q="dead_q")
    sta, own = both(circuit, tmp_path, paths=30)
    assert "dead/D" not in {path.end for path in own.paths}
    assert sta.endpoints == own.endpoints
    assert own.wns_ns == approx(sta.wns_ns, abs=SAME_NS)


def test_design_without_a_clock_is_measured_from_inputs_to_outputs(tmp_path):
    circuit = Circuit("comb", "a:2", "y")
    circuit.add("g", "XOR2_X1", A="a[0]", B="a[1]", Z="y")
    sta, own = both(circuit, tmp_path, clock_port=None)
    assert own.wns_ns == approx(sta.wns_ns, abs=SAME_NS)
    assert sta.paths[0].points[0].pin.startswith("a[")


# -- the estimate's own
# -------------------------------------------------------------------------------------------------


def test_tables_looked_up_together(library):
    tables = Tables()
    arc = library.cells["NAND2_X1"].pins["ZN"].timing[0]
    known = [
        arc.cell_rise,
        arc.fall_transition,
        Table((0.0,), (0.0,), ((0.25,),)),
        Table((1.0, 2.0), (0.0,), ((1,), (3,))),
    ]
    numbers = nldm.np.array([tables.add(table) for table in known])
    for first, second in [(0.02, 5.0), (0.5, 200.0), (0.0, 0.0)]:
        assert tables.look_up(numbers, first, second) == approx([table.at(first, second) for table in known])


def test_slews_loads_and_delays_for_other_estimators(tmp_path, library):
    circuit = tree().read(tmp_path)
    result = nldm.analyze(circuit, library, library.constraints(1.0))
    net, pin = circuit.net("$n6"), library.cells["XNOR2_X1"].pins["A"]
    assert result.loads_ff[net].mean() == approx(4 * (pin.cap_fall_ff + pin.cap_rise_ff) / 2)
    assert (result.slews_ns[net] > 0).all()
    delays = list(arc_delays(result))
    mine = [row for row in delays if row[0] == "g/2"]
    # each input of an exclusive or has two conditions, and the edges that these allow
    assert {(pin, start, out, end, when) for _, pin, start, out, end, when, _ in mine} == {
        (pin, start, "Z", end, when)
        for pin, other in (("A", "B"), ("B", "A"))
        for start in (0, 1)
        for end, when in ((start, f"!{other}"), (1 - start, other))
    }
    assert all(0 < delay < 0.5 for *_, delay in delays)


def test_clock_latency_is_the_mean_over_flip_flops(tmp_path, library):
    """The pin of a clock gate, at which the clock arrives earlier, does not count."""
    circuit = gated().read(tmp_path)
    result = nldm.analyze(circuit, library, library.constraints(1.0, propagated=True))
    rise = {net: result.arrivals_ns[circuit.net(net)][RISE] for net in ("ct", "ck0", "ck1", "gck")}
    assert rise["ct"] < min(rise["ck0"], rise["ck1"], rise["gck"])
    of_registers = [rise[net] for net in ("ck0", "ck0", "gck", "ck1", "gck")]
    assert result.clock_latency_ns == approx(sum(of_registers) / len(of_registers))


def test_combinational_loop_is_refused(tmp_path, library):
    circuit = Circuit("loop", "a", "y")
    circuit.add("u", "NAND2_X1", A1="a", A2="y", ZN="n")
    circuit.add("v", "INV_X1", A="n", ZN="y")
    with refused("combinational loop"):
        nldm.analyze(circuit.read(tmp_path), library, library.constraints(1.0, None))


# -- what cannot be answered
# --------------------------------------------------------------------------------------------


def test_without_opensta_the_estimate_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(opensta, "installed", opensta.installed.__wrapped__)
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "sta" else which(name))
    report = analyze(adder(), tmp_path)
    assert report.engine == "nldm" and "apt-get install opensta" in report.caveats[0]
    with refused("OpenSTA is missing: run `apt-get install opensta`"):
        analyze(adder(), tmp_path, engine="opensta")


CLOCK_NS = 0.5  # missed by the adder: the worst row is a violated one
WORST_ROW, MET_ROW = (
    re.compile(rf"(?m)^(\S+) \(DFF_X1\) .* \({verdict}\)\n") for verdict in ("VIOLATED", "MET")
)


def forget_opensta():
    for cached in (opensta.installed, opensta.version):
        cached.cache_clear()


@pytest.fixture
def fake_sta(tmp_path, monkeypatch):
    """Put an `sta` first in PATH that has this version and prints this report."""
    directory = tmp_path / "bin"
    directory.mkdir()

    def make(command, version=opensta.VERSIONS[0]):
        sta = directory / "sta"
        sta.write_text(f'#!/bin/sh\nif [ "$1" = -version ]; then echo {version!r}; else {command}; fi\n')
        sta.chmod(0o755)
        forget_opensta()

    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")
    yield make
    forget_opensta()


@pytest.fixture
def fake_report(tmp_path, fake_sta):
    """Print OpenSTA's own report of the adder at CLOCK_NS, changed by a function."""
    log = tmp_path / "log"
    fake_sta(f'{shutil.which("sta")} "$@" | tee {log}')
    assert analyze(adder(), tmp_path, clock_ns=CLOCK_NS).met is False
    report = log.read_text()
    (tmp_path / "timing.json").unlink()

    def make(change):
        changed = change(report)
        assert changed != report
        log.write_text(changed)
        fake_sta(f"cat {log}")

    return make


def without(section, row, by=""):
    """Replace the first row that matches in a section of the report."""

    def change(report):
        before, name, rest = report.partition(f"@ends {section}\n")
        return before + name + row.sub(by, rest, count=1)

    return change


def later(digits):
    """Raise the slack of the worst setup path by so many units of its last digit."""

    def raised(match):
        return f"{float(match['slack']) + digits * 1e-6:.6f}{match['verdict']}"

    row = re.compile(r"(?P<slack>-\d+\.\d{6})(?P<verdict>\s+slack \(VIOLATED\))")
    return lambda report: row.sub(raised, report, count=1)


@needs_opensta
def test_a_path_and_its_endpoint_may_differ_in_the_last_digit(tmp_path, fake_report):
    fake_report(later(1))
    assert analyze(adder(), tmp_path, clock_ns=CLOCK_NS, engine="opensta").met is False


@needs_opensta
def test_no_verdict_without_a_complete_report(tmp_path, fake_report, fake_sta):
    """A report that does not parse, a missing row and an unknown version are errors, whatever the slacks."""
    analysed = {"clock_ns": CLOCK_NS, "engine": "opensta"}
    incomplete = r"report is incomplete: {} endpoints of {} expected, {} of them found; it lacks \S+/D"
    other_form = r"\1 | DFF_X1 | slack -0.098 | VIOLATED\n"
    cases = {
        r"report does not parse: expected a row such as .*, found 'dp\..* VIOLATED'": without(
            "max", WORST_ROW, other_form
        ),
        "a path with the worst slack of all endpoints": without("max", WORST_ROW),
        r"a path with the worst slack of all endpoints, \S+ ns, found": later(2),
        incomplete.format(32, "setup", 31): without("max", MET_ROW),
        incomplete.format(32, "hold", 31): without("min", MET_ROW),
        incomplete.format(16, "hold behind registers", 15): without("inside", MET_ROW),
        incomplete.format(32, "setup with the wire load", 31): without("loaded", MET_ROW),
        "a slack that agrees with its verdict": without("max", re.compile("VIOLATED"), "MET"),
        "expected a path with its pins": lambda report: re.sub(r"(?m)^.*\sslack \(.*\n", "", report, count=1),
        "expected a period and its slack": lambda report: re.sub(r"@fmax\n.*", "@fmax", report),
        r"OpenSTA stopped \(0\) before it printed the section fmax": lambda report: report.partition("@fmax")[
            0
        ],
        r"OpenSTA stopped \(0\) before it printed the section read": lambda _: "Segmentation fault\n" * 3,
        incomplete.format(32, "setup", 0): lambda report: re.sub(
            r"(?s)(@(?:paths|ends) \w+\n|@fmax\n).*?(?=@)", r"\1No paths found.\n", report
        ),
    }
    for message, change in cases.items():
        fake_report(change)
        with pytest.raises(ToolError, match=message):
            analyze(adder(), tmp_path, **analysed)
    for version in ("3.1.0", "", "OpenSTA 2.0.17 with a patch"):
        fake_sta("exit 1", version)
        unknown = re.escape(
            f"has the version {version or 'unknown'!r}, whose report is not known: expected OpenSTA 2.0.17"
        )
        for engine in (None, "opensta"):
            with pytest.raises(ToolError, match=unknown):
                analyze(adder(), tmp_path, engine=engine)
    assert not (tmp_path / "timing.json").exists()


@needs_opensta
def test_incomplete_report_ends_the_step(tmp_path, fake_report, monkeypatch, capsys):
    """By its command: exit code 1, the message on stderr, and no timing.json."""
    fake_report(without("max", MET_ROW))
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    adder().write(inputs)
    (inputs / "design.json").write_text(json.dumps({"name": "adder", "top": "adder"}))
    (inputs / "hierarchy.json").write_text(json.dumps({"cells": {}, "modules": {"": "adder"}}))
    (inputs / "adk").symlink_to(kit.find().lib.parent)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("clock_period", str(CLOCK_NS))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    graph._version.cache_clear()
    assert run_step.main(["timing"]) == 1
    out, error = capsys.readouterr()
    assert "OpenSTA's report is incomplete: 32 endpoints of setup expected, 31" in error
    assert "met" not in out + error
    assert not (tmp_path / "outputs").exists()


@needs_opensta
def test_no_verdict_on_what_is_not_judged(tmp_path):
    """The estimate knows no inverted clock, and a constant output has no slack: neither meets a clock."""
    circuit = inverted_clock()
    own = analyze(circuit, tmp_path, clock_ns=3.0, engine="nldm")
    assert own.met is None and own.met_ns is None
    assert own.verdict == "no verdict on 3 ns: 1 registers are not checked"
    sta = analyze(circuit, tmp_path, clock_ns=0.2)
    assert sta.met is False and analyze(circuit, tmp_path, clock_ns=sta.met_ns).met
    constant = Circuit("constant", "clk", "q")
    constant.add("tie", "LOGIC0_X1", Z="q")
    for report in both(constant, tmp_path):
        assert report.met is None
        assert report.met_ns is None
        assert report.verdict == "no path that a clock measures"


@parametrize("engine", timing.ENGINES)
@parametrize("clock_port", ["clk", None])
def test_no_verdict_on_registers_without_the_clock(clock_port, engine, tmp_path):
    """A register on another clock is in no path that is judged: that is a caveat and no verdict."""
    circuit = flop_to_flop()
    circuit.ports["clk2"] = ("input", 1)
    circuit.cells[2] = ("second", "DFF_X1", {"D": "b", "CK": "clk2", "Q": "q"})
    report = analyze(circuit, tmp_path, clock_ns=3.0, clock_port=clock_port, engine=engine)
    assert report.met is None and report.met_ns is None
    if clock_port:
        assert report.verdict == "no verdict on 3 ns: 1 registers are not checked"
        (caveat,) = (text for text in report.caveats if "the clock does not reach" in text)
        assert caveat == "1 registers are not checked, as the clock does not reach them: second"


@parametrize("engine", timing.ENGINES)
def test_registers_behind_clock_gates_are_judged(engine, tmp_path):
    report = analyze(gated(), tmp_path, clock_ns=3.0, engine=engine)
    assert report.met and "not checked" not in " ".join(report.caveats)


def test_checks_whose_condition_is_never_true(tmp_path):
    """A scan flip-flop whose scan is tied off has no check at its scan input, in either engine."""
    circuit = Circuit("scan", "clk d si", "q")
    circuit.add("tie", "LOGIC0_X1", Z="se")
    circuit.add("flop", "SDFF_X1", D="d", SI="si", SE="se", CK="clk", Q="q")
    sta, own = both(circuit, tmp_path, paths=9)
    assert {path.end for path in sta.paths} == {path.end for path in own.paths} == {"flop/D", "q"}


@needs_opensta
def test_what_opensta_would_only_mumble_about_is_refused(tmp_path):
    netlist_v = flop_to_flop().write(tmp_path)
    good = netlist_v.read_text()

    def check(reason, text=good, **options):
        netlist_v.write_text(text)
        with refused(reason) as refusal:
            timing.analyze(netlist_v, "flop_to_flop", tmp_path, **{"clock_ns": 1.0} | options)
        assert "\n" not in str(refusal.value)
        assert not (tmp_path / "timing.json").exists()

    check("is not mapped to the library: .*INV_X9", good.replace("INV_X1", "INV_X9"))
    check("cannot link the module flop_to_flop", good.replace("module flop_to_flop", "module other"))
    check("cannot link the module flop_to_flop", good[:-20])
    check("unknown clock port 'clock'", clock_port="clock")
    spef, table, model = tmp_path / "other.spef", tmp_path / "wires.json", {"wire_load": "1K_hvratio_1_1"}
    spef.write_text('*SPEF "x"\n*D_NET nowhere 1.0\n*END\n')
    check(r"^other\.spef:2: \*C_UNIT is missing", spef=spef)
    (braced := tmp_path / "a{b.spef").write_text('*SPEF "x"\n')
    check("with a brace", spef=braced)
    check("wires or a wire-load model", spef=spef, **model)
    for net, cap_ff, reason, options in (
        ("nowhere", 1, "nowhere, which is no net", {}),
        ("a", -1, "is no wires.json", {}),
        ("a", 1, "wires or a wire-load model", model),
    ):
        table.write_text(json.dumps({net: {"cap_ff": cap_ff, "source": "routing"}}))
        check(reason, wires=table, **options)


@parametrize(
    "options",
    [
        {"clock_ns": 0.0},
        {"clock_ns": float("inf")},
        {"engine": "sta"},
    ],
)
def test_constraints_that_make_no_sense_are_refused(options, tmp_path):
    with pytest.raises(BadInput):
        analyze(flop_to_flop(), tmp_path, **options)
    with refused(r"nowhere\.v cannot be read"):
        timing.analyze(tmp_path / "nowhere.v", "top", tmp_path, clock_ns=1.0)


def test_names_in_spef():
    assert escaped("dut.n[3]") == r"dut\.n\[3\]"
    assert escaped("bus[3]", bus_bit=True) == "bus[3]"
    assert escaped("u.m[1][3]", bus_bit=True) == r"u\.m\[1\][3]"
