"""Manifests: cores of our own behind interfaces of several kinds (tests/foreign) as designs, and what is said of wrong ones."""

import shutil
from pathlib import Path

import pytest
from modexlab.eval.designs.catalogue import by_manifest, by_manifests, find
from modexlab.eval.designs.foreign.corners import corners
from modexlab.eval.designs.foreign.foreign import ForeignMachine, Unanswered
from modexlab.eval.designs.foreign.manifest import PROTOCOLS, Manifest
from modexlab.eval.designs.foreign.template import template
from modexlab.eval.designs.foreign.toml_lines import TomlLines
from modexlab.eval.lab.ledger.ledger import Ledger
from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.space import Space
from modexlab.fl.errors import BadInput

from tests.command_line import Cli
from tests.paths import ROOT

CORES = ROOT / "tests" / "foreign"
START_DONE = CORES / "start_done.toml"


def machine(name: str, nbits: int = 16, **settings: int) -> ForeignMachine:
    return by_manifest(CORES / f"{name}.toml").at(nbits, **settings)


@pytest.mark.parametrize(
    ("name", "nbits", "excluded"),
    [
        ("start_done", 16, 2),
        ("montgomery", 16, 3),
        ("memory", 16, 2),
        ("stream", 16, 2),
        ("packets", 16, 2),
        ("bus", 64, 2),
        ("serial", 16, 2),
    ],
)
def test_corners_by_every_protocol(name: str, nbits: int, excluded: int) -> None:
    core = machine(name, nbits)
    rows = corners(core)
    assert not [str(row) for row in rows if row.failed]
    assert sum(bool(row.refused) for row in rows) == excluded
    # the core's own work is the engine's, whatever the protocol; transfers come on top
    base, exp, mod = 3, 0b1011, 40503
    cycles, work = core.counted(base, exp, mod)
    products = 4 + 3
    assert work is not None and products * nbits <= work <= products * nbits + 20
    assert cycles > work


def test_flaws_are_rows_with_operands() -> None:
    failed = {row.name: str(row) for row in corners(machine("start_done", FLAW=1)) if row.failed}
    assert "zero divisor" in failed and "random 0" not in failed
    assert "255 ^ 2 mod 65025: expected 0, got 65025 (the modulus in the place of 0" in failed["zero divisor"]


def test_a_core_that_never_answers() -> None:
    line = 1 + START_DONE.read_text().splitlines().index('done = "ready"')
    with pytest.raises(Unanswered, match=rf"line {line}: .* within 17384 cycles, waiting for ready = 1"):
        corners(machine("start_done", FLAW=2))


def test_operands_beyond_the_limits() -> None:
    with pytest.raises(
        BadInput, match="the base is not below the modulus, which the limits of tiny-start-done"
    ):
        machine("start_done").require(9, 3, 7)
    with pytest.raises(BadInput, match="exists at 8, 16, 32 bits, as its manifest has it; give --nbits 32"):
        machine("memory", 64)


