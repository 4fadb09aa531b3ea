"""Liberty and LEF as foundries write them: small files for each construct, and real libraries if present."""

import gzip
import json
import re

import pytest
from modexlab.eval.cli.main import main
from modexlab.flow.kit import kit, lef, liberty

from tests.harness import parametrize, refused, regress
from tests.kits import pdks

CELL = """  cell ({name}) {{ area : 1 ; {more}
    pin (A) {{ direction : input ; capacitance : 2 ; }}
    pin (Y) {{ direction : output ; function : "!A" ;
      timing () {{ related_pin : A ; timing_sense : negative_unate ;
        cell_rise ({template}) {{ {index} values ("{values}") ; }} }} }}
  }}
"""
SCALAR = {"template": "scalar", "index": "", "values": "5"}
HEAD = """library (tiny) {{
  time_unit : "{time}" ; voltage_unit : "1V" ; capacitive_load_unit ({cap}) ;
  leakage_power_unit : "1{leakage}" ;
  lu_table_template (grid) {{ variable_1 : input_net_transition ; index_1 ("1, 2") ; }}
"""


def library(*cells, time="1ps", leakage="pW", cap="1, ff", more=""):
    return HEAD.format(time=time, leakage=leakage, cap=cap) + more + "".join(cells) + "}\n"


def cell(name="INV", more="", **table):
    return CELL.format(name=name, more=more, **{**SCALAR, **table})


def delay(found, name="INV"):
    return found.cells[name].pins["Y"].timing[0].cell_rise


@parametrize(
    "units, ns, cap_ff, leakage_nw",
    [
        ({}, 0.005, 2, 0.003),
        ({"time": "1ns", "cap": "1, pf", "leakage": "nW"}, 5, 2000, 3),
        ({"time": "10ps", "cap": "10, fF", "leakage": "uW"}, 0.05, 20, 3000),
    ],
)
def test_units(units, ns, cap_ff, leakage_nw):
    found = liberty.parse(library(cell(more="cell_leakage_power : 3 ;"), **units))
    assert delay(found).at(0) == pytest.approx(ns)
    assert found.cells["INV"].pins["A"].cap_ff == pytest.approx(cap_ff)
    assert found.cells["INV"].leakage_nw == pytest.approx(leakage_nw)


def test_scalar_is_predefined_and_other_templates_are_not():
    assert delay(liberty.parse(library(cell()))).values == ((0.005,),)
    with refused(r"line 9: cell_rise has the unknown template cube"):
        liberty.parse(library(cell(template="cube")))


def test_registers_latches_and_clock_gates():
    found = liberty.parse(
        """library (tiny) {
  cell (FF) { ff (IQ, IQN) { clocked_on : "CK" ; next_state : "D" ; clear : "!RN" ; preset : "S" ; } }
  cell (LAT) { latch (IQ, IQN) { enable : "G" ; data_in : "D" ; clear : "!RN" ; } }
  cell (ICG) { clock_gating_integrated_cell : latch_posedge_precontrol ; dont_use : true ;
    pin (CK) { direction : input ; clock_gate_clock_pin : true ; }
    pin (EN) { direction : input ; clock_gate_enable_pin : true ; }
    pin (SE) { direction : input ; clock_gate_test_pin : true ; }
    pin (GCK) { direction : output ; clock_gate_out_pin : true ; state_function : "CK * IQ" ; } }
}"""
    )
    flip_flop, latch, gate = (found.cells[name] for name in ("FF", "LAT", "ICG"))
    assert (flip_flop.ff.clear, flip_flop.ff.preset, flip_flop.resets) == ("!RN", "S", ("RN", "S"))
    assert (latch.latch.clock, latch.latch.clear, latch.resets) == ("G", "!RN", ("RN",))
    pins = gate.clock_gate
    assert (pins.clock, pins.enable, pins.test, pins.output) == ("CK", "EN", "SE", "GCK")
    assert gate.dont_use and not flip_flop.dont_use


def test_several_files_are_one_library(tmp_path):
    paths = [tmp_path / "a.lib", tmp_path / "b.lib.gz"]
    paths[0].write_text(library(cell("INV"), cell("SPARE"), cell("DELAY", "dont_use : true ;")))
    own = '  lu_table_template (own) { variable_1 : input_net_transition ; index_1 ("1, 2") ; }\n'
    with_own = library(cell("BUF", template="own", values="3, 4"), more=own)
    paths[1].write_bytes(gzip.compress(with_own.encode()))
    text = liberty.join(paths, lambda name: name == "SPARE", {"DELAY"})
    found = liberty.parse(text)
    assert list(found.cells) == ["INV", "DELAY", "BUF"]
    assert [name for name, item in found.cells.items() if item.dont_use] == ["DELAY"]
    assert delay(found, "BUF").values == ((0.003,), (0.004,))


