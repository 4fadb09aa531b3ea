"""Manifests: cores with interfaces of several kinds in wrappers (tests/foreign), and errors in both."""

import shutil

import pytest
from modexlab.eval.designs.catalogue import by_manifest, by_manifests, find
from modexlab.eval.designs.foreign.core import Unanswered
from modexlab.eval.designs.foreign.foreign_chip import ForeignChip
from modexlab.eval.designs.foreign.manifest import Manifest, line_of
from modexlab.eval.designs.foreign.wrapper import TEMPLATE
from modexlab.eval.designs.levels import Disagreement, check_levels
from modexlab.eval.designs.verilog.machine import verilog
from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.space import Space
from modexlab.eval.lab.store.store import Store

from tests.designs.test_own import replaced
from tests.harness import parametrize, refused, regress
from tests.paths import DATA, ROOT

CORES = ROOT / "tests" / "foreign"
START_DONE = CORES / "start_done.toml"
GCD = CORES / "gcd.toml"


def machine(name, nbits=16, **settings):
    return by_manifest(CORES / f"{name}.toml").at(nbits, **settings)


def changed(directory, name, *changes):
    """A manifest next to copies of all cores, with text replaced in it or in another file."""
    shutil.copytree(CORES, directory, dirs_exist_ok=True)
    manifest = f"{name}.toml"
    for old, new, *other in changes:
        replaced(directory, (*other, manifest)[0], old, new)
    return directory / manifest


@pytest.fixture
def edited(tmp_path):
    """The machine of a changed manifest."""
    return lambda name, *changes, nbits=16: by_manifest(changed(tmp_path, name, *changes)).at(nbits)


def corners(core):
    return ForeignChip(core.design, core.nbits, core.parameters).corners()


@parametrize(
    "name, nbits, excluded, cycles",
    [
        ("start_done", 16, 2, 119),
        ("montgomery", 16, 3, 119),
        ("memory", 16, 2, 134),
        ("stream", 16, 2, 119),
        ("packets", 16, 2, 128),
        ("bus", 64, 2, 475),
        ("serial", 16, 2, 140),
    ],
)
def test_corners_by_every_wrapper(name, nbits, excluded, cycles):
    core = machine(name, nbits)
    rows = corners(core)
    assert not [str(row) for row in rows if row.failed]
    assert sum(bool(row.refused) for row in rows) == excluded
    # seven products of the engine, its other steps, and those of the wrapper
    assert core.counted(3, 0b1011, 40503) == cycles > 7 * nbits


def test_flaws_are_rows_with_operands():
    failed = {row.name: str(row) for row in corners(machine("start_done", FLAW=1)) if row.failed}
    assert "zero divisor" in failed and "random 0" not in failed
    assert "255 ^ 2 mod 65025: expected 0, got 65025 (the modulus instead of 0" in failed["zero divisor"]
    assert (
        "0 ^ 0 mod 1: expected 0, got 1 (1 for the exponent 0, not reduced)"
        in failed["modulus 1, exponent 0"]
    )


def test_a_core_that_never_answers():
    line = 1 + START_DONE.read_text().splitlines().index('top = "start_done_wrapper"')
    with pytest.raises(
        Unanswered, match=rf"line {line}: start_done_wrapper hangs: .* not answered after \d+ cycles"
    ):
        corners(machine("start_done", FLAW=2))


def test_a_status_of_a_core(edited):
    """A core must answer status 0 within its limits."""
    status = ("{4'd0, result}", "{4'd0 | (exp == 3), result}", "start_done_wrapper.v")
    core = edited("start_done", status)
    assert core.counted(5, 4, 7)
    with pytest.raises(Unanswered, match="start_done_wrapper answers status 1 to 5, 3, 7, and the limits"):
        core.counted(5, 3, 7)


