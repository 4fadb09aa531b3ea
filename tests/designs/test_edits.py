"""After an edit of any file on which an accelerator depends, every command shows the new hardware.

The accelerator is a pipeline of DEPTH registers. An edit changes DEPTH in one place, and each command reports
a number from which its depth follows: cycles, flip-flops, or the text of the Verilog.
"""

import importlib
import re
import shutil
import sys
import textwrap

import modexlab
import pytest
from modexlab.eval.designs import catalogue, own
from modexlab.eval.lab.store.store import Store
from modexlab.flow import source

from tests.harness import one_now, parametrize
from tests.paths import ROOT

NBITS = 8
BITS = NBITS + 1  # of a stage: its data and its valid bit
ACCELERATOR = '''
class Delay(modexlab.Accelerator):
    """A pipeline of DEPTH registers."""

    name = "delay"
    usual_nbits = 8
    secret = ("a",)
    in_flight = 9

    def workloads(self):
        return {"typical": [(58,)]}

    @property
    def shape(self):
        return modexlab.Shape((("a", self.nbits),), (("p", self.nbits),))

    def fl(self, a):
        return a

    def cycles(self, a):
        return DEPTH

    def rtl(self):
        return DelayRTL(self.nbits, DEPTH)
'''
RTL = """
from modexlab.rtl.messages import mk_message
from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


class DelayRTL(Component):
    def construct(s, nbits, depth):
        s.istream = RecvIfcRTL(mk_message("DelayRequest", (("a", nbits),)))
        s.ostream = SendIfcRTL(mk_message("DelayResponse", (("p", nbits),)))
        s.valid = [Wire(1) for _ in range(depth)]
        s.data = [Wire(nbits) for _ in range(depth)]
        s.go = Wire(1)
        s.ostream.msg.p //= s.data[depth - 1]
        s.ostream.val //= s.valid[depth - 1]
        s.istream.rdy //= s.go

        @update
        def handshake():
            s.go @= ~s.ostream.val | s.ostream.rdy

        @update_ff
        def shift():
            if s.reset:
                for i in range(depth):
                    s.valid[i] <<= 0
            elif s.go:
                s.valid[0] <<= s.istream.val
                s.data[0] <<= s.istream.msg.a
                for i in range(1, depth):
                    s.valid[i] <<= s.valid[i - 1]
                    s.data[i] <<= s.data[i - 1]
"""
VERILOG = """
`ifndef DEPTH
`define DEPTH 2
`endif
module delay #(parameter NBITS = 8) (
  input  logic clk, input logic reset,
  input  logic istream__val, output logic istream__rdy, input  logic [NBITS-1:0] istream__msg,
  output logic ostream__val, input  logic ostream__rdy, output logic [NBITS-1:0] ostream__msg
);
  logic valid [0:`DEPTH-1];
  logic [NBITS-1:0] data [0:`DEPTH-1];
  assign istream__rdy = !ostream__val || ostream__rdy;
  assign ostream__val = valid[`DEPTH-1];
  assign ostream__msg = data[`DEPTH-1];
  always_ff @(posedge clk)
    if (reset) for (int i = 0; i < `DEPTH; i++) valid[i] <= 0;
    else if (istream__rdy) begin
      valid[0] <= istream__val;
      data[0] <= istream__msg;
      for (int i = 1; i < `DEPTH; i++) begin
        valid[i] <= valid[i-1];
        data[i] <= data[i-1];
      end
    end
endmodule
"""
MANIFEST = """
name = "delay"
files = ["delay.v"]
top = "delay"
nbits = [8]
function = "oracle.py:same"
[request]
a = "nbits"
[response]
p = "nbits"
[parameters]
NBITS = "nbits"
"""
PROGRAM = """
#include "delay.h"
int main(void) { return delay_call(7) != 7; }
"""


def written(folder, **files):
    """A folder with these files; `__` in a name begins a folder, the last `_` the suffix."""
    for name, text in files.items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        path = folder / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


def accelerator(depth, more=""):
    """The accelerator whose depth comes from this line."""
    return f"{more}\nimport modexlab\nfrom .rtl import DelayRTL\n{depth}\n{ACCELERATOR}"


# ---- where the depth is written: functions that write an accelerator, and return its folder or name, and the
# file to edit


def in_accelerator(folder, _):
    return written(folder, rtl_py=RTL, accelerator_py=accelerator("DEPTH = 2")), "accelerator.py"


def in_helper(folder, _):
    made = accelerator("from .helper import DEPTH")
    return written(folder, rtl_py=RTL, accelerator_py=made, helper_py="DEPTH = 2"), "helper.py"


