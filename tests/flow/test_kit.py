"""The kit as data: the code names no cell or layer, and the flow runs with another cell library."""

import json
import re
from pathlib import Path

import pytest
from modexlab.flow.kit import kit

from tests.flow.kits import FEWER, cell_name, second_kit
from tests.harness import parametrize, refused, regress

FLOW = Path(kit.__file__).parents[1]
RENAMED_ALONE = [
    "area_um2",
    "cells",
    "flops",
    "clock_gates",
    "wns_ns",
    "fmax_mhz",
    "power_mw",
    "area_by_module",
    "energy_nj",
]


def test_no_source_of_the_flow_names_a_cell_or_layer():
    files = kit.find()
    lef = files.geometry
    names = {*files.library.cells, *lef.vias, lef.site, files.library.name}
    names |= {layer.name for layer in (*lef.routing, *lef.cuts)}
    names |= {lef.kit.supply.power, lef.kit.supply.ground}
    found = [
        f"{path.relative_to(FLOW)}: {word}"
        for path in sorted(FLOW.rglob("*"))
        if path.suffix in (".py", ".cpp", ".v", ".ys", ".abc", ".yml")
        for word in re.findall(r"\w+", path.read_text())
        if word in names
    ]
    assert not found


# the text to replace: its replacements, with the message
REFUSED = {
    'inverter = "INV_X1"': {
        'inverter = "INV_X9"': r"cells\.inverter: unknown cell 'INV_X9'.*INV_X1",
        'inverter = ""': r"cells\.inverter: unknown cell ''",
        'inverters = "INV_X1"': r"unknown key of \[cells\] 'inverters'.*'inverter'",
    },
    'inverter = "INV_X1"\n': {"": r"cells: inverter is missing"},
    "delay_ns = 0.035": {
        'delay_ns = "a lot"': r"cells\.delay_ns: give a number, not text",
        "delay_ns = -1.0": r"cells\.delay_ns: .*> 0",
        "delay_ns = inf": r"cells\.delay_ns: .*<= 1000000000",
    },
    "(.+)_X": {
        "(.+_X": r"cells\.strength is no regular expression",
        ".+_X": r"cells\.strength = .* has 0 groups",
    },
    'carry = "CO"': {'carry = "COUT"': r"cells\.full_adder: unknown pin 'COUT'"},
    'horizontal = "metal3"': {
        'horizontal = "metal33"': r"layers\.horizontal: unknown layer 'metal33'.*'metal3'"
    },
    'via = "via2_5"': {'via = "via2_55"': r"routing: unknown via 'via2_55'"},
    ", pitch_um = 28": {"": r"the straps on metal4 have no place; give pitch_um"},
    "dielectric = 2.5\n": {"": r"layers\.dielectric is missing; give it, or layers\.wires"},
    "metal10 = 29\n": {"": r"layers\.gds has no number for metal10"},
    "outline = true": {"outline = false": r"one \[\[picture\]\] has to have outline = true"},
    "[cells]": {"[cells": r"this is no TOML"},
    'lib = "stdcells.lib"': {'lib = "cells.lib"': r"lacks .*cells\.lib"},
}


@parametrize(
    "old, new, message", [(old, *row) for old, changes in REFUSED.items() for row in changes.items()]
)
def test_a_file_that_does_not_fit_is_refused_with_its_key(tmp_path, old, new, message):
    text = kit.DEFAULT.read_text()
    assert old in text
    (tmp_path / "kit.toml").write_text(text.replace(old, new, 1))
    with refused(rf"(kit\.toml[:,]|the design kit) {message}") as refusal:
        found = kit.find(tmp_path / "kit.toml")
        assert found.library and found.geometry
    assert "\n" not in str(refusal.value)


def test_names_of_kits():
    assert kit.named("nangate45") is None
    with refused(r"there is no kit sky130: give asap7, ihp-sg13g2, nangate45, sky130hd, or a kit\.toml"):
        kit.named("sky130")


def test_a_directory_has_its_own_kit_or_is_like_the_first(tmp_path):
    own = second_kit(tmp_path / "second")
    assert kit.find(own.parent).library.roles.inverter == cell_name("INV_X1")
    assert kit.find(own.parent).digest == kit.find(own).digest != kit.find().digest
    same = kit.find(kit.find().lib.parent)
    assert same.source == kit.DEFAULT and same.digest == kit.find().digest


def test_a_library_without_its_kit_has_no_roles():
    from modexlab.flow.kit import lef, liberty

    files = kit.find()
    with refused("was read without its kit"):
        _ = liberty.load(files.lib).roles
    with refused("was read without its kit"):
        _ = lef.read_lef(files.tech_lef, files.lef).kit


# ---- the flow with another library


def summary(cli, *options):
    """The output of `modexlab asic --json` for mont at 8 bits."""
    return cli.passes("asic mont --nbits 8 --style optimised --json", *options).json()


def kinds(report):
    return json.loads((Path(report["products"]["sizing"]) / "area.json").read_text())["kinds"]


@regress  # the next test also renames cells
def test_other_names_make_the_same_chip(tmp_path, cli):
    first = summary(cli)
    second = summary(cli, "--kit", second_kit(tmp_path / "second"))
    assert {key: first[key] for key in RENAMED_ALONE} == {key: second[key] for key in RENAMED_ALONE}
    assert second["equivalence"] == first["equivalence"] and second["tests"] == first["tests"]
    assert kinds(second) == {cell_name(kind): count for kind, count in kinds(first).items()}
    assert first["products"]["synthesis"] != second["products"]["synthesis"]


@regress
def test_fewer_cells_make_another_chip_that_is_right(tmp_path, cli):
    first, fewer = summary(cli), summary(cli, "--kit", second_kit(tmp_path / "fewer", FEWER))
    assert fewer["equivalence"]["equivalent"]
    assert fewer["tests_failed"] == 0
    assert fewer["tests_passed"] == first["tests_passed"]
    assert not kinds(fewer).keys() & {cell_name(kind) for kind in FEWER}
    # without full-adder cells and the cell for sums of three products: 2,269 um^2, compared with 2,187
    assert 1.0 < fewer["area_um2"] / first["area_um2"] < 1.15
    # abc may remove a redundant register in one mapping and not in the other; both are proved
    assert 0 <= fewer["flops"] - first["flops"] <= 1
    assert fewer["power_mw"] == pytest.approx(first["power_mw"], rel=0.2)
    mapped = summary(cli, "--kit", tmp_path / "fewer", "--flow", "adders=full-adders")
    assert mapped["equivalence"]["equivalent"] and mapped["tests_failed"] == 0


@regress
def test_other_names_make_the_same_layout(tmp_path, cli):
    first = summary(cli, "--layout")
    second = summary(cli, "--layout", "--kit", second_kit(tmp_path / "second"))
    keys = (*RENAMED_ALONE, "hold_wns_ns", "energy_with_glitches_nj")
    assert {key: first.get(key) for key in keys} == {key: second.get(key) for key in keys}
    fewer = summary(cli, "--layout", "--kit", second_kit(tmp_path / "fewer", FEWER))
    assert fewer["tests_failed"] == 0 and fewer["hold_wns_ns"] > 0
    assert (Path(fewer["products"]["layout"]) / "layout.gds").is_file()