def test_a_module_with_our_streams_needs_no_wrapper(tmp_path):
    """Verilog exported by modexlab is accepted as a core, and takes the same cycles."""
    ours = find("mont").at(16)
    (tmp_path / "mont.sv").write_text(verilog(ours))
    (tmp_path / "design.toml").write_text(
        'name = "again"\nfiles = ["mont.sv"]\ntop = "mont_16"\nnbits = [16]\n'
        "[limits]\nodd_modulus = true\nreduced_base = true\n"
    )
    core = by_manifest(tmp_path).at(16)
    assert core.modules[1] is None
    assert core.counted(3, 0b1011, 40503) == ours.cycles(3, 0b1011, 40503)


def test_operands_beyond_the_limits():
    with refused("the base is not below the modulus, which the limits of tiny-start-done"):
        machine("start_done").require(9, 3, 7)
    with refused("exists at 8, 16, 32 bits, according to its manifest; give --nbits 32"):
        machine("memory", 64)


@regress
def test_a_core_of_another_kind():
    """The table runs with both Verilog backends, under delays and stalls; both flaws are found."""
    design = by_manifest(GCD)
    assert {run.where for run in check_levels(design.at(16))} == {
        f"{backend}{stalled}" for backend in ("verilog", "native") for stalled in ("", ", stalled")
    }
    with pytest.raises(Disagreement, match=r"tiny-gcd at native, row 'drawn \d+' \(a = \d+, b = \d+\): g = "):
        check_levels(design.at(16, FLAW=1), ["native"])
    with pytest.raises(
        Unanswered, match=r"gcd.toml of tiny-gcd, line 4: gcd_wrapper hangs: transaction 0 of 18"
    ):
        check_levels(design.at(8, FLAW=2), ["native"])


def test_a_response_of_several_fields(edited):
    core = edited(
        "gcd",
        ("oracle.py:gcd", "oracle.py:parts"),
        ('g = "nbits"', 'odd = "nbits"\ntwos = 8'),
        ("output wire [W-1:0] ostream__msg", "output wire [W+7:0] ostream__msg", "gcd.v"),
        (
            ".g_o(ostream__msg), .odd_o(), .twos_o()",
            ".g_o(), .odd_o(ostream__msg[W+7:8]), .twos_o(ostream__msg[7:0])",
            "gcd.v",
        ),
    )
    check_levels(core, ["native"])
    with core.session() as session:
        (operated,) = session.operate([[(48, 36), (5, 0)]])
    assert operated.responses == [(3, 2), (5, 0)]


def test_numbers_that_software_makes_are_parsed_once(monkeypatch):
    core = machine("montgomery")
    assert core.carried(7, 3, 11) == (7, 3, 11, (7 << 16) % 11, (1 << 16) % 11)
    monkeypatch.setattr(Manifest, "expression", None)
    assert core.carried(5, 3, 13) == (5, 3, 13, (5 << 16) % 13, (1 << 16) % 13)
    with pytest.raises(ValueError, match="zip"):
        core.carried(5, 3)


def test_numbers_that_software_makes_for_a_function(tmp_path):
    """They follow the request's fields, in the order of the manifest; conditions exclude requests."""
    path = changed(
        tmp_path,
        "montgomery",
        ("top = ", 'function = "oracle.py:power_in_montgomery_form"\ntop = '),
        ("odd_modulus = true\nreduced_base = true", 'require = ["base < mod and mod % 2 == 1"]'),
    )
    fields = "".join(f'{field} = "nbits"\n' for field in ("base", "exp", "mod"))
    text = path.read_text().partition("[answer]")[0]
    path.write_text(f'{text}\n[request]\n{fields}[response]\nstatus = 4\npower = "nbits"\n')
    core = by_manifest(path).at(16)
    assert core.shape.request[0] == ("base", 16)
    check_levels(core, ["native"])
    with refused(r'base = 7, exp = 3, mod = 5: "base < mod and .* does not hold'):
        core.require(7, 3, 5)


def inserted(text):
    """The change that puts a text before the parameters."""
    return "[parameters]", f"{text}\n[parameters]"


