"""The design kit and its library: values, units, and errors with a line number."""

import importlib.metadata
import json
import shutil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from modexlab.fl.errors import BadInput
from modexlab.flow.kit import functions, kit, liberty
from modexlab.flow.kit.liberty import Table
from modexlab.flow.netlist import logic, netlist
from pytest import approx

from tests.flow import cell_models
from tests.flow.circuits import adder, flop_to_flop
from tests.harness import draws, parametrize, refused

SMALL = """\
/* a library
   of one gate */
library (small) {
  time_unit : "10ps";
  capacitive_load_unit (1, pf);
  voltage_unit : "1V";
  leakage_power_unit : "1uW";
  nom_voltage : 1.5;
  lu_table_template (by_load_first) {
    variable_1 : total_output_net_capacitance;
    variable_2 : input_net_transition;
    index_1 ("0.1, 0.2, 0.4");
    index_2 ("1, 3");
  }
  power_lut_template (energy) { variable_1 : input_transition_time; index_1 ("1, 2"); }
  wire_load ("w") {
    capacitance : 0.001; resistance : 2; slope : 10; fanout_length (1, 5); fanout_length (3, 9) }
  cell (GATE) { // no semicolons after the next two
    area : 2.5
    cell_leakage_power : 3
    pin ("A") { direction : input; capacitance : 0.01; internal_power () { when : "Z";
      power (energy) { values ("0.5, 0.7") } } }
    pin (Z) {
      direction : output ; function : "A'";
      timing () {
        related_pin : "A"; timing_sense : negative_unate;
        cell_rise (by_load_first) { values ("1, 2", "3, 4", \\
                                            "7, 9"); }
        rise_transition (scalar) { values ("0.5"); }
      }
    }
  }
}
"""


def test_kit_is_mflowgens():
    files = kit.find()
    assert files.lib.parent == files.gds.parent
    package, _, version = files.data.files.package.partition("==")
    assert importlib.metadata.version(package) == version


