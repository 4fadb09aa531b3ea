"""Points: equality, refusals, the key in the store, and the command that measures a point."""

import json
import pickle
import re
from dataclasses import replace

from modexlab.eval.cli import main as cli
from modexlab.eval.designs import workload_names
from modexlab.eval.designs.machine import Machine
from modexlab.eval.lab import keys, stages
from modexlab.eval.lab.point import Point
from modexlab.proc.software import seeded_keys
from modexlab.rtl.sim import cache, sources

from tests.command_line import picked
from tests.harness import parametrize, refused
from tests.programs import EVERYTHING

CHIP = Point("mont", 8, stage="flow")
POINTS = (
    Point("mont", 32),
    Point("mont", 32, stage="formula", workload="sign+9verify"),
    Point("mont-001", 16, {"nstages": 2, "steps_per_stage": 8}, workload="crt", stage="cl"),
    Point("naive", 64, interface="xcel", stage="python", workload="decrypt"),
    Point("procxcel-mont", 32, {"nstages": 2, "steps_per_stage": 8}, workload="decrypt"),
    Point("proc-montgomery", 32),
    Point("ssmm", 32, {"carry_save": True}, stage="flow", flow={"clock_period": 2.5, "glitches": False}),
    Point("mont", 8, stage="layout", interface="xcel", flow={"equivalence": True, "style": "optimised"}),
    Point("proc-naive", 32, stage="flow", flow={"fmax": True}),
    Point("naive", 8, stage="fpga", flow={"device": "cyclone-v"}),
)


# ---- equality


@parametrize(
    "one, same",
    [
        (Point("mont", 32), Point("mont", 32, {"nstages": 1, "pipelined": False})),
        (Point("procxcel-mont", 32), Point("mont", 32, interface="system")),
        (CHIP, CHIP.at(workload="decrypt")),
        (CHIP, CHIP.at(flow={"clock_period": 3, "fmax": False})),
        (
            Point("mont", 32, {"nstages": 2, "add_red": "textbook"}),
            Point("mont", 32, {"add_red": "textbook", "nstages": 2}),
        ),
    ],
)
def test_points_that_say_the_same_are_equal(one, same):
    assert one == same and hash(one) == hash(same)
    assert one.key == same.key and one.as_json() == same.as_json() and one.command == same.command


def test_keys_are_different():
    variants = [
        *POINTS,
        CHIP,
        CHIP.at(nbits=16),
        CHIP.at(interface="xcel"),
        CHIP.at(stage="layout", flow=()),
        CHIP.at(flow={"clock_period": 2.0}),
        CHIP.at(settings={"add_red": "textbook"}),
        Point("mont", 8),
        Point("mont", 8, workload="decrypt"),
    ]
    assert len({variant.key for variant in variants}) == len(variants)


@parametrize("point", POINTS, ids=str)
def test_goes_through_json_and_to_other_processes(point):
    again = Point.from_json(json.loads(json.dumps(point.as_json())))
    assert again == point and again.key == point.key
    assert pickle.loads(pickle.dumps(point)) == point


def test_key_changes_with_what_figures_depend_on(monkeypatch):
    def found():
        return [Point("mont", 32, stage=stage).key for stage in ("native", "flow")]

    before = found()
    monkeypatch.setattr(keys, "tools_of", lambda *_: {"Verilator": "9.9"})
    assert found()[0] != before[0]
    monkeypatch.undo()
    real = keys.sources_of
    monkeypatch.setattr(keys, "sources_of", lambda *of: real(*of) + "!")
    assert not {*found()} & {*before}
    monkeypatch.undo()
    assert found() == before


@parametrize(
    "constant, point",
    [
        ("WORKLOADS", Point("mont", 32)),
        ("WORKLOADS", Point("mont", 32, stage="flow")),
        ("workloads", Point("mont-keyed", 64, workload="sign+9verify")),
        ("workloads", Point("procxcel-mont", 32)),
        ("workloads", Point("proc-naive", 32, stage="flow")),
        ("some_operands", Point("mont", 9, workload="decrypt")),
    ],
    ids=str,
)
def test_key_changes_with_the_operands(constant, point, monkeypatch):
    def others(works):
        return tuple(replace(work, base=work.base ^ 1) for work in works)

    owner = Machine if constant == "some_operands" else workload_names
    real = getattr(owner, constant)
    changed = {
        "WORKLOADS": lambda: others(real),
        "workloads": lambda: lambda nbits: others(real(nbits)),
        "some_operands": lambda: lambda *of: (3, *real(*of)[1:]),
    }[constant]()
    before = point.key
    monkeypatch.setattr(owner, constant, changed)
    assert point.at().key != before
    monkeypatch.undo()
    assert point.at().key == before


