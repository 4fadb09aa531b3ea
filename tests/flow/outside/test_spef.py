"""SPEF of other tools: what the reader accepts, wrong files, and our own files read back."""

import gzip

import pytest
from modexlab.flow import product
from modexlab.flow.graph import graph, run_step
from modexlab.flow.kit import kit
from modexlab.flow.power import power
from modexlab.flow.power.report import PowerReport
from modexlab.flow.timing import spef, timing, wire_table
from modexlab.flow.timing.report import TimingReport
from modexlab.flow.timing.spef import Spef
from pytest import approx

from tests.flow.circuits import Circuit
from tests.harness import needs_opensta, parametrize, refused

# as Innovus and StarRC write it: indices, ports, places, another divider and other units than ours, coupling
OTHER = r"""*SPEF "IEEE 1481-1998"
*DESIGN "pipe"
*DATE "Mon Nov 30 2026"
*VENDOR "another" // a remark
*PROGRAM "extractor"
*VERSION "1.0"
*DESIGN_FLOW "PIN_CAP NONE" "NAME_SCOPE LOCAL"
*DIVIDER /
*DELIMITER :
*BUS_DELIMITER <>
*T_UNIT 1.0 PS
*C_UNIT 1.0 PF
*R_UNIT 0.001 KOHM
*L_UNIT 1.0 HENRY

*NAME_MAP
*1 clk
*2 d<0>
*3 d<1>
*4 u1/a
*5 u1/b\[2\]
*6 u1/n
*7 q
*8 u1/r0
*9 u1/r1_reg\[2\]
*10 u1/g
*11 out\.reg
*12 x

*PORTS
*1 I *C 0.0 1.0 *L 0.01
*2 I
*7 O *L 0.02

*D_NET *1 0.004
*CONN
*P *1 I *C 0.0 1.0
*I *8:CK I *C 2.5 1.4 *L 0.001 *D DFF_X1
*I *9:CK I
*I *11:CK I
*N *1:2 *C 2.0 1.4
*CAP
1 *1 0.0005
2 *1:2 0.002
3 *8:CK 0.0005
4 *9:CK 0.0005
5 *11:CK 0.0005
*RES
1 *1 *1:2 2
2 *1:2 *8:CK 3.5
3 *1:2 *9:CK 4
4 *1:2 *11:CK 5
*END

*D_NET *2 0.001 *V 3
*CONN
*P *2 I
*I *8:D I
*CAP
1 *2 0.0004
2 *8:D 0.0002
3 *8:D *3:1 0.0004
*RES
1 *2 *8:D 10
*END

*D_NET *3 0.0015
*CONN
*P *3 I
*I *9:D I
*CAP
1 *3:1 0.0011:0.0011:0.0011
2 *2 *3:1 0.0004
*RES
1 *3 *3:1 6
2 *3:1 *9:D 6.5
*END

*D_NET *4 0.0007
*CONN
*I *8:Q O
*I *10:A1 I
*END

*D_NET *5 0.0006
*CONN
*I *9:Q O
*I *10:A2 I
*CAP
1 *9:Q 0.0006
*RES
1 *9:Q *10:A2 0.1:0.2:0.3
*END

*D_NET *6 0.0009
*CONN
*I *10:ZN O
*I *11:D I
*CAP
1 *10:ZN 0.0009
*RES
1 *10:ZN *11:D 8
*END

*D_NET *7 0.0008
*CONN
*I *11:Q O
*P *7 O
*CAP
1 *7 0.0008
*RES
1 *11:Q *7 9
*END
"""
CAPS = {"clk": 4, "d[0]": 1, "d[1]": 1.5, "u1.a": 0.7, "u1.b[2]": 0.6, "u1.n": 0.9, "q": 0.8}
OHMS = {"clk": 14.5, "d[0]": 10, "d[1]": 12.5, "u1.a": 0, "u1.b[2]": 0.2, "u1.n": 8, "q": 9}


