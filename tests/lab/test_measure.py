"""Measuring a point: figures equal those of the commands, and wrong hardware yields none."""

import hashlib
import json
import random

import modexlab
import msgspec
import pytest
from modexlab.eval.designs import catalogue, machine, system_catalogue
from modexlab.eval.designs.session import Operated, Session
from modexlab.eval.errors import NoMeasurement
from modexlab.eval.lab import asic_run, measure, metrics
from modexlab.eval.lab.content import verilog_digests
from modexlab.eval.lab.point import Point
from modexlab.eval.papers import published as papers
from modexlab.fl.status import Status
from modexlab.flow.graph import graph
from modexlab.flow.graph.figures import Ran, Summary, Verdict
from modexlab.flow.kit import kit
from modexlab.flow.metric import CORNERS
from modexlab.flow.power.report import NO_ENERGY
from modexlab.proc.software import kernels

from tests.command_line import refusals
from tests.harness import (
    HAS_OPENSTA,
    later,
    module_fixture,
    one_now,
    parametrize,
    refused,
    regress,
    regress_if,
)
from tests.paths import ROOT
from tests.programs import EVERYTHING

SMALL = Point("mont", 8, stage="layout")  # test_cli_asic.py makes it too


def cycles(found):
    (only,) = found.figures
    assert only.metric == "cycles" and found.tests and not found.marks
    return only.value


def counted_alike(point, *stages):
    """The cycles of a point, which are the same at these stages."""
    counts = {stage: cycles(measure.measure(point.at(stage=stage))) for stage in stages}
    assert len(set(counts.values())) == 1, counts
    return counts[stages[0]]


# ---- cycles


@parametrize(
    "name, workload, settings",
    [
        # each workload once; the other combinations run in `make regress`
        *(
            pytest.param(name, workload, {}, marks=regress_if((name == "ssmm") != (workload == "crt")))
            for name in ("mont", "ssmm")
            for workload in ("encrypt", "decrypt", "crt", "sign+9verify")
        ),
        ("mont-keyed", "decrypt", {"schedule": "fixed-window"}),
        *later(
            ("mont-keyed", "decrypt", EVERYTHING),
            ("mont-keyed", "decrypt", {"schedule": "always", "blind": "exponent", "verify": True}),
        ),
    ],
)
def test_all_levels_count_alike(name, workload, settings):
    counted_alike(Point(name, 16, settings, workload=workload), "formula", "cl", "native")


def test_paper_operands_at_32_bits():
    """The figures that paper 001 prints for its own machine."""
    for workload, expected in papers.by_name("001", "RTL")["mont-001"].items():
        assert cycles(measure.measure(Point("mont-001", 32, workload=workload))) == expected


def test_mix_is_the_sum_of_its_parts():
    sign, verify = (
        cycles(measure.measure(Point("naive", 16, workload=name))) for name in ("decrypt", "encrypt")
    )
    mix = measure.measure(Point("naive", 16, workload="sign+5verify"))
    assert cycles(mix) == sign + 5 * verify
    assert [detail["times"] for detail in mix.details["exponentiations"]] == [1, 5]
    assert mix.figures[0].operation == "sign+5verify"


def test_several_requests_have_a_latency_and_an_interval():
    """The accelerator crc serves one request at a time: an interval is a latency and a cycle."""
    crc = modexlab.accelerator(ROOT / "eval" / "examples" / "crc").at(32)
    requests = crc.workloads()["message"]
    assert len(requests) > 1
    found = modexlab.measure(crc, "message")
    assert found.value("interval_cycles") == found.value("latency_cycles") + 1
    assert found.value("cycles") == crc.total_cycles(requests)
    assert modexlab.measure(crc, "message", stage="formula").value("cycles") == found.value("cycles")


def test_python_stage_and_registers():
    count = counted_alike(Point("mont", 8, interface="xcel"), "python", "native", "cl")
    assert count > cycles(measure.measure(Point("mont", 8)))


