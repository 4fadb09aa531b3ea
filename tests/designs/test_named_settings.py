"""Named settings: a machine has one name, whether its settings are given by name or one by one."""

import itertools
import json

from modexlab.eval.designs.catalogue import DESIGNS, designs, find
from modexlab.eval.designs.system_catalogue import find_system
from modexlab.eval.lab.point import Point

from tests.harness import NAME, parametrize, refused
from tests.paths import ROOT

NAMED = [design for design in designs() if design.entry is not None]
EACH = parametrize("design", NAMED, ids=NAME)


def spelled(design):
    """The settings that a name stands for."""
    return {param: values[0] for param, values in design.entry.named[design.name][1].items()}


@EACH
def test_one_machine(design):
    """The entry with these settings makes the same machine, of the same name."""
    machine = design.at(8)
    assert design.entry.at(8, **spelled(design)) is machine
    assert (machine.name, machine.design, machine.changed) == (design.name, design, [])
    assert find(design.name) is design and design.at(8, **machine.parameters) is machine


@EACH
def test_one_point(design):
    """Results are recorded and looked up by the name."""
    settings = spelled(design)
    for fields in ({}, {"stage": "formula"}, {"stage": "flow", "interface": "unit"}, {"interface": "system"}):
        named, given = (
            Point(name, 32, chosen, **fields)
            for name, chosen in ((design.name, {}), (design.entry.name, settings))
        )
        assert named == given and named.design is given.design is design, fields
        assert Point.from_json(given.as_json()) == given and given.command == named.command
        assert given.label.removeprefix("procxcel-") == design.name
    system = find_system(f"procbus-{design.entry.name}", settings)
    assert (system.name, system.design) == (f"procbus-{design.name}", design)


@parametrize("entry", [design for design in DESIGNS if design.named], ids=NAME)
def test_names_exclude_one_another(entry):
    """No two names cover the same settings, and none covers the defaults of its design."""
    covered = [values for _, values in entry.named.values()]
    legal = {param.name: param.legal for param in entry.params}
    told_apart = dict.fromkeys(name for values in covered for name in values)
    for values in itertools.product(*(legal[name] for name in told_apart)):
        chosen = dict(zip(told_apart, values, strict=True))
        assert sum(all(chosen[name] in item[name] for name in item) for item in covered) <= 1, chosen
    assert entry.at(8).design is entry


def test_further_settings_keep_the_name():
    for name, settings in (
        ("mont-ct", {"schedule": "always", "conversion": "double", "add_red": "koc"}),
        ("cm-m-000-one", {"schedule": "left-to-right", "adder": "sklansky"}),
        ("cm-pm-000", {"schedule": "ladder"}),
        ("tiny-ct", {"digit_nbits": 2}),
    ):
        assert find(name).at(8, **settings).name == name
        assert Point(name, 8, settings).subject == name
    assert find("mont").at(8, schedule="ladder").name == "mont"  # it scans the length of the exponent
    assert find("mont").at(8, schedule="always", scan="full").changed == [
        "schedule=always",
        "conversion=double",
    ]
    with refused("scan = length is not possible; give full"):
        find("mont-ct").at(8, scan="length")
    with refused("scan = full with schedule = right-to-left-2"):
        find("mont").at(8, scan="full")


def test_commands_print_the_name(cli):
    settings = "--set domain=pseudo --set schedule=always"
    by_entry = cli.json(f"run cm-m-000 --level formula --nbits 8 {settings} --exp 5")
    assert by_entry == cli.json("run cm-pm-000-one --level formula --nbits 8 --set schedule=always --exp 5")
    assert by_entry["design"] == "cm-pm-000-one"
    text = cli("verilog tiny --nbits 8 --set schedule=always").out
    assert text == cli("verilog tiny-ct --nbits 8").out and "module tiny_ct_8" in text
    assert "= mont schedule=ladder scan=full conversion=square" in cli("show mont-ct").out


def test_reference_results_have_the_names():
    """Each recorded point is read as the point that was recorded."""
    for line in (ROOT / "eval" / "results" / "reference.jsonl").read_text().splitlines():
        recorded = json.loads(line)["point"]
        point = Point.from_json(recorded)
        assert (point.subject, dict(point.settings)) == (recorded["subject"], recorded["settings"])