def in_subfolder(folder, _):
    made = accelerator("from .parts.helper import DEPTH")
    return written(folder, rtl_py=RTL, accelerator_py=made, parts__helper_py="DEPTH = 2"), "parts/helper.py"


def outside(folder, _):
    written(folder.parent / "shared", common_depth_py="DEPTH = 2")
    more = f"import sys\nsys.path.insert(0, {str(folder.parent / 'shared')!r})"
    made = accelerator("from common_depth import DEPTH", more)
    return written(folder, rtl_py=RTL, accelerator_py=made), folder.parent / "shared" / "common_depth.py"


def in_test_file(folder, _):
    made = accelerator("from .test_depth import DEPTH")
    return written(folder, rtl_py=RTL, accelerator_py=made, test_depth_py="DEPTH = 2"), "test_depth.py"


def in_data(folder, _):
    """Read by the class when it is needed, not when it is imported."""
    made = accelerator("from pathlib import Path").replace(
        "DEPTH)", '(int(Path(__file__).with_name("depth.txt").read_text().split()[2])))'
    )
    made = made.replace("return DEPTH", "return self.rtl()._dsl.args[1]")
    return written(folder, rtl_py=RTL, accelerator_py=made, depth_txt="DEPTH = 2"), "depth.txt"


def in_default(folder, _):
    made = accelerator("").replace(
        "usual_nbits = 8", 'usual_nbits = 8\n    params = (modexlab.Param("depth", 2, (2, 3), "registers"),)'
    )
    made = made.replace("DEPTH)", 'self.parameters["depth"])').replace("= DEPTH", "= 0")
    made = made.replace("return DEPTH", 'return self.parameters["depth"]')
    return written(folder, rtl_py=RTL, accelerator_py=made), "accelerator.py"


def in_verilog(folder, _):
    written(folder, delay_v=VERILOG, design_toml=MANIFEST, oracle_py="def same(a):\n    return a\n")
    return folder, "delay.v"


def in_include(folder, _):
    text = f'`include "depth.vh"\n{VERILOG}'
    written(folder, delay_v=text, depth_vh="`define DEPTH 2\n", design_toml=MANIFEST)
    return written(folder, oracle_py="def same(a):\n    return a\n"), "depth.vh"


def registered(folder, monkeypatch):
    """A class that a script gives to modexlab.register."""
    monkeypatch.syspath_prepend(str(folder.parent))
    name = f"registered_{folder.parent.name.replace('-', '_')}"
    made = f"{accelerator('DEPTH = 2').replace('from .rtl', f'from {name}_rtl')}"
    written(folder.parent, **{f"{name}_py": made, f"{name}_rtl_py": RTL})
    importlib.invalidate_caches()
    monkeypatch.setattr(own._registered, "known", {})
    modexlab.register(importlib.import_module(name).Delay)
    return "delay", folder.parent / f"{name}.py"


def entry_point(folder, monkeypatch):
    """A class of an installed package."""
    monkeypatch.syspath_prepend(str(folder.parent))
    name = f"package_{folder.parent.name.replace('-', '_')}"
    written(folder.parent / name, rtl_py=RTL, delay_py=accelerator("DEPTH = 2"), __init___py="")
    about = folder.parent / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{own.GROUP}]\ndelay = {name}.delay:Delay\n")
    importlib.invalidate_caches()
    return "delay", folder.parent / name / "delay.py"


PLACES = (
    in_accelerator,
    in_helper,
    in_subfolder,
    outside,
    in_test_file,
    in_data,
    in_default,
    in_verilog,
    in_include,
    registered,
    entry_point,
)
NOW = (in_subfolder, in_data)  # the places of `make test`


# ---- the depth of the hardware that a command shows


def stages_of(text):
    """The length of the array of valid bits in a Verilog text."""
    (found,) = set(
        re.findall(r"valid ?\[(?:0:)?(\w+)(-1)?\]", text.partition("always_ff")[0].partition("assign")[0])
    )
    return int(found[0])