def test_key_is_of_all_sources_that_figures_come_from():
    """Every import counts, direct or not; modules that only store or show figures do not."""
    machine = sources.closure(*keys._MACHINES, without=keys._NO_FIGURES)
    used = "fl.multipliers.montgomery rtl.units.add_red cl.timing rtl.sim.native fl.param"
    assert {*used.split()} <= machine
    assert not any(module.startswith(("eval.report", "eval.cli", "eval.papers")) for module in machine)
    flow = sources.closure(*keys._MACHINES, *keys.flow_modules(), without=keys._NO_FIGURES)
    used = "flow.synth.carry_save flow.synth.sharing flow.synth.estimate flow.layout.placer"
    assert {*used.split()} <= flow


def test_figures_before_layout_outlive_a_change_of_layout(monkeypatch):
    before, after = CHIP, CHIP.at(stage="layout")
    old = before.key, after.key
    real = cache.file_digest
    changed = sources.ROOT / "flow" / "layout" / "route.py"

    def digest(path):
        return f"{real(path)}!" if path == changed else real(path)

    monkeypatch.setattr(cache, "file_digest", digest)
    monkeypatch.setattr(sources, "digest", sources.digest.__wrapped__)  # as in a new process
    monkeypatch.setattr(keys, "sources_of", keys.sources_of.__wrapped__)
    assert before.at().key == old[0] and after.at().key != old[1]


def test_keys_of_long_numbers_need_no_rsa_key(monkeypatch):
    """Generating one takes as long as measuring by formula."""
    monkeypatch.delattr(seeded_keys, "_primes")
    assert len({Point("mont", nbits, stage="formula").key for nbits in range(1024, 1280, 2)}) == 128


def test_resolved_has_all_parameters():
    resolved = Point("mont", 64, {"nstages": 2}).resolved
    assert picked(resolved, "nstages steps_per_stage add_red") == (2, 8, "koc")
    assert Point("proc-naive", 32).resolved == {}


# ---- refusals


@parametrize(
    "subject, fields, message",
    [
        ("mnt", {}, "unknown design 'mnt': did you mean 'mont'"),
        ("proc-nave", {}, "unknown system 'proc-nave': did you mean 'proc-naive'"),
        ("mont", {"stage": "flo"}, "unknown stage 'flo': did you mean 'flow'"),
        ("mont", {"interface": "xel"}, "unknown interface 'xel'"),
        ("mont", {"flow": {"clock_period": 2.0}}, "stage native is none"),
        *(
            ("mont", {"stage": stage, "flow": flow}, message)
            for stage, flow, message in (
                ("flow", {"clok_period": 2.0}, "did you mean 'clock_period'"),
                ("flow", {"clock_period": 0}, "clock_period = 0: give 0.001 to 1000 ns"),
                ("flow", {"clock_period": 10**400}, "clock_period is too large: give 0.001 to 1000 ns"),
                ("flow", {"style": "optimized"}, "did you mean 'optimised'"),
                ("layout", {"density": 2}, "density = 2: give 0.05 to 0.95"),
                ("flow", {"equivalence": 1}, "give true or false"),
                ("fpga", {"device": "ecp4"}, "did you mean 'ecp5'"),
            )
        ),
    ],
)
def test_unknown_words(subject, fields, message):
    with refused(re.escape(message)):
        Point(subject, 8, **fields)