def pipe():
    """Two registers, a gate and a register, in the names of a netlist that was flattened."""
    circuit = Circuit("pipe", "clk d:2", "q")
    circuit.add("u1.r0", "DFF_X1", D="d[0]", CK="clk", Q="u1.a")
    circuit.add("u1.r1_reg[2]", "DFF_X1", D="d[1]", CK="clk", Q="u1.b[2]")
    circuit.add("u1.g", "NAND2_X1", A1="u1.a", A2="u1.b[2]", ZN="u1.n")
    circuit.add("out.reg", "DFF_X1", D="u1.n", CK="clk", Q="q")
    return circuit


@pytest.fixture
def other(tmp_path):
    """The file of another tool next to a netlist in the same directory."""
    pipe().write(tmp_path)
    (tmp_path / "other.spef").write_text(OTHER)
    return tmp_path / "other.spef"


def numbers(table):
    """The capacitances and resistances of a table by net."""
    return {name: wire.cap_ff for name, wire in table.items()}, {n: wire.res_ohm for n, wire in table.items()}


def test_spef_of_another_tool(other):
    """Indices, units, coupling, corners and the names of a flat netlist; also compressed."""
    table = Spef(other, pipe().read(other.parent)).table()
    assert numbers(table) == (approx(CAPS), approx(OHMS))
    other.write_bytes(gzip.compress(OTHER.encode()))
    assert Spef(other, pipe().read(other.parent)).table() == table


@needs_opensta
def test_timing_with_the_spef_of_another_tool(other):
    """Both engines read it, also with the names of the netlist; OpenSTA finds every net."""
    netlist = pipe().read(other.parent)
    spef.adopt(other, netlist, other.parent)
    ours = other.parent / "wires.spef"
    assert numbers(Spef(ours, netlist).table()) == (approx(CAPS), approx(OHMS))
    assert r"u1\.r1_reg\[2\]:D" in ours.read_text()
    options = {"clock_ns": 1.0, "propagated": True}
    runs = [
        timing.analyze(other.parent / "netlist.v", "pipe", other.parent, engine=engine, **wires, **options)
        for engine in timing.ENGINES
        for wires in ({"spef": ours}, {"spef": ours, "wires": other.parent / "wires.json"})
    ]
    assert {run.wires for run in runs} == {"routing"}
    assert [run.wns_ns for run in runs] == approx([runs[0].wns_ns] * 4, abs=2e-3)
    assert runs[0].wns_ns == runs[1].wns_ns and runs[2].wns_ns == runs[3].wns_ns


@parametrize(
    "old, new, message",
    [
        ("*C_UNIT 1.0 PF", "*C_UNIT 1.0 MF", r":12: \*C_UNIT 1\.0 MF: give it in FF or PF"),
        ("*R_UNIT 0.001 KOHM\n", "", r":34: \*R_UNIT is missing: add it to the head"),
        ("*12 x", "12", r":28: '12' does not parse: write it as in IEEE 1481"),
        ("*D_NET *6", "*D_NET *66", r":\d+: \*66 is not in the name map: add it below \*NAME_MAP"),
        ("*D_NET *6", "*D_NET *12", r":95: x is no net of pipe: extract the wires of this netlist"),
        ("*D_NET *6 0.0009", "*D_NET *6 much", r":95: '\*D_NET \*6 much' does not parse"),
        ("*D_NET *6 0.0009", "*D_NET *6 -1", r":95: -1 is no capacitance or resistance: give 0 or more"),
        ("*D_NET *6 0.0009", "*D_NET *6 0.0019", r":95: u1\.n has 1\.9 fF, and its nodes have 0\.9 fF"),
        ("*D_NET *6 0.0009", "*R_NET *6 0.0009", r":95: \*R_NET is not supported: extract detailed nets"),
        ("*I *10:ZN O", "*I *10:Z O", r":100: \*10:ZN is at no node of the net u1\.n: correct"),
        ("1 *10:ZN *11:D 8", "1 *10:ZN *6:1 8", r":95: no wire joins out\.reg/D to the net u1\.n"),
        ("1 *10:ZN *11:D 8", "1 *10:ZN *5:1 8", r":102: \*5:1 is no node of the net u1\.n: correct the node"),
        ("1 *10:ZN 0.0009", "1 *5:1 0.0009", r":100: \*5:1 is at no node of the net u1\.n: correct the node"),
        ("8\n*END\n", "8\n", r":104: \*END of the net u1\.n is missing: put it before the next net"),
        ("*7 9\n*END\n", "*7 9\n", r":\d+: \*END of the net q is missing: the file is cut off, copy it anew"),
        (
            "*D_NET *6 0.0009\n",
            "*D_NET *4 0.0007\n",
            r":95: u1\.a is the net of line 79 as well",
        ),
        ('*SPEF "IEEE', '*SDF "IEEE', r":1: no SPEF, which begins with \*SPEF"),
    ],
)
def test_wrong_spef_is_refused(old, new, message, other):
    assert OTHER.count(old) == 1
    other.write_text(OTHER.replace(old, new))
    with refused(f"^other\\.spef({message})"):
        Spef(other, pipe().read(other.parent)).table()