class Commands:
    """Commands with their answers to the question how deep the pipeline is, up to a constant."""

    def __init__(self, cli, folder, option):
        self._cli, self._folder, self._option = cli, folder, option
        self._store = f"--store {folder.parent / 'store.jsonl'}"
        self.entries = []  # outputs of the step rtl

    @property
    def _design(self):
        return catalogue.entry(self._option.split()[-1])

    def _words(self, command):
        return f"{command.format(self._option)} --nbits {NBITS}"

    def _report(self, command):
        return self._cli.json(self._words(command))

    def run(self):
        return self._report("run {}")["cycles"]

    def formula(self):
        return self._report("run {} --level formula")["cycles"]

    def check(self):
        """The table has rows that wait for the answer before them: 13, or 5 of a foreign core."""
        runs = self._report("check {} --backend native")["runs"]
        return runs[0]["cycles"] / (5 if hasattr(self._design.kind, "manifest") else 13)

    def verilog(self):
        return stages_of(self._cli.passes(self._words("verilog {} -o -")).out)

    def package(self):
        folder = self._folder.parent / "package"
        self._cli.passes(self._words(f"verilog {{}} --package --force -o {folder}"))
        (text,) = [file.read_text() for file in folder.rglob("*.sv") if "valid [" in file.read_text()]
        return stages_of(text)

    def asic(self):
        return self._report("asic {} --to synthesis")["flops"] / BITS

    def asic_behind_registers(self):
        return self._report("asic {} --to synthesis --interface xcel")["flops"] / BITS

    def fpga(self):
        return self._report("asic {} --fpga --device ecp5")["devices"]["ecp5"]["ffs"] / BITS

    def prove_protocol(self):
        (check,) = self._report("prove {} --check protocol")
        return int(re.search(r"within (\d+) cycles", check["how"])[1])

    def prove_netlist(self):
        (check,) = self._report("prove {} --check netlist")
        assert check["verdict"] == "proved"
        return stages_of((self.entries[-1] / "design.sv").read_text())

    def leakage(self):
        return self._report("attack leakage {} --traces 200")["cycles"]

    def faults(self):
        return self._report(f"attack faults {{}} --samples 20 {self._store}")["flip_flops"] / BITS

    def proc(self):
        program = written(self._folder.parent, main_c=PROGRAM) / "main.c"
        xcel = f"--xcel {self._option}" if "/" not in self._option else self._option
        report = self._cli.json(f"proc {program} {xcel} --nbits {NBITS}")
        assert report["exit_code"] == 0
        return report["cycles"]

    def _sweep(self, stage, metric):
        """The figure that a sweep adds to a store, which has no other that is current."""
        space = self._folder.parent / "space.toml"
        lines = "[[part]]", f'designs = ["{self._design.reference}"]', "nbits = [8]", f'stages = ["{stage}"]'
        space.write_text("\n".join(lines))
        self._cli.passes(f"sweep {space} {self._store}")
        with Store(self._folder.parent / "store.jsonl") as store:
            found = [row.value for row in store.rows(stage=stage, metric=metric) if not row.stale]
        (value,) = set(found)
        return value

    def sweep_formula(self):
        return self._sweep("formula", "cycles")

    def sweep_cl(self):
        return self._sweep("cl", "cycles")

    def sweep_native(self):
        return self._sweep("native", "cycles")

    def sweep_flow(self):
        return self._sweep("flow", "flops") / BITS

    def python_interface(self):
        machine = self._design.at(NBITS)
        return modexlab.measure(machine, "typical").value("cycles")


COMMANDS = [name for name in vars(Commands) if not name.startswith("_")]
FOREIGN = (in_verilog, in_include)
# commands that need a cycle-level model, a formula, secret fields or an interface
NOT_OF_VERILOG = (
    *("formula", "sweep_formula", "sweep_cl", "package", "asic_behind_registers"),
    *("leakage", "faults", "proc"),
)


@parametrize("place", one_now(PLACES, *NOW))
def test_commands_show_the_new_hardware(cli, tmp_path, monkeypatch, place):
    """The depth grows by one, by all commands."""
    folder = tmp_path / "delay"
    option, file = place(folder, monkeypatch)
    commands = Commands(cli, folder, option if isinstance(option, str) else f"--accelerator {option}")
    real = source.Source.entry

    def entry(self):
        commands.entries.append(real(self))
        return commands.entries[-1]

    monkeypatch.setattr(source.Source, "entry", entry)
    names = [name for name in COMMANDS if place not in FOREIGN or name not in NOT_OF_VERILOG]
    before = {name: getattr(commands, name)() for name in names}
    path = folder / file
    edited = re.sub(r"(DEPTH = |DEPTH |\"depth\", )2\b", r"\g<1>3", path.read_text())
    assert edited != path.read_text()
    path.write_text(edited)
    after = {name: getattr(commands, name)() - 1 for name in names}
    assert after == pytest.approx(before)