def test_verilog_hash_is_of_the_hardware():
    """It is equal for all workloads and stages, differs for another machine, and is empty for a formula."""

    def hash_of(**fields):
        return measure.measure(Point("mont", 8, **fields)).verilog_hash

    expected = hashlib.sha256(SMALL.chip().verilog().encode()).hexdigest()
    assert expected == hash_of() == hash_of(workload="decrypt") == verilog_digests(SMALL).text
    assert verilog_digests(Point("mont", 8, {"add_red": "textbook"})).text not in (expected, "")
    assert hash_of(stage="formula") == ""


def test_width_without_a_key_says_so():
    assert "no RSA key of 9 bits" in measure.measure(Point("mont", 9)).details["caveats"][0]
    assert measure.measure(Point("mont", 16)).details["caveats"] == []


@parametrize("subject", one_now(("procxcel-mont", "proc-naive"), "proc-naive"))
def test_systems_are_normalised(subject):
    (row,) = system_catalogue.Measurement().rows([system_catalogue.find_system(subject)], [32], ["encrypt"])
    found = measure.measure(Point(subject, 32))
    assert cycles(found) == row.normalised
    assert found.details["window"]["dummy"] == row.dummy > 0
    assert found.verilog_hash == verilog_digests(Point(subject, 32, stage="flow")).text


@regress
def test_a_system_on_a_pseudo_modulus_says_that_it_does_no_rsa():
    """No key has such a modulus, so the machine is given one; the result is checked all the same."""
    point = Point("procxcel-cm-pm-000", 32, {"modulus": 0x55555555}, stage="python")
    assert point.settings and Point.from_json(point.as_json()).settings == point.settings, (
        "the default is the key's"
    )
    found = measure.measure(point)
    (work,) = found.details["exponentiations"]
    assert int(work["mod"], 16) == 0x55555555 and int(work["exp"], 16) == 65537
    said = "not RSA: the base and the exponent of the key's operations on modulus 1431655765"
    assert found.details["caveats"] == [said]
    assert cycles(found) > 17
    with refused(r"does not divide 2\^32 - 1"):
        Point("procxcel-cm-pm-000", 32).check()


def test_progress_is_told():
    said = []
    measure.measure(Point("mont", 8, stage="formula"), said.append)
    assert said == ["mont, 8 bits, encrypt, formula"]


# ---- refused figures


@parametrize(
    "operated, message",
    [
        (Operated([(Status.OK, 12345)], 77), "the result of encrypt is wrong"),
        (Operated([(Status.EVEN_MODULUS, 0)], 3), "answered with status"),
    ],
)
def test_wrong_result_has_no_figures(operated, message, monkeypatch):
    monkeypatch.setattr(Session, "operate", lambda *_: [operated])
    with pytest.raises(NoMeasurement, match=message):
        measure.measure(Point("mont", 8))


def test_wrong_function_has_no_formula(monkeypatch):
    monkeypatch.setattr(machine.Machine, "fl", lambda *_, **__: (Status.OK, 1))
    with pytest.raises(NoMeasurement, match="is wrong"):
        measure.measure(Point("mont", 8, stage="formula"))


def test_wrong_program_has_no_cycles(monkeypatch):
    bad = system_catalogue.Row("xcel", "encrypt", 32, None, note="exit code 1")
    monkeypatch.setattr(system_catalogue.Measurement, "row", lambda *_: bad)
    with pytest.raises(NoMeasurement, match="exit code 1"):
        measure.measure(Point("procxcel-mont", 32))


def test_impossible_point_is_refused_before_anything_is_built():
    with refused("does not divide"):
        measure.measure(Point("mont", 32, {"nstages": 3}))


PASSED, FAILED = Ran(3, 0), Ran(2, 1)