@parametrize(
    "point, message",
    {
        Point("mont", 7): "a width of 7 bits is out of range",
        Point("mont", 32, {"nstages": 10**12}): "give nstages = 32",  # refused at once
        Point("cm-m-000", -1): "a width of -1 bits is out of range",
        Point("cm-m-000", 10**400): "00000000 bits is out of range",
        Point("mont", 32, {"nstages": 5}): "nstages = 5 does not divide the width",
        Point("mont", 32, {"digits": 5}): "unknown parameter of mont 'digits'",
        Point("mont", 32, workload="encript"): "unknown workload 'encript': did you mean 'encrypt'",
        Point("mont", 32, workload="sign+0verify"): "unknown workload",
        Point("dm-m-000", 32, workload="crt"): "workload crt has two moduli",
        Point("mont", 9, workload="decrypt").at(
            workload="crt", nbits=4096
        ): "give a machine of 8 to 2048 bits",
        Point("mont", 32, interface="xcel", stage="formula"): "stage formula counts the machine alone",
        Point("procxcel-mont", 32, stage="cl"): "systems are measured at",
        Point("procxcel-mont", 32, workload="crt"): "systems do encrypt and decrypt",
        Point("proc-naive", 33): "an RSA key of 33 bits is not possible",
        Point("proc-naive", 8, stage="flow"): "an RSA key of 8 bits is not possible",
    }.items(),
    ids=str,
)
def test_impossible_points(point, message):
    with refused(re.escape(message)):
        point.check()


# ---- workloads


def test_crt_decrypts():
    """The two halves combine to the result of the whole exponentiation."""
    key = seeded_keys.seeded_key(32)
    by_p, by_q = (part.work for part in workload_names.parts_of("crt", Point("mont", 16).machine, 16))
    assert max(by_p.mod, by_q.mod).bit_length() == 16
    mod_q, mod_p = by_q.golden, by_p.golden
    inverse = pow(by_q.mod, -1, by_p.mod)
    combined = mod_q + by_q.mod * (inverse * (mod_p - mod_q) % by_p.mod)
    cipher = by_q.base + by_q.mod * (inverse * (by_p.base - by_q.base) % by_p.mod)
    assert combined == pow(cipher, key.d, key.n)


@parametrize("nbits", [8, 9, 16, 17, 32, 64])
def test_workloads_fit_their_machine(nbits):
    for name in ("mont", "dm-m-000", "naive"):
        where = Point(name, nbits)
        (encrypt,), (decrypt,) = (where.at(workload=literal).parts() for literal in ("encrypt", "decrypt"))
        for part in (encrypt, decrypt):
            where.design.at(nbits).require(*part.work.operands)
        assert encrypt.work.exp == (65537 if nbits > 17 else 17)
        assert decrypt.work.exp.bit_length() > nbits - 6
        assert where.at(workload="sign+3verify").parts() == (decrypt, type(encrypt)(encrypt.work, 3))


def test_a_machine_with_a_key_decrypts_and_does_nothing_else():
    where = Point("mont-keyed", 32, EVERYTHING, workload="decrypt", stage="formula")
    where.check()
    (part,) = where.parts()
    key = where.machine.key
    assert part.work.exp == key.d and part.work.mod == key.n
    assert pow(part.work.golden, key.e, key.n) == part.work.base
    assert where.modulus == 0, "it takes any key, and competes with machines that take any modulus"
    for workload in ("encrypt", "crt", "sign+9verify", "exponents", "product"):
        with refused("give workload decrypt, or leave these three out"):
            where.at(workload=workload).check()
        with refused(r"the private operation of its key and no other"):
            where.at(workload=workload).parts()
    assert where.key != where.at(settings=EVERYTHING | {"blind": "no"}).key
    assert [work.name for work in where.at(stage="flow").chip().energy()] == ["decrypt"]
    for stage in ("formula", "native", "flow"):
        with refused("RSA key of 33 bits: ask for an even number"):
            where.at(nbits=33, stage=stage).check()


# ---- the command


@parametrize("point", POINTS, ids=str)
def test_command_says_the_point(point):
    """The command line accepts it; test_measure.py checks that it yields the same figures."""
    program, *arguments = point.command
    args = cli.parsed(arguments)
    assert program == "modexlab" and args.json
    assert args.nbits in (point.nbits, [point.nbits])
    assert {text.partition("=")[0] for text in args.settings} == {name for name, _ in point.settings}
    if point.stage in ("flow", "layout"):
        flow = dict(point.flow)
        assert args.clock == flow["clock_period"]
        assert args.style == flow["style"]
        assert args.fmax == flow.get("fmax", False)
        assert args.layout == (point.stage == "layout") and (args.skip == []) == flow["equivalence"]


def test_every_stage_has_a_point_here():
    assert {point.stage for point in POINTS} | {"verilog"} == set(stages.STAGES)