# ---- our own files


def adopted(files, tmp_path):
    """The files of the flow after the layout is adopted from its Verilog and its SPEF."""
    given = {name: files[name] for name in ("design.json", "workload.json")} | {"adk": kit.find().directory}
    outside = {"outside.v": files["netlist_placed.v"], "outside.spef": files["wires.spef"]}
    found = {**given, **outside}
    for name in ("adopt-layout", "gate-sim-post", "timing-post", "power-post"):
        inputs = {file: found[file] for file in graph.step(name).inputs if file in found}
        entry = run_step.execute(name, inputs, graph.step(name).parameters)
        found |= {file: entry / file for file in graph.step(name).outputs}
    return found


def test_our_layout_adopted_has_its_timing_and_power(laid_out, tmp_path):
    """Timing and power from our SPEF are those from wires.json, on a netlist read back from Verilog."""
    files = adopted(laid_out, tmp_path)
    tables = [wire_table.load(made["wires.json"]) for made in (laid_out, files)]
    # a bus of one bit loses its index in Verilog
    alone = {name: wire for name, wire in tables[0].items() if name not in tables[1]}
    assert {name.removesuffix("[0]") for name in alone} == tables[1].keys() - tables[0].keys()
    for name, wire in tables[0].items():
        again = tables[1][name.removesuffix("[0]") if name in alone else name]
        assert again.cap_ff == wire.cap_ff
        assert again.res_ohm == approx(wire.res_ohm, rel=1e-3, abs=0.01)
    one, other = (product.read(made["timing_post.json"], TimingReport) for made in (laid_out, files))
    assert (other.wns_ns, other.hold_wns_ns) == approx((one.wns_ns, one.hold_wns_ns), abs=2e-6)
    assert other.wires == one.wires == "routing" and other.met is one.met
    one, other = (product.read(made["power_post.json"], PowerReport) for made in (laid_out, files))
    assert other.total_mw == approx(one.total_mw, rel=1e-6)
    assert other.energy_nj == approx(one.energy_nj, rel=1e-6)
    assert other.drop_mv is None and one.drop_mv


def test_power_reads_spef(laid_out, tmp_path):
    """Without wires.json, from the file alone."""
    activity = laid_out["activity_post"]
    options = {"clock_ns": 3.0, "clock_port": "clock", "hierarchy": laid_out["hierarchy_placed.json"]}
    reports = [
        power.analyze(laid_out["netlist_placed.json"], activity, tmp_path, **wires, **options)
        for wires in ({"spef": laid_out["wires.spef"]}, {"wires": laid_out["wires.json"]})
    ]
    assert reports[0].total_mw == approx(reports[1].total_mw, rel=1e-6) and reports[0].wires == "routing"