@parametrize(
    "change, message",
    [
        ({}, ""),
        ({"left_out": {"equivalence": "too large", "power": NO_ENERGY}}, ""),
        ({"left_out": {"timing": "no OpenSTA"}}, "step timing: no OpenSTA"),
        ({"tests": {"rtl": PASSED, "gates": FAILED}}, r"1 tests failed \(gates\)"),
        ({"tests": {"rtl": PASSED}}, "no test ran on the netlist"),
        ({"unrouted": "3 nets found no way"}, "routing failed: 3 nets found no way"),
        (
            {"equivalence": Verdict(equivalent=False, refuted=True, summary="1 part differs")},
            "not what the design says: 1 part",
        ),
    ],
)
def test_flow_that_went_wrong_has_no_figures(change, message):
    wanted = asic_run.targets(layout=False)
    summary = Summary(**dict.fromkeys(Summary.__struct_fields__))
    good = {"left_out": {}, "tests": {"rtl": PASSED, "gates": PASSED}}
    summary = msgspec.structs.replace(summary, **good | change)
    if not message:
        asic_run._require_done(SMALL, summary, wanted)
        return
    with pytest.raises(NoMeasurement, match=message):
        asic_run._require_done(SMALL, summary, wanted)


# ---- through the flow


@module_fixture
def routed():
    return measure.measure(SMALL)


def by_name(figures):
    return {(figure.metric, figure.operation): figure.value for figure in figures}


def test_layout_has_all_figures(routed):
    found = by_name(routed.figures)
    of_corners = {f"period_{corner}_ns" for corner in CORNERS}  # of a kit with several
    assert {metric for metric, _ in found} == set(metrics.at("layout")) - of_corners
    assert {figure.unit for figure in routed.figures} <= {item.unit for item in metrics.METRICS.values()}
    design = catalogue.find("mont")
    for work in SMALL.chip().energy():
        count = design.at(8).cycles(*work.operands)
        assert found["cycles", work.name] == count
        assert found["time_ns", work.name] == pytest.approx(count * found["clock_ns", ""])
        assert 0 < found["energy_nj", work.name] < found["energy_with_glitches_nj", work.name]
    assert found["die_um2", ""] > found["area_um2", ""]
    assert all(content.startswith(b"\x89PNG") for content in routed.artifacts.values())
    assert set(routed.artifacts) == set(asic_run.PICTURES)


def test_layout_says_what_ran(routed):
    rows = len(SMALL.chip().rows()) + len(system_catalogue.OPERATIONS)
    assert routed.tests == f"{rows} rows at RTL, {rows} at gates, {rows} at placed gates"
    assert routed.verilog_hash == verilog_digests(SMALL).text
    assert any("equivalence" in detail for detail in routed.details["caveats"])
    assert "equivalence" not in {detail["name"] for detail in routed.details["steps"]}
    assert routed.tools["Yosys"] and ("OpenSTA" in routed.tools) == HAS_OPENSTA
    assert json.loads(json.dumps(routed.details)) == routed.details
    assert routed.details["area_by_module"][0]["area_um2"] == by_name(routed.figures)["area_um2", ""]
    assert routed.details["corner"] == kit.find().at
    for work in SMALL.chip().energy():
        count, seed = routed.details["drawn"][work.name].values()
        generator = random.Random(seed)
        again = [(generator.randrange(work.mod), work.exp, work.mod) for _ in range(count)]
        assert again == SMALL.chip()._drawn(work)


def test_command_gives_the_same_figures(routed, cli):
    report = cli(*SMALL.command[1:]).json()
    found = by_name(routed.figures)
    for name in ("area_um2", "cells", "flops", "wns_ns", "hold_wns_ns", "fmax_mhz", "power_mw"):
        assert found[name, ""] == report[name], name
    for name in metrics.OF_OPERATION:
        for operation, value in report[name].items():
            assert found[name, operation] == value, (name, operation)
    assert report["energy_spread_nj"].keys() == {"encrypt", "decrypt"}
    for operation, spread in report["energy_spread_nj"].items():
        assert found["energy_drawn_nj", operation] == spread["mean_nj"]
        assert found["energy_drawn_std_nj", operation] == spread["std_nj"] > 0
    assert list(routed.marks) == report["marks"]


@regress
def test_system_with_parameters_and_its_command(cli):
    point = Point("procxcel-mont", 32, {"nstages": 2, "steps_per_stage": 16})
    found = cycles(measure.measure(point))
    assert found < cycles(measure.measure(Point("procxcel-mont", 32)))
    (row,) = cli(*point.command[1:]).json()
    assert row["normalised"] == found


