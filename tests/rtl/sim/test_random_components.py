"""Random components: PyMTL3's simulation against our Verilog in Verilator and in Yosys' simulator.

A bench of its own plays the inputs of some cycles from a table, and compares the outputs with those of
PyMTL3.
"""

import importlib.util
import os
import subprocess
import sys
import zlib
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modexlab.flow.netlist import yosys
from modexlab.rtl.sim import translate
from modexlab.rtl.sim.toolchain import verilator_root
from pymtl3 import DefaultPassGroup

from tests.harness import examples
from tests.rtl.sim.random_components import designs

RESET, CYCLES = 2, 14
DESIGNS, PARTS = (1, 5) if examples(1) == 1 else (100, 12)
MAKE_VARIABLES = "CFG_CXXFLAGS_PCH_I=-include PYTHON3=python3"  # Debian has no `python`
MAIN = """
#include "Vbench.h"
int main() {
  Vbench bench;
  for (int t = 0; t < CYCLES; t++) {
    bench.clk = 0;
    bench.eval();
    bench.clk = 1;
    bench.eval();
  }
  return bench.wrong;
}
"""
BENCH = """
module bench (input logic clk, output logic [7:0] wrong);  // the first cycle whose outputs differ
  logic [7:0] t = 8'd0;
  logic [{into}-1:0] in_;
  logic [{out}-1:0] out;
  logic [{out}-1:0] expected;
  initial wrong = 8'd0;
  always_comb begin
    in_ = 0;
    expected = 0;
    case (t)
{rows}
      default: ;
    endcase
  end
  top dut (.clk(clk), .reset(t < 8'd{reset}), .in_(in_), .out(out));
  always_ff @(posedge clk) begin
    t <= t + 8'd1;
    if (t >= 8'd{reset} && t < 8'd{cycles} && wrong == 8'd0 && out != expected) wrong <= t;
  end
endmodule
"""


def loaded(text, directory):
    """A new component Top of a module's text."""
    path = directory / "parts.py"
    path.write_text(text)
    name = f"parts_{zlib.crc32(text.encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # where inspect finds the sources
    spec.loader.exec_module(module)
    return module.Top


def simulated(top, inputs):
    """The outputs for these inputs, cycle by cycle; reset is 1 in the first ones."""
    top.elaborate()
    top.apply(DefaultPassGroup(linetrace=False))
    outputs = []
    for t, value in enumerate(inputs):
        top.reset @= int(t < RESET)
        top.in_ @= value
        top.sim_eval_combinational()
        outputs.append(int(top.out))
        top.sim_tick()
    return outputs


def bench(text, inputs, outputs, into, out):
    rows = "\n".join(
        f"      8'd{t}: begin\n"
        f"        in_ = {into}'h{given:x};\n"
        f"        expected = {out}'h{found:x};\n"
        "      end"
        for t, (given, found) in enumerate(zip(inputs, outputs, strict=True))
    )
    return text + BENCH.format(into=into, out=out, rows=rows, reset=RESET, cycles=CYCLES)


def in_verilator(directory):
    """The first cycle that differs, 0 if none does."""
    root = verilator_root()
    (directory / "main.cpp").write_text(MAIN.replace("CYCLES", str(CYCLES + 1)))
    command = ["--cc", "--exe", "--build", "-Wno-fatal", "-Wno-lint", "--no-timing", "-O1", "-CFLAGS", "-O0"]
    subprocess.run(
        [root / "bin" / "verilator_bin", *command, "--top-module", "bench", "main.cpp", "bench.sv"],
        cwd=directory,
        env={**os.environ, "VERILATOR_ROOT": str(root), "MAKEFLAGS": MAKE_VARIABLES},
        capture_output=True,
        check=True,
    )
    return subprocess.run([directory / "obj_dir" / "Vbench"], check=False).returncode


def in_yosys(directory):
    """In Yosys' simulator, whose waveform shows `wrong`. Its own reader takes the width of a truncating cast
    for that of its operand.
    """
    script = "read_slang --top bench bench.sv\nproc\nmemory_collect\n"
    yosys.run("sim", f"{script}sim -clock clk -n {CYCLES + 1} -vcd bench.vcd bench\n", directory)
    lines = (directory / "bench.vcd").read_text().splitlines()
    (code,) = {line.split()[3] for line in lines if line.startswith("$var") and " wrong " in line}
    values = [line.split()[0] for line in lines if line.startswith("b") and line.endswith(f" {code}")]
    return int(values[-1][1:], 2)


SIMULATORS = {"verilator": in_verilator, "yosys": in_yosys}


def differs(drawn, seed, directory):
    """The simulators whose outputs are not those of PyMTL3, with the first cycle."""
    source, into, out = drawn
    Top = loaded(source, directory)
    inputs = [Random(seed + t).getrandbits(into) for t in range(CYCLES)]
    outputs = simulated(Top(), inputs)
    text = translate(Top(), "top", unique=True)
    (directory / "bench.sv").write_text(bench(text, inputs, outputs, into, out))
    found = {name: run(directory) for name, run in SIMULATORS.items()}
    return {name: cycle for name, cycle in found.items() if cycle}


@settings(max_examples=DESIGNS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(drawn=designs(PARTS), seed=st.integers(0, 1 << 32))
def test_all_simulators_agree(drawn, seed, tmp_path_factory):
    assert differs(drawn, seed, tmp_path_factory.mktemp("parts")) == {}, drawn[0]