FUNCTIONS = {
    "oracel.py:gcd": r"line 5: function .*: there is no file .*oracel.py; give FILE.py:NAME",
    "oracle.py:gdc": r"line 5: unknown function of oracle.py 'gdc': did you mean 'gcd'",
    "oracle.py:power": r"line 5: oracle.py:power does not accept a, b: missing .* 'mod'",
    "oracle.py:broken": r"line 5: oracle.py:broken raises ZeroDivisionError for \(0, 0\)",
}
# errors in a manifest: the message, the text and its replacement, and the file of another text
ERRORS = {
    "gcd": [
        (
            r"line 4: the port istream__msg of gcd_wrapper is an input of 32 bits, .* of 48 bits;",
            'a = "nbits"',
            'a = "2 * nbits"',
        ),
        (r"line 4: the port ostream__msg .* 16 bits, .* of 8 bits;", 'g = "nbits"', 'g = "nbits // 2"'),
        (r"line 12: g of 0 bits; give 1 to 8192", 'g = "nbits"', 'g = "nbits - 16"'),
        (r"line 12: there are two of the name a; rename one", 'g = "nbits"', 'a = "nbits"'),
        (r"line 12: for cannot be the name of a field", 'g = "nbits"', 'for = "nbits"'),
        (r"line 7: \[request\] without a function; give one", 'function = "oracle.py:gcd"', ""),
        (r"line 5: a function without \[response\]: name its fields", '[response]\ng = "nbits"', ""),
        (r"line 14: \[limits\] has keys of an exponentiation", *inserted("[limits]\nodd_modulus = true")),
        (r"line 15: none of 1000 random requests meets", *inserted('[limits]\nrequire = ["a > b + a"]')),
        (
            r"line 5: oracle.py cannot be imported: .*oracle.py, line 1: .*No module named 'nothing'",
            '"""The functions',
            'import nothing\n"""The functions',
            "oracle.py",
        ),
        *[(message, "oracle.py:gcd", function) for function, message in FUNCTIONS.items()],
    ],
    "start_done": [
        (r"line 4: unknown key 'topp': did you mean 'top'", 'top = "start', 'topp = "x"\ntop = "start'),
        (r"line 4: top: give text, not a whole number", 'top = "start_done_wrapper"', "top = 1"),
        (
            r"line 4: the port istream__msg .* 24 bits, .* at --nbits 16 .* 48 bits; correct",
            'W = "nbits"',
            'W = "nbits // 2"',
        ),
        (
            r"line 4: start_done has no port reset; .* `modexlab new wrapper start_done.toml` prints",
            'top = "start_done_wrapper"',
            'top = "start_done"',
        ),
        (r"line 3: there is no file .*start_don.v", '"start_done.v",', '"start_don.v",'),
        (
            r"line 4: there is no module start .* but engine, start_done, start_done_wrapper; correct `top`",
            'top = "start_done_wrapper"',
            'top = "start"',
        ),
        (r"line 3: .*start_done.v:10.*engine.*add the file with module engine", '["engine.v", ', "["),
        (r"line 1: name 'mont' is already that of a design of the catalogue", "tiny-start-done", "mont"),
        (r"line \d+: this is no TOML", "[limits]", "[limits"),
        (
            r"line 3: Verilator refuses the Verilog: start_done.v:14:\d+: Duplicate declaration",
            "assign ready",
            "asign ready",
            "start_done.v",
        ),
    ],
    "montgomery": [
        (r"line 14: unknown name in the expression .*modu", "2 ** nbits % mod", "2 ** nbits % modu"),
        (r"line 15: there are two of the name exp", "one = ", "exp = "),
        (r"line 13: prepare.* give text or a table", "[prepare]", "[prepare]\nmore = 1"),
    ],
}


@parametrize(
    "name, message, change",
    [(name, message, change) for name, rows in ERRORS.items() for message, *change in rows],
)
def test_errors_name_line_and_remedy(edited, name, message, change):
    with refused(message):
        core = edited(name, change)
        _ = core.modules, core.answers([row.request for row in core.rows()])