@parametrize(
    "second, message",
    [
        (library(cell("INV", values="6")), r"b\.lib, line 5: expected one cell INV, and this is another"),
        (library(cell("BUF"), time="1ns"), r"b\.lib: expected time_unit 1ps as in .*a\.lib"),
        (library(cell("BUF"))[:-3], r"b\.lib, line 1: the group library \(tiny\) never ends"),
        ("\x1f\x8b", r"b\.lib"),
    ],
)
def test_files_that_do_not_go_together(tmp_path, second, message):
    paths = [tmp_path / "a.lib", tmp_path / "b.lib"]
    for path, text in zip(paths, (library(cell("INV")), second), strict=True):
        path.write_text(text)
    with refused(message):
        liberty.join(paths, lambda name: False, set())


def test_a_damaged_gzip_file(tmp_path):
    path = tmp_path / "a.lib.gz"
    path.write_bytes(gzip.compress(library(cell()).encode())[:-20])
    with refused(r"a\.lib\.gz cannot be read as gzip"):
        liberty.content(path)


# ---- LEF

TECH = """VERSION 5.8 ;
PROPERTYDEFINITIONS
  LAYER LEF58_CUTCLASS STRING ;
  LAYER routingPitch REAL ;
END PROPERTYDEFINITIONS
SITE double
  SIZE 0.4 BY 4.0 ;
END double
SITE unit CLASS CORE ; SIZE 0.4 BY 2.0 ;
END unit
LAYER m1
  TYPE ROUTING ; DIRECTION HORIZONTAL ;  # two statements in a line
  PITCH 0.48 0.40 ;
  OFFSET 0.24 0.20 ;
  WIDTH 0.14 ;
  SPACINGTABLE
    PARALLELRUNLENGTH 0.00 1.00
    WIDTH 0.00        0.15 0.16
    WIDTH 3.00        0.28 0.30 ;
  SPACING 0.29 ADJACENTCUTS 3 WITHIN 0.311 ;
  ANTENNAMODEL OXIDE1 ;
  ANTENNACUMDIFFAREARATIO PWL ( ( 0 200 ) ( 0.159 200 ) ) ;
  RESISTANCE RPERSQ 0.125 ;
  PROPERTY LEF58_WIDTHTABLE "
    WIDTHTABLE 0.14 0.9 ;
    END m1 " ;
END m1
LAYER v1
  TYPE CUT ;
  SPACING 0.17 ;
  SPACING 0.25 ADJACENTCUTS 3 WITHIN 0.26 ;
  PROPERTY LEF58_CUTCLASS " CUTCLASS VA WIDTH 0.15 LENGTH 0.3 CUTS 2 ; " ;
END v1
Via m1m2 DEFAULT
  LAYER v1 ; RECT -0.1 -0.1 0.1 0.1 ;
END m1m2
VIARULE m1m2 GENERATE DEFAULT
  LAYER v1 ; RECT -0.1 -0.1 0.1 0.1 ; SPACING 0.4 BY 0.4 ;
END m1m2
SPACING
  SAMENET m1 m1 0.14 ;
  SAMENET m1 v1 0.0 STACK ;
END SPACING
END LIBRARY
"""
CELLS = """MACRO inv
  SIZE 1.2 BY 2.0 ;
  SITE unit ;
  PIN A
    DIRECTION INPUT ;
    ANTENNAGATEAREA 0.126 LAYER m1 ;
    PORT
      LAYER m1 ;
      RECT MASK 1 0.1 0.2 0.3 0.4 ;
      POLYGON 0 0 1 0 1 1 ;
    END
  END A
  OBS
    LAYER v1 ; RECT 0 0 1 1 ;
  END
END inv
END LIBRARY
"""


def read(tmp_path, tech=TECH, cells=CELLS):
    return pdks.lef_of(tmp_path, tech, cells)


def test_lef_as_of_version_5_8(tmp_path):
    found = read(tmp_path)
    wires, cuts = found.layers["m1"], found.layers["v1"]
    assert (wires.pitch, wires.offset, wires.width, wires.spacing) == (0.40, 0.20, 0.14, 0.15)
    assert (wires.res_ohm, cuts.spacing, list(found.layers)) == (0.125, 0.17, ["m1", "v1"])
    spacings = [wires.spacing_to(*wide) for wide in ((2.9, 0.9), (2.9, 1.0), (3.0, 0.9), (3.0, 1.0))]
    assert spacings == [0.15, 0.16, 0.28, 0.30]
    assert (found.site, found.row_height) == ("unit", 2.0)
    assert found.vias["m1m2"] == {"v1": (-0.1, -0.1, 0.1, 0.1)}
    pin = found.macros["inv"].pins["A"]
    assert [len(corners) for _, corners in pin.shapes] == [4, 3] and pin.shapes[0][1][0] == (0.1, 0.2)
    assert found.macros["inv"].obstructions[0][0] == "v1"