def damaged(data):
    return data[: len(data) // 2]


@parametrize("name", [name for field in kit.WHOLE if (name := getattr(kit.find().data.files, field))])
@parametrize("harm", [damaged, None])
def test_a_kit_that_is_not_whole_is_refused(tmp_path, name, harm):
    copy = tmp_path / "adk"
    shutil.copytree(kit.find().lib.parent, copy)
    if harm is None:
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(damaged((copy / name).read_bytes()))
    with refused(name) as refusal:
        kit.find(copy)
    assert "\n" not in str(refusal.value)


def test_a_changed_byte_of_the_installed_kit_is_noticed(tmp_path, monkeypatch):
    where, digests = kit._installed(kit.find().data.files)
    copy = tmp_path / "adk"
    shutil.copytree(where, copy)
    monkeypatch.setattr(kit, "_installed", lambda files: (copy, digests))
    assert kit._described(kit.DEFAULT).lef.parent == copy
    text = (copy / "stdcells.lef").read_bytes()
    (copy / "stdcells.lef").write_bytes(text.replace(b"0.495", b"0.496", 1))
    with refused(r"stdcells\.lef.*pip install"):
        kit._described(kit.DEFAULT)


def test_all_of_nangate_is_read(library):
    assert (len(library.cells), library.voltage, library.slew_share) == (135, 1.1, approx(0.4))
    assert library.default_wire_load in library.wire_loads
    nand = library.cells["NAND2_X1"]
    assert (nand.area, nand.inputs, nand.outputs) == (0.798, ("A1", "A2"), ("ZN",))
    assert nand.pins["ZN"].function == "!(A1 & A2)"
    assert [arc.related for arc in nand.pins["ZN"].power] == ["A1", "A2"]
    assert sum(cell.ff is not None for cell in library.cells.values()) == 16
    flop = library.cells["DFFR_X1"]
    assert flop.ff == liberty.Register("IQ", "IQN", "CK", "D", "!RN", "")
    assert [pin.name for pin in flop.pins.values() if pin.clock] == ["CK"]
    assert {arc.kind for arc in flop.pins["D"].timing} == {"setup_rising", "hold_rising"}
    gate = library.cells["CLKGATE_X1"]
    assert gate.clock_gate == liberty.ClockGate("latch_posedge", "CK", "E", "", "GCK")
    assert gate.sequential and not library.cells["FA_X1"].sequential
    assert gate.pins["GCK"].function == "(CK & IQ)"
    assert library.cells["DLH_X1"].latch == liberty.Register("IQ", "IQN", "G", "D", "", "")
    # one number of each kind, copied from the file
    and2 = library.cells["AND2_X1"]
    assert and2.leakage_nw == 25.066064 and ("A1 & A2", 28.466240) in and2.leakage_states
    assert (and2.pins["A1"].cap_rise_ff, and2.pins["A1"].cap_fall_ff) == (0.918145, 0.874832)
    assert and2.pins["ZN"].max_cap_ff == 60.5774
    assert and2.pins["ZN"].timing[1].fall_transition.values[3][2] == 0.00893038
    assert and2.pins["ZN"].power[0].fall.values[0][0] == 2.707163


def test_a_file_is_parsed_once(tmp_path, monkeypatch):
    """It is parsed again if its text changes."""
    parsed = []
    parse = liberty.parse

    def counted(text, source=""):
        parsed.append(source)
        return parse(text, source)

    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(liberty, "parse", counted)
    there = tmp_path / "small.lib"
    there.write_text(SMALL)
    first = liberty.load(there)
    liberty._unpickled.cache_clear()
    assert liberty.load(there) == first and parsed == [str(there)]
    there.write_text(SMALL + "\n")
    liberty.load(there)
    assert parsed == [str(there)] * 2


def test_units_axes_and_sloppy_text():
    library = liberty.parse(SMALL)
    gate = library.cells["GATE"]
    assert (library.voltage, gate.area, gate.leakage_nw) == (1.5, 2.5, approx(3000))
    assert gate.pins["A"].cap_ff == gate.pins["A"].cap_fall_ff == approx(10)
    (power,) = gate.pins["A"].power
    assert power.when == "Z" and power.rise == power.fall
    assert power.rise.values == ((approx(500),), (approx(700),))  # 1 pF V^2 = 1000 fJ
    (arc,) = gate.pins["Z"].timing
    assert (arc.related, arc.kind, arc.sense) == ("A", "combinational", "negative_unate")
    assert arc.cell_rise.index_1 == approx((0.01, 0.03))  # slews first, although the template has loads first
    assert arc.cell_rise.index_2 == approx((100, 200, 400))
    assert arc.cell_rise.values == (approx((0.01, 0.03, 0.07)), approx((0.02, 0.04, 0.09)))
    assert arc.rise_transition.at(17, 4) == approx(0.005)
    wire = library.wire_loads["w"]
    assert [wire.length_um(n) for n in (0, 1, 2, 3, 5)] == [0, 5, 7, 9, 29]
    assert wire.length_um(2) * wire.cap_ff_per_um == approx(7)


def test_interpolation_is_bilinear_also_outside():
    def plane(x, y):
        return 1 + 2 * x - 3 * y + 0.5 * x * y

    xs, ys = (1.0, 2.0, 4.0), (0.0, 10.0)
    table = Table(xs, ys, tuple(tuple(plane(x, y) for y in ys) for x in xs))
    for x, y in ((1, 0), (2, 10), (1.5, 5), (3, 2), (0, -4), (9, 30)):
        assert table.at(x, y) == approx(plane(x, y))


@parametrize(
    "old, new, at, reason",  # at: the text of the reported line
    [
        ("nom_voltage : 1.5;", "nom_voltage : high;", "nom_voltage", "high"),
        ('"7, 9"', '"7, 9, 1"', "cell_rise", "7 numbers where there should be 6"),
        ('"7, 9"', '"7, nan"', "cell_rise", "not finite"),
        ('"7, 9"', '"7, 9x"', "cell_rise", "9x"),
        ('"0.1, 0.2, 0.4"', '"0.1, 0.4, 0.2"', "index_1", "do not rise"),
        ('"10ps"', '"10 parsecs"', "time_unit", "parsecs"),
        ("cell_rise (by_load_first)", "cell_rise (by_nothing)", "cell_rise", "by_nothing"),
        ('related_pin : "A"', 'related_pin : "B"', "cell (GATE)", "relates to no pin B"),
        ("direction : output", "direction : outward", "pin (Z)", "outward"),
        ('pin ("A")', "pin (Z)", "pin (Z)", "second pin Z"),
        ('pin ("A")', "pin ()", 'pin ("A")', "a pin of GATE without a name"),
        ("cell (GATE) {", "cell (GATE) { } cell (GATE) {", "cell (GATE)", "second cell GATE"),
        ("capacitance : 0.001; ", "", "wire_load", "no capacitance"),
        ("    area : 2.5", "    area = 2.5", "area", "area = 2.5"),
        ("of one gate */", "of one gate", "/* a library", "cannot read"),
        ('"A\'"', "\"A'", "function", "cannot read"),
    ],
)
def test_damage_is_refused_with_its_line(old, new, at, reason):
    assert old in SMALL
    line = SMALL[: SMALL.index(at)].count("\n") + 1
    with refused(rf"^small\.lib, line {line}: .*{reason}") as refusal:
        liberty.parse(SMALL.replace(old, new, 1), "small.lib")
    assert "\n" not in str(refusal.value)


def test_a_brace_too_many_is_refused():
    with refused(f"line {SMALL.count(chr(10)) + 1}: a `}}` that closes nothing"):
        liberty.parse(SMALL + "}")


def test_a_file_cut_anywhere_is_refused():
    end = SMALL.rstrip().rindex("}")
    for length in range(0, end, 7):
        with pytest.raises(BadInput):
            liberty.parse(SMALL[:length])


def test_a_long_damaged_line_is_refused():
    """The parser takes linear time; quadratic time would be hours."""
    text = SMALL.replace('"7, 9"); }', '"7, 9", ' + '"1, 2", ' * 200_000)
    with refused("line"):
        liberty.parse(text)


def test_what_is_no_liberty_file_is_refused(tmp_path):
    with refused("no Liberty file"):
        liberty.parse("")
    with refused(r"nowhere\.lib cannot be read"):
        liberty.load(tmp_path / "nowhere.lib")
    (tmp_path / "binary.lib").write_bytes(b"library (x) {\n\xff\xfe }")
    with refused("line 2: this is no text"):
        liberty.load(tmp_path / "binary.lib")


# -- netlists
# -----------------------------------------------------------------------------------------------------------


def module(**changes):
    """A netlist as yosys writes it, with names of all kinds; `changes` replace top-level keys."""
    base = {
        "attributes": {"top": "00000000000000000000000000000001"},
        "ports": {
            "a": {"direction": "input", "bits": [2, 3]},
            "y": {"direction": "output", "bits": [5, "1"], "offset": 4},
        },
        "cells": {
            "$abc$1": {"type": "NAND2_X1", "connections": {"A1": [2], "A2": [3], "ZN": [4]}},
            "u.g[0]": {
                "type": "FA_X1",
                "connections": {"A": [4], "B": ["0"], "CI": [], "S": [5], "CO": ["x"]},
            },
        },
        "netnames": {
            "a": {"bits": [2, 3]},
            "$abc$n1": {"hide_name": 1, "bits": [4]},
            "u.long_name": {"bits": [4]},
            "u.n": {"bits": [4], "offset": 7},
            "y": {"bits": [5, "1"], "offset": 4},
            "u.down": {"bits": [4, 5], "upto": 1, "offset": 2},
            "dead": {"bits": [9]},
        },
    }
    return base | changes


def read(tmp_path, content, library, **options):
    path = tmp_path / "netlist.json"
    path.write_text(json.dumps(content))
    return netlist.read(path, library, **options)


def test_netlist(tmp_path, library):
    found = read(tmp_path, {"modules": {"lib": {"ports": {}}, "top": module()}}, library)
    assert (found.name, len(found.cells)) == ("top", 2)
    assert dict(found.port_bits("input")) == {"a[0]": found.net("a[0]"), "a[1]": found.net("a[1]")}
    assert [name for name, _ in found.port_bits("output")] == ["y[4]", "y[5]"]
    inner = found.net("u.n")
    assert found.nets[inner] == "u.n" and found.net("$abc$n1") == found.net("u.down[3]") == inner
    assert found.driver[inner] == ("$abc$1", "ZN") and found.sinks[inner] == [("u.g[0]", "A")]
    assert found.driver[found.net("a[1]")] == (netlist.PORT, "a[1]")
    assert (
        found.sinks[found.net("y[4]")] == [(netlist.PORT, "y[4]")]
        and found.nets[found.net("u.down[2]")] == "y[4]"
    )
    assert found.cells["u.g[0]"].pins.keys() == {"A", "B", "S"}
    assert sorted(found.constants.values()) == ["0", "1"]
    assert found.bus_bits >= {"a[0]", "y[5]", "u.down[2]"} and "u.n" not in found.bus_bits


@parametrize(
    "change, reason",
    [
        ({"cells": {"g": {"type": "MYSTERY", "connections": {}}}}, "MYSTERY, which is no cell of Nangate"),
        ({"cells": {"g": {"type": "INV_X1", "connections": {"Q": [2]}}}}, "g has no pin Q"),
        ({"cells": {"g": {"type": "INV_X1", "connections": {"A": [2, 3]}}}}, "g/A has 2 bits"),
        (
            {"cells": {"g": {"type": "INV_X1", "connections": {"A": [3], "ZN": [2]}}}},
            r"port a\[0\] and g/ZN drive",
        ),
        ({"ports": {"p": {"direction": "inout", "bits": [2]}}}, "the port p is inout"),
        ({"cells": []}, "is no netlist"),
    ],
)
def test_what_is_no_mapped_netlist_is_refused(tmp_path, library, change, reason):
    with refused(reason):
        read(tmp_path, {"modules": {"top": module(**change)}}, library)


def test_files_that_are_no_netlists_are_refused(tmp_path, library):
    with refused("cannot be read"):
        netlist.read(tmp_path / "none.json", library)
    for content in ([], {}, {"modules": []}):
        with pytest.raises(BadInput):
            read(tmp_path, content, library)
    with refused("unknown module 'b'"):
        read(tmp_path, {"modules": {"a": module()}}, library, top="b")
    (tmp_path / "cut.json").write_text(json.dumps({"modules": {"top": module()}})[:100])
    with refused("is no netlist"):
        netlist.read(tmp_path / "cut.json", library)


@parametrize("circuit", [adder(), flop_to_flop()], ids=lambda circuit: circuit.name)
def test_circuits_of_the_tests_are_netlists(tmp_path, circuit):
    found = circuit.read(tmp_path)
    assert len(found.cells) == len(circuit.cells)
    assert all(driver is not None for driver in found.driver)


# ---- functions

# pins by their spelling in Liberty: keywords of Python are names; a name that begins with a digit is quoted
PINS = {name: name for name in ("A", "B1", "in", "lambda", "self", "D[0]")} | {'"1A"': "1A", r"\"2_\"": "2_"}
LOOSENESS = {"|": 0, "&": 1, "^": 2}


def evaluated(tree, at):
    """The value of a tree of tuples, by Python's operators on 0 and 1."""
    if isinstance(tree, str):
        return int(tree) if tree in "01" else at[PINS[tree]]
    kind, *operands = tree
    values = [evaluated(operand, at) for operand in operands]
    return {"!": lambda a: 1 - a, "|": max, "&": min, "^": lambda a, b: int(a != b)}[kind](*values)


def printed(tree, draw, above=0):
    """A tree in a random spelling of Liberty, with the necessary and random additional parentheses."""
    blank = draw(st.sampled_from(("", " ")))
    if isinstance(tree, str):
        text, level = tree, 3
    elif tree[0] == "!":
        inner, level = printed(tree[1], draw, 3), 3
        text = f"!{blank}{inner}" if draw(st.booleans()) else f"{inner}{blank}'"
        if draw(st.booleans()):
            text = f"({text})"
    else:
        level = LOOSENESS[tree[0]]
        signs = {"|": "|+", "&": "&* ", "^": "^"}[tree[0]]
        sign = draw(st.sampled_from(signs))
        text = f"{blank}{sign}{blank}".join(
            (printed(tree[1], draw, level), printed(tree[2], draw, level + 1))
        )
    return f"({blank}{text}{blank})" if level < above or draw(st.integers(0, 4)) == 0 else text


@st.composite
def written(draw):
    binary = st.sampled_from("|&^")
    trees = st.recursive(
        st.sampled_from([*PINS, "0", "1"]),
        lambda inner: st.tuples(st.just("!"), inner) | st.tuples(binary, inner, inner),
        max_leaves=6,
    )
    tree = draw(trees)
    return tree, printed(tree, draw)


@draws(150)
@given(written())
@example((("^", ("&", "A", "B1"), "in"), "(A B1) ^ in"))
@example((("&", "A", ("^", "B1", "in")), "A & B1 ^ in"))
@example((("!", ("&", "A", "B1")), "(A * B1)'"))
@example((("|", ("!", "A"), ("!", "B1")), "!A + B1'"))
def test_functions_have_the_value_of_the_tree_that_they_were_written_from(case):
    tree, text = case
    function = functions.parse(text)
    rows = range(1 << len(function.inputs))
    points = [{name: row >> k & 1 for k, name in enumerate(function.inputs)} for row in rows]
    values = [evaluated(tree, dict.fromkeys(PINS.values(), 0) | point) for point in points]
    assert [function.value(**point) for point in points] == values
    assert [function.table(function.inputs) >> row & 1 for row in rows] == values
    ones = {"".join(map(str, point.values())) for point, value in zip(points, values, strict=True) if value}
    assert set(function.cubes) == ones
    inverting = {(0, 1): True, (1, 0): False}.get(tuple(values))
    assert function.literal == (None if inverting is None else (function.inputs[0], inverting))


@parametrize(
    "text",
    ["", "A +", "A &", "& A", "!", "(A", "A)", "1A", "A & & B", "'A", "A ? B", '"1"', "f('os')", "(" * 9999],
)
def test_what_is_no_function_is_refused(text):
    with refused("is no Boolean function"):
        functions.parse(text)


FLIP_FLOPS = """\
library (flops) {
  cell (SCAN) { area : 1;
    ff (IQ, IQN) { next_state : "(SE SI) + (SE' in)"; clocked_on : "CK'"; clear : "RN'"; }
    pin (in) { direction : input; } pin (SE) { direction : input; } pin (SI) { direction : input; }
    pin (CK) { direction : input; clock : true; } pin (RN) { direction : input; }
    pin (QN) { direction : output; function : "(IQ)'"; }
    pin (SO) { direction : output; function : "IQ SE"; } }
  cell (ENABLED) { area : 1;
    ff (IQ, IQN) { next_state : "(D E) + (IQN' E')"; clocked_on : "CK"; preset : "S"; }
    pin (D) { direction : input; } pin (E) { direction : input; } pin (S) { direction : input; }
    pin (CK) { direction : input; clock : true; } pin ("1Q") { direction : output; function : "IQ"; } }
}
"""


def test_scan_and_enable_flip_flops():
    """The next state is a function of pins and of the state, which gets a net of its own if no pin outputs
    it.
    """
    library = liberty.parse(FLIP_FLOPS)
    nets = {name: number for number, name in enumerate(("d", "se", "si", "ck", "rn", "qn", "so", "q"), 2)}
    scan = {"in": "d", "SE": "se", "SI": "si", "CK": "ck", "RN": "rn", "QN": "qn", "SO": "so"}
    enabled = {"D": "qn", "E": "se", "S": "rn", "CK": "ck", "1Q": "q"}
    cells = {
        name: {"type": kind, "connections": {pin: [nets[net]] for pin, net in pins.items()}}
        for name, kind, pins in (("s", "SCAN", scan), ("e", "ENABLED", enabled))
    }
    ports = {name: {"direction": "input", "bits": [nets[name]]} for name in ("d", "se", "si", "ck", "rn")}
    found = logic.read({"ports": ports, "cells": cells, "netnames": {}}, library)
    first, second = found.states
    assert (first.rising, first.clear, first.preset) == (False, (nets["rn"], False), None)
    assert (second.rising, second.clear, second.preset) == (True, None, (nets["rn"], True))
    words = found.simulate()
    d, se, si, qn, so, q = (words[nets[name]] for name in ("d", "se", "si", "qn", "so", "q"))
    assert words[first.data] == (si & se) | (d & ~se)
    assert words[second.data] == (qn & se) | (q & ~se)
    assert so == ~qn & se
    del cells["s"]["connections"]["SI"]
    with refused("s depends on SI, which is no connected pin"):
        logic.read({"ports": ports, "cells": cells, "netnames": {}}, library)
    assert "negedge CK or negedge RN" in cell_models.models(library, ["SCAN"])
    assert r"assign \1Q  = IQ;" in cell_models.models(library, ["ENABLED"])