def test_a_module_in_two_files(tmp_path):
    """Both commands reject it with the same error: the flow reads the same text."""
    path = changed(tmp_path, "start_done", ('"engine.v"', '"engine*.v"'))
    shutil.copyfile(tmp_path / "engine.v", tmp_path / "engine_2.v")
    message = r"line 3: module engine is defined twice, in engine\.v and in engine_2\.v"
    with refused(message):
        _ = by_manifest(path).at(16).modules
    with refused(message):
        ForeignChip(by_manifest(path), 16, {}).entry()


def test_a_refused_write_of_a_bus(edited):
    """The wrapper stops after a rejected write, which counts as a hang."""
    refused = ("MODULUS = 8'h10", "MODULUS = 8'h80", "bus_wrapper.v")
    with pytest.raises(Unanswered, match="bus_wrapper hangs"):
        edited("bus", refused, nbits=32).counted(5, 3, 7)


def test_lines_of_a_file():
    text = 'a = "=" # [x]\n[step]\nset = {x = 1,\n y = [1, [2, 3]]}\n[step.q]\nw.v = 1\n'
    paths = [("a",), ("step", "set", "y", 1), ("step", "q", "w", "v"), ("step", "none"), ("none",)]
    assert [line_of(text, path) for path in paths] == [1, 3, 6, 2, 1]


def test_the_template_is_a_manifest(tmp_path):
    path = tmp_path / "design.toml"
    path.write_text(TEMPLATE)
    with refused(r"line 6: there is no file .*rtl/modexp.v"):
        _ = Manifest.load(path).files


def test_the_wrapper_to_begin_with(tmp_path, cli):
    """It has the ports of the core; its guesses are enough for this core."""
    path = changed(tmp_path, "start_done", ('top = "start_done_wrapper"', 'top = "start_done"'))
    wrapper = cli(f"new wrapper {path} --nbits 16").out
    assert ".one_i(0 /* TODO: one_i */)" in wrapper and wrapper.count("TODO:") == 1
    (tmp_path / "start_done_wrapper.v").write_text(wrapper)
    replaced(tmp_path, path.name, 'top = "start_done"', 'top = "start_done_wrapper"')
    cli.shows(f"check --manifest {path} --nbits 16", "34 passed, 0 failed")


def test_a_folder_of_manifests(tmp_path):
    names = {design.name for design in by_manifests([str(CORES)])}
    assert {"tiny-start-done", "tiny-bus"} <= names
    assert find(by_manifest(START_DONE).reference) is by_manifest(START_DONE)
    with refused(r"there is no design.toml in this folder"):
        by_manifests([str(tmp_path)])
    changed(tmp_path, "stream", ("tiny-stream", "tiny-bus"))
    with refused(r"line 1: name 'tiny-bus' is already that of .*bus.toml too"):
        by_manifests([str(tmp_path)])


def test_commands(cli):
    operands = "--base 5 --exp 3 --mod 40503 --nbits 16"
    run = f"run --accelerator {START_DONE} {operands}"
    report = cli.passes(f"{run} --json").json()
    assert report["ok"] and report["result"] == 125
    cli.shows(f"{run} --level formula", f"{report['cycles']} cycles (measured by running it)")
    assert "runs at --level rtl, backend verilog or native, and not at cl" in cli.fails(f"{run} --level cl")
    cli.passes(f"{run} --level fl")
    assert "no design; give one of the catalogue" in cli.fails(f"run {operands}")
    cli.shows(f"check {DATA}/bn_small.txt --accelerator {START_DONE}", "failed 0")
    check = f"check --manifest {START_DONE} --nbits 16 --set"
    cli.shows(f"{check} FLAW=1", "FAILED zero divisor: 255 ^ 2 mod 65025: expected 0, got 65025", code=1)
    assert "hangs" in cli.fails(f"{check} FLAW=2")
    assert cli("new manifest").out == TEMPLATE


def point_of(manifest, stage="native", **how):
    return Point(by_manifest(manifest).reference, 16, stage=stage, **how)