@regress
def test_missed_clock_is_a_mark():
    """Its figures are recorded with a mark that excludes them from comparisons."""
    found = measure.measure(SMALL.at(stage="flow", flow={"clock_period": 0.9}))
    (mark,) = found.marks
    assert mark.startswith("0.9 ns is missed by ")
    assert by_name(found.figures)["wns_ns", ""] < 0


def test_fpga_counts_and_its_tests(cli):
    point = Point("naive", 8, stage="fpga", flow={"device": "ecp5"})  # test_cli_fpga.py makes it too
    found = measure.measure(point)
    counts = by_name(found.figures)
    report = cli(*point.command[1:]).json()["devices"]["ecp5"]
    assert counts["lut", ""] == report["luts"] and counts["ff", ""] == report["ffs"]
    assert found.tests.endswith(" rows at RTL") and found.verilog_hash == verilog_digests(point).text


def test_skipped_steps_take_those_with_them_that_need_them():
    wanted = asic_run.targets(layout=True, skip=["place"])
    assert not set(wanted) & set(graph.WITH_LAYOUT) and "power" in wanted
    assert "equivalence" not in asic_run.targets(layout=False, skip=["equivalence"])
    with refused("--skip synthesis"):
        asic_run.targets(layout=False, skip=["synthesis"])
    with refused("did you mean 'place'"):
        asic_run.targets(layout=False, skip=["plac"])


def test_verilog_of_the_flow_is_what_was_hashed(tmp_path):
    SMALL.chip().export(tmp_path)
    assert hashlib.sha256((tmp_path / "design.sv").read_bytes()).hexdigest() == verilog_digests(SMALL).text


# ---- options of the commands


test_refused_options = refusals(
    "",
    {
        "run mont --workload encrypt --base 0": "--base with --workload",
        "run mont-keyed --workload encrypt --crt": "--crt, --blind and --verify are for a private key",
        "run mont --workload encript": "unknown workload 'encript': did you mean 'encrypt'",
        "run dm-m-000 --nbits 16 --workload crt": "workload crt has two moduli",
        "run --level formula mont --workload decrypt --exp 3": "--exp with --workload",
        "run --level formula mont --nbits 7 --workload decrypt": "a width of 7 bits is out of range",
        "proc systems proc-naive --set nstages=2": "software on the processor has no parameters",
        "asic proc-naive --set a=1 --set b=2": "--set a=1: software on the processor has no parameters",
        "asic mont --skip synthesis": "--skip synthesis: all that comes after needs it",
        "asic mont --skip power --to timing": "--skip with --to",
        "asic mont --flow glitche=False": "did you mean 'glitches'",
        "asic mont --flow glitches=perhaps": "give True or False",
        "asic mont --flow style=plain": "--flow style: it has an option of its own",
        "asic mont --flow clock_period=2 --flow style=plain": "--flow clock_period: it has",
        "asic --crosscheck mont --flow clock_period=2": "see `modexlab asic --crosscheck --help`",
        "show --costs --set verify=true --set crt=true": "--set verify: the table has a row for each",
        "compare paper-001 --accelerator gcd": "--accelerator gcd: papers are not compared with your designs",
        "asic mont --flow glitches": "write PARAM=VALUE",
        "asic proc-naive --nbits 8": "an RSA key of 8 bits is not possible",
    },
)


def test_width_without_a_key_is_said_by_the_flow(cli):
    result = cli.passes("asic mont --nbits 9 --to rtl --json")
    assert "there is no RSA key of 9 bits" in result.err.splitlines()[0]


def test_software_in_constant_time_scans_what_is_secret(monkeypatch):
    """As in `modexlab proc systems`, it scans d at full width, and only the bits of the public exponent."""
    scanned = []
    real = kernels.kernel_program

    def recorded(kernel, nbits, base, exp, mod, **options):
        scanned.append((exp, options["exp_nbits"]))
        return real(kernel, nbits, base, exp, mod, **options)

    monkeypatch.setattr(kernels, "kernel_program", recorded)
    chip = Point("proc-montgomery-ct", 32, stage="flow").chip()
    encrypt, decrypt = chip.energy()
    chip._programs()
    assert scanned[-2:] == [(encrypt.exp, 17), (decrypt.exp, None)]