@parametrize(
    "old, new, message",
    [
        ("WIDTH 0.14 ;", "WIDTH wide ;", r"tech\.lef, line 15: expected a number as word 2 in 'WIDTH wide'"),
        ("PITCH 0.48 0.40 ;", "PITCH ;", r"tech\.lef, line 13: expected a number in 'PITCH'"),
        (
            "END m1\nLAYER",
            "END m2\nLAYER",
            r"line 27: expected END m1 for LAYER m1 of line 11, and not END m2",
        ),
        (' CUTS 2 ; " ;', " CUTS 2 ;", r"tech\.lef, line 32: expected the end of a text in quotes"),
        (
            "END SPACING\nEND LIBRARY\n",
            "",
            r"expected END SPACING for SPACING of line 40, and not the end of the",
        ),
        (
            "0.0 STACK ;\nEND SPACING\nEND LIBRARY\n",
            "0",
            r"expected a semicolon at the end in 'SAMENET m1 v1 0'",
        ),
    ],
)
def test_lef_that_cannot_be_read(tmp_path, old, new, message):
    if old not in TECH:
        pytest.fail(f"{old!r} is not in the file")
    with refused(message):
        read(tmp_path, TECH.replace(old, new))


def test_shapes_that_cannot_be_read(tmp_path):
    with refused(r"cells\.lef, line 10: expected pairs of numbers in 'POLYGON 0 0 1'"):
        read(tmp_path, cells=CELLS.replace("POLYGON 0 0 1 0 1 1", "POLYGON 0 0 1"))


# ---- real libraries


@parametrize("name", pdks.INSTALLED)
def test_a_foundry_s_library(monkeypatch, name):
    path = pdks.require(monkeypatch, name)
    found = kit.find(path)
    macros = lef.read_lef(found.tech_lef, found.lef).macros
    for corner in found.libraries:
        library = kit.find(path, corner).library
        assert library.cells.keys() <= macros.keys()
        gate = library.cells[library.roles.clock_gate].clock_gate
        assert gate.style.startswith("latch_posedge") and library.roles.family(library.roles.inverter)
        inverter = library.cells[library.roles.inverter]
        assert 0.001 < delay_of(inverter) < 0.5 and 0.1 < inverter.pins[inverter.inputs[0]].cap_ff < 10
        assert any(item.ff for item in library.cells.values())
    if kit.SLOW in found.libraries:
        at = [delay_of(kit.find(path, c).library.cells[inverter.name]) for c in (kit.SLOW, kit.TYPICAL)]
        assert at[0] > at[1]


def delay_of(inverter):
    """The delay in ns at the second slew and load of the table."""
    table = inverter.pins[inverter.outputs[0]].timing[0].cell_fall
    return table.at(table.index_1[1], table.index_2[1])


@regress
@parametrize("name", pdks.INSTALLED)
def test_the_flow_with_a_foundry_s_library(monkeypatch, capsys, name):
    pdks.require(monkeypatch, name)
    assert main(["asic", "mont", "--nbits", "8", "--kit", name, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["tests_failed"] == 0 and report["tests"].keys() == {"rtl", "gates"}
    assert report["equivalence"]["equivalent"] and report["wns_ns"] >= 0 and report["hold_wns_ns"] > 0
    assert report["derate"] == 0.05
    assert [corner.split()[0] for corner in report["corners"].values()] == [
        "slow",
        "typical" if name == "asap7" else "fast",
        "typical",
    ]


@regress
def test_faults_in_a_netlist_of_a_kit(monkeypatch, capsys):
    pdks.require(monkeypatch, "sky130hd")
    options = ["--nbits", "8", "--netlist", "--samples", "20", "--kit", "sky130hd", "--json"]
    code = main(["attack", "faults", "mont", *options])
    report = json.loads(capsys.readouterr().out)
    assert report["injected"] == 20 and code == (1 if report["wrong_result"] else 0)


# ---- refusals of the command


@parametrize(
    "options, message",
    [
        (["--kit", "sky130hd"], r"sky130hd is not found: PDK_ROOT is not set; set PDK_ROOT .* ciel enable"),
        (["--kit", "sky130"], r"there is no kit sky130: give asap7, .*sky130hd"),
        (["--kit", "asap7", "--corner", "fast"], r"unknown corner 'fast': .*slow, typical"),
        (["--corner", "slow"], r"unknown corner 'slow': .*typical"),
    ],
)
def test_kits_and_corners_that_are_not_there(monkeypatch, capsys, options, message):
    monkeypatch.delenv(kit.PDK_ROOT, raising=False)
    assert main(["asic", "mont", "--nbits", "8", "--to", "synthesis", *options]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_a_wrong_folder_of_pdks(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(kit.PDK_ROOT, str(tmp_path))
    assert main(["asic", "mont", "--nbits", "8", "--kit", "asap7"]) == 2
    assert f"{tmp_path} has no folder asap7" in capsys.readouterr().err