def test_points_of_a_sweep(tmp_path):
    """The store marks a foreign core with the rows that it fails, and its files identify it."""
    point = point_of(START_DONE)
    assert str(point) == "tiny-start-done, 16 bits, encrypt, native"
    assert point.command[:4] == ["modexlab", "run", "--accelerator", str(START_DONE)]
    assert Point.from_json(point.as_json()) == point
    store = Store(tmp_path / "store.jsonl")
    for flaw in (0, 1):
        measured = point.at(settings=(("FLAW", flaw),))
        store.record(measured, measure(measured))
    sound, flawed = store.rows(metric="cycles", subject="tiny-start-done")
    assert sound.comparable and sound.value == flawed.value and not sound.stale
    assert "fails 5 of its tests: zero divisor" in flawed.marks[0]
    # other files have another key; a copy in another folder has the same key
    copy = changed(tmp_path / "copy", "start_done")
    assert point_of(copy).key == point.key
    other = changed(tmp_path / "other", "start_done")
    (other.parent / "engine.v").write_text((CORES / "engine.v").read_text() + "\n// changed\n")
    assert point_of(other).key != point.key
    with refused("it is measured at verilog, native, flow, layout, fpga; give one"):
        point.at(stage="formula").check()


def test_space_with_a_manifest():
    text = (
        f'objectives = {{cycles = "min"}}\n[[part]]\ndesigns = ["mont", "{START_DONE}"]\nnbits = '
        '[16]\nstages = ["native"]\n'
    )
    points = list(Space.parse(text).points())
    assert [point.label for point in points] == ["mont", "tiny-start-done"]
    again = Space.parse(text.replace(f', "{START_DONE}"', "")).with_designs([points[1].subject])
    assert list(again.points()) == points


def test_what_the_flow_takes(monkeypatch):
    """In the netlist the core is an instance in its wrapper; a module without wrapper is the core itself. Its
    rows have no budget, however slow it is.
    """
    for limit in ("LONG_PRODUCT", "MOST_LONG_CYCLES"):
        monkeypatch.setattr(f"modexlab.eval.designs.machine_chip.{limit}", 1)
    chip = point_of(START_DONE, stage="flow").chip()
    assert [name for name, _ in chip.rows()].count("zero divisor") == 1
    assert {work.name for work in chip.energy()} == {"encrypt", "decrypt"}
    verilog = chip.verilog()
    assert "start_done #(.W(W), .FLAW(FLAW)) core (" in verilog
    assert "module tiny_start_done_16_alone (" in verilog
    with refused("tiny-start-done is Verilog with streams, and has no interface xcel; drop --interface"):
        point_of(START_DONE, interface="xcel", stage="flow").chip().check()


@regress
def test_core_alone_through_the_flow(cli, tmp_path):
    asic = f"asic --accelerator {START_DONE} --nbits 8 --json"
    report = cli(f"{asic} --skip equivalence").json()
    assert report["marks"] == [] and report["tests"]["gates"]["failed"] == 0
    core = report["core"]
    assert core["area_um2"] < report["area_um2"] and core["flops"] < report["flops"]
    assert 0 < core["energy_nj"]["decrypt"] < report["energy_nj"]["decrypt"]
    result = cli.finds(f"{asic} --skip equivalence --set FLAW=1")
    assert "the netlist fails" in str(result.json()["marks"])
    fpga = cli(f"{asic} --fpga --device ecp5").json()
    assert fpga["top"] == "tiny_start_done_8_alone"


@parametrize(
    "path",
    sorted((ROOT / "eval" / "examples" / "foreign").glob("*/design.toml")),
    ids=lambda path: path.parent.name,
)
def test_worked_manifests(path):
    """The manifests are valid; only the third-party cores are missing."""
    manifest = Manifest.load(path)
    assert manifest.of.name == path.parent.name and (path.parent / "wrapper.v").is_file()
    assert path.read_text().startswith("# ") and "not shipped" in path.read_text().split("name =")[0]
    with refused(rf"^design.toml of {path.parent.name}, line \d+: there is no file") as caught:
        _ = manifest.verilog
    assert str(caught.value).count("design.toml of") == 1