def changed(directory: Path, name: str, *changes: tuple[str, str]) -> Path:
    """A manifest of the cores with some text changed, beside copies of their files."""
    shutil.copytree(CORES, directory, dirs_exist_ok=True)
    path = directory / f"{name}.toml"
    text = path.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "start_done",
            'top = "start',
            'topp = "x"\ntop = "start',
            r"line 4: unknown key 'topp': did you mean 'top'",
        ),
        (
            "start_done",
            'start = "go"',
            "start = 1",
            r"line 26: start_done.start: give text, not a whole number",
        ),
        (
            "start_done",
            'start = "go"',
            'start = "got"',
            r"line 26: unknown input of start_done 'got': did you mean 'go'",
        ),
        ("start_done", 'done = "ready"', 'done = "go"', r"line 28: go of start_done is no output"),
        ("start_done", 'result = "result_o"', 'result = "result_o[16:0]"', r"line 29: .* has bits 15 to 0"),
        (
            "start_done",
            'W = "nbits"',
            'W = "nbits // 2"',
            r"line 20: base has 16 bits at --nbits 16, .* base_i of start_done has 8",
        ),
        ("start_done", "one_i = 0\n", "", r"line 19: start_done has the input one_i, and nothing drives it"),
        ("start_done", '"start_done.v"]', '"start_don.v"]', r"line 3: there is no file .*start_don.v"),
        (
            "start_done",
            'top = "start_done"',
            'top = "start"',
            r"line 4: there is no module start .* but engine, start_done",
        ),
        (
            "start_done",
            '["engine.v", ',
            "[",
            r"line 3: .*start_done.v:10.*engine.*add the file with module engine",
        ),
        (
            "start_done",
            'mod_i = "mod"',
            'mod_i = "modulus"',
            r"line 22: unknown name in the expression .*modulus.*mod",
        ),
        (
            "start_done",
            'name = "tiny-start-done"',
            'name = "mont"',
            r"line 1: name 'mont' is that of a design of the catalogue",
        ),
        (
            "start_done",
            'protocol = "start-done"',
            'protocol = "steps"',
            r"line 25: \[start_done\] is for protocol start-done",
        ),
        ("start_done", "[limits]", "[limits", r"line 16: this is no TOML"),
        (
            "memory",
            "write = 0x20",
            "write = 0x120",
            r"line 28: address 0x120 has 9 bits .* address of memory has 8",
        ),
        ("memory", 'each = "mod"', 'each = "modu"', r"line 36: unknown number 'modu': did you mean 'mod'"),
        ("memory", "mask = 1\nequals = 1\n", "", r"line 54: a poll without mask and equals"),
        ("bus", 'prefix = "S_AXI_"', 'prefix = "s_"', r"line 22: bus has no port s_wdata"),
    ],
)
def test_errors_name_line_and_remedy(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        _ = by_manifest(changed(tmp_path, name, (old, new))).at(32 if name == "bus" else 16).adapter


def test_verilog_that_verilator_refuses(tmp_path: Path) -> None:
    path = changed(tmp_path, "start_done")
    verilog = (tmp_path / "start_done.v").read_text()
    (tmp_path / "start_done.v").write_text(verilog.replace("assign ready", "asign ready"))
    with pytest.raises(
        BadInput, match=r"line 3: Verilator refuses the Verilog: start_done.v:14:\d+: Duplicate declaration"
    ):
        _ = by_manifest(path).at(16).adapter


def test_a_refused_write_of_a_bus(tmp_path: Path) -> None:
    path = changed(tmp_path, "bus", ("write = 0x30", "write = 0x80"))
    with pytest.raises(Unanswered, match=r"S_AXI_BVALID with S_AXI_BRESP = 0 \(OKAY\)"):
        by_manifest(path).at(32).cycles(5, 3, 7)


def test_lines_of_a_file() -> None:
    text = 'a = "=" # [x]\n[[step]]\nset = {x = 1,\n y = [1, [2, 3]]}\n[[step]]\n[step.q]\n"k.l".z = """\n[no]\n"""\nw.v = 1\n'
    lines = TomlLines(text)
    assert [
        lines.of(path) for path in [("a",), ("step", 0, "set", "y", 1, 0), ("step", 1, "q", "k.l", "z")]
    ] == [1, 4, 7]
    assert [lines.of(path) for path in [("step", 1, "q", "w", "v"), ("step", 1, "none"), ("none",)]] == [
        10,
        5,
        1,
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_templates_are_manifests(tmp_path: Path, protocol: str) -> None:
    path = tmp_path / "design.toml"
    path.write_text(template(protocol))
    manifest = Manifest.load(path)
    assert manifest.of.protocol == protocol
    with pytest.raises(BadInput, match=r"line 6: there is no file .*rtl/modexp.v"):
        _ = manifest.files


def test_a_folder_of_manifests(tmp_path: Path) -> None:
    names = {design.name for design in by_manifests([str(CORES)])}
    assert {"tiny-start-done", "tiny-bus"} <= names
    assert find(by_manifest(START_DONE).reference) is by_manifest(START_DONE)
    with pytest.raises(BadInput, match=r"there is no design.toml in this folder"):
        by_manifests([str(tmp_path)])
    changed(tmp_path, "stream", ("tiny-stream", "tiny-bus"))
    with pytest.raises(BadInput, match=r"line 1: name 'tiny-bus' is that of .*bus.toml too"):
        by_manifests([str(tmp_path)])


def test_commands(capsys: pytest.CaptureFixture[str]) -> None:
    cli = Cli(capsys)
    operands = ["--base", "5", "--exp", "3", "--mod", "40503", "--nbits", "16"]
    result = cli("run", "--design", str(START_DONE), *operands, "--json")
    report = result.json()
    assert result.code == 0 and report["ok"] and report["result"] == 125
    assert report["cycles"] == report["core_cycles"] + 3
    result = cli("cycles", "--design", str(START_DONE), *operands)
    assert f"{report['cycles']} cycles (measured by running it)" in result.out
    result = cli("run", "--design", str(START_DONE), *operands, "--level", "cl")
    assert result.code == 2 and "runs at --level rtl, stage native, and not at cl" in result.err
    assert cli("run", "--design", str(START_DONE), *operands, "--level", "fl").code == 0
    result = cli("run", *operands)
    assert result.code == 2 and "no design; give one of the catalogue" in result.err
    result = cli("check", str(ROOT / "tests/data/modexp_plain.json"), "--design", str(START_DONE))
    assert result.code == 0 and "failed 0" in result.out
    result = cli("design", "check", str(START_DONE), "--nbits", "16", "--set", "FLAW=1")
    assert result.code == 1 and "FAILED zero divisor: 255 ^ 2 mod 65025: expected 0, got 65025" in result.out
    result = cli("design", "check", str(START_DONE), "--nbits", "16", "--set", "FLAW=2")
    assert result.code == 2 and "did not answer" in result.err
    assert cli("design", "new", "--protocol", "words").out == template("words")


def test_points_of_a_sweep(tmp_path: Path) -> None:
    """A core in a ledger, beside ours: its figures have the mark of the rows that it fails, and are told by its files."""
    reference = by_manifest(START_DONE).reference
    point = Point(reference, 16, stage="native")
    assert str(point) == "tiny-start-done, 16 bits, encrypt, native"
    assert point.command[:4] == ["modexlab", "run", "--design", str(START_DONE)]
    assert Point.from_json(point.as_json()) == point
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for flaw in (0, 1):
        measured = point.at(settings=(("FLAW", flaw),))
        ledger.record(measured, measure(measured))
    sound, flawed = ledger.rows(metric="cycles", subject="tiny-start-done")
    assert sound.comparable and sound.value == flawed.value and not sound.stale
    assert "fails 4 of its tests: zero divisor" in flawed.marks[0]
    # another folder, other files: a key of its own, and the same if nothing but the place differs
    copy = changed(tmp_path / "copy", "start_done")
    moved = Point(by_manifest(copy).reference, 16, stage="native")
    assert moved.key == point.key
    other = changed(tmp_path / "other", "start_done")
    (other.parent / "engine.v").write_text((CORES / "engine.v").read_text() + "\n// changed\n")
    assert Point(by_manifest(other).reference, 16, stage="native").key != point.key
    with pytest.raises(BadInput, match="a design by a manifest is measured at native, flow, layout or fpga"):
        point.at(stage="formula").check()


def test_space_with_a_manifest() -> None:
    text = f'objectives = {{cycles = "min"}}\n[[part]]\ndesigns = ["mont", "{START_DONE}"]\nnbits = [16]\nstages = ["native"]\n'
    points = list(Space.parse(text).points())
    assert [point.label for point in points] == ["mont", "tiny-start-done"]
    again = Space.parse(text.replace(f', "{START_DONE}"', "")).with_designs([points[1].subject])
    assert list(again.points()) == points


def test_what_the_flow_takes() -> None:
    """The adapter drives the core in the netlist, where an instance tells the one from the other; a module is the core alone."""
    chip = Point(by_manifest(START_DONE).reference, 16, stage="flow").chip()
    assert [name for name, _ in chip.rows()].count("zero divisor") == 1
    assert {work.name for work in chip.energy()} == {"encrypt", "decrypt"}
    verilog = chip.verilog()
    assert (
        "start_done #(.W(16), .FLAW(0)) core (" in verilog and "module tiny_start_done_16_alone (" in verilog
    )
    assert "stuck" not in verilog, "what watches the core in simulation is in no netlist"
    with pytest.raises(
        BadInput, match=r"tiny-start-done has its own protocol \(start-done\): drop --interface xcel"
    ):
        Point(by_manifest(START_DONE).reference, 16, interface="xcel", stage="flow").chip().check()


@pytest.mark.regress
def test_core_alone_through_the_flow(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cli = Cli(capsys)
    options = ["--nbits", "8", "--json", "--skip", "equivalence"]
    report = cli("asic", "--design", START_DONE, *options).json()
    assert report["marks"] == [] and report["tests"]["gates"]["failed"] == 0
    core = report["core"]
    assert core["area_um2"] < report["area_um2"] and core["flops"] < report["flops"]
    assert 0 < core["energy_nj"]["decrypt"] < report["energy_nj"]["decrypt"]
    result = cli("asic", "--design", START_DONE, *options, "--set", "FLAW=1")
    assert result.code == 1 and "the netlist fails" in str(result.json()["marks"])
    fpga = cli("fpga", "--design", START_DONE, "--nbits", "8", "--device", "ecp5", "--json").json()
    assert fpga["top"] == "tiny_start_done_8_alone"


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "eval" / "examples" / "foreign").glob("*/design.toml")),
    ids=lambda path: path.parent.name,
)
def test_worked_manifests(path: Path) -> None:
    """They are read to the end: what is missing is the files, which are others'."""
    manifest = Manifest.load(path)
    assert manifest.of.name == path.parent.name and manifest.of.protocol in PROTOCOLS
    assert path.read_text().startswith("# ") and "not shipped" in path.read_text().split("name =")[0]
    with pytest.raises(
        BadInput, match=rf"^design.toml of {path.parent.name}, line \d+: there is no file"
    ) as caught:
        _ = manifest.verilog
    assert str(caught.value).count("design.toml of") == 1