def test_an_edited_oracle_decides(cli, tmp_path, monkeypatch):
    """The function of a manifest is read again: the hardware is wrong now, for every command."""
    folder, _ = in_verilog(tmp_path / "delay", monkeypatch)
    options = f"--accelerator {folder} --nbits {NBITS}"
    assert cli.json(f"run {options}")["ok"]
    cli.passes(f"asic --to rtl-sim {options}")
    written(folder, oracle_py="def same(a):\n    return a ^ 1\n")
    assert not cli.json(f"run {options}")["ok"]
    assert cli.json(f"asic --to rtl-sim {options}")["tests_failed"] > 0
    cli.finds(f"check {options}")


def test_an_edited_memory_is_simulated(cli, tmp_path, monkeypatch):
    """The file that $readmemh names, in a core whose answer is its content."""
    folder, _ = in_verilog(tmp_path / "delay", monkeypatch)
    rom, core = folder / "rom.hex", folder / "delay.v"
    reads = f'logic [7:0] rom [0:0]; initial $readmemh("{rom}", rom);\n  logic valid'
    answer = "ostream__msg = data[`DEPTH-1] ^ rom[0]"
    text = core.read_text().replace("logic valid", reads, 1)
    core.write_text(text.replace("ostream__msg = data[`DEPTH-1]", answer))
    for content, failed in ("00", False), ("01", True):
        rom.write_text(f"{content}\n")
        options = f"--accelerator {folder} --nbits {NBITS}"
        assert cli.json(f"run {options}")["ok"] != failed
        assert bool(cli.json(f"asic --to rtl-sim {options}")["tests_failed"]) == failed


def test_an_edited_program_runs(cli, tmp_path, monkeypatch):
    folder, _ = in_accelerator(tmp_path / "delay", monkeypatch)
    command = f"proc {tmp_path / 'main.c'} --accelerator {folder} --nbits {NBITS}"
    codes = []
    for value in "7", "8":
        written(tmp_path, main_c=PROGRAM.replace("(7)", f"({value})"))
        codes.append(cli.json(command)["exit_code"])
    assert codes == [0, 1]


@pytest.mark.parametrize("command", ["asic --to rtl-sim", "run --base 57 --exp 23 --mod 201"])
def test_an_edited_multiplier_is_tested(cli, tmp_path, command):
    """The multiplier of lab 3, after an edit that makes its products wrong."""
    solution = ROOT / "docs" / "labs" / "instructor" / "lab3" / "solution" / "blakley"
    folder = shutil.copytree(solution, tmp_path / "blakley")
    cli.passes(f"{command} --accelerator {folder} --nbits 8")
    rtl = folder / "rtl.py"
    assert "<< 1" in rtl.read_text()
    rtl.write_text(rtl.read_text().replace("<< 1", "<< 2"))
    cli.finds(f"{command} --accelerator {folder} --nbits 8")


def test_a_helper_that_the_process_has_imported_itself(tmp_path, monkeypatch):
    """The process keeps its module; the accelerator has the file as it is now."""
    folder, file = outside(tmp_path / "delay", monkeypatch)
    monkeypatch.syspath_prepend(str(file.parent))
    mine = importlib.import_module("common_depth")
    for depth in (2, 3):
        file.write_text(f"DEPTH = {depth}")
        assert catalogue.entry(str(folder)).at(NBITS).cycles(1) == depth
        assert importlib.import_module("common_depth") is mine
    monkeypatch.delitem(sys.modules, "common_depth")


def test_an_identity_does_not_depend_on_what_the_process_has_made(tmp_path):
    """A table for each width is read by the machine of this width alone."""
    made = accelerator("from pathlib import Path").replace(
        "return DEPTH", 'return int(Path(__file__).with_name(f"t{self.nbits}.txt").read_text())'
    )
    made = made.replace("DelayRTL(self.nbits, DEPTH)", "DelayRTL(self.nbits, self.cycles(0))")
    folder = written(tmp_path / "delay", rtl_py=RTL, accelerator_py=made, t8_txt="2", t16_txt="3")
    narrow, wide = (catalogue.entry(str(folder)).at(nbits) for nbits in (8, 16))
    before = narrow.identity, wide.identity
    assert before[0] != before[1]
    (folder / "t16.txt").write_text("4")
    narrow, wide = (catalogue.entry(str(folder)).at(nbits) for nbits in (8, 16))
    assert narrow.identity == before[0] and wide.identity != before[1]


def test_a_helper_that_cannot_be_imported_may_be_optional(tmp_path):
    more = "try:\n    from . import fast\nexcept ImportError:\n    fast = None\n"
    made = accelerator("DEPTH = 2", more)
    folder = written(tmp_path / "delay", rtl_py=RTL, accelerator_py=made, fast_py="import no_such_module\n")
    design = catalogue.entry(str(folder))
    assert folder / "fast.py" in design.trace.files and design.at(NBITS).cycles(1) == 2
