"""CRT or blinding includes the result check unless verify=false is given by name, in every command."""

import json
import shlex

from modexlab.eval.designs.catalogue import designs, find
from modexlab.eval.designs.interfaces import AXI4LITE
from modexlab.eval.designs.verilog.machine import verilog
from modexlab.eval.exchange.package.package import Package
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.space import Space
from modexlab.fl.param import spelled_out
from modexlab.proc.software.seeded_keys import seeded_key

from tests.harness import later, parametrize, regress
from tests.paths import ROOT

NBITS = 16
PROTECTED = [{"crt": True}, {"blind": "message"}, {"blind": "exponent"}, {"crt": True, "blind": "both"}]
WARNING = "no result check"
WITHOUT = " --set verify=false"


def numbers(key):
    """A private key as JSON."""
    return {name: getattr(key, name) for name in ("n", "e", "d", "p", "q")}


@parametrize("settings", PROTECTED, ids=str)
def test_the_check_is_part_of_crt_and_blinding(settings):
    """Every design that executes programs follows the rule."""
    programmed = [design for design in designs() if design.programmed]
    assert {design.name for design in programmed} == {"mont-keyed", "heap"}
    for design in programmed:
        chosen = {"schedule": "fixed-window", **settings}
        default, checked = design.at(NBITS, **chosen), design.at(NBITS, **chosen, verify=True)
        assert default is checked and default.promises.checked and default.traits.checked
        assert not default.promises.caveat
        bare = design.at(NBITS, **chosen, verify=False)
        assert not bare.promises.checked and WARNING in bare.promises.caveat
        assert ("gives a factor of the modulus" in bare.promises.caveat) == ("crt" in settings)
        assert not design.at(NBITS).promises.checked and not design.at(NBITS).promises.caveat


def test_a_selection_spells_out_the_check():
    """A command or a point that selects hardware with CRT states whether there is a check."""
    heap = find("heap")
    for settings in ({}, {"verify": True}, {"crt": True}, {"crt": True, "verify": False}):
        machine = heap.at(NBITS, **settings)
        found = spelled_out(heap.params, NBITS, settings)
        assert heap.at(NBITS, **found) is machine
        assert ("verify" in found) == bool(settings)
        assert machine.changed == [f"{name}={value}" for name, value in found.items()]
    assert Point("heap", NBITS, {"crt": True}) == Point("heap", NBITS, {"crt": True, "verify": True})
    assert Point("heap", NBITS, {"crt": True}).settings == (("crt", True), ("verify", True))
    names = {
        Package(heap.at(NBITS, crt=True, **how), AXI4LITE).name
        for how in ({}, {"verify": True}, {"verify": False})
    }
    assert len(names) == 2


def test_old_points_mean_the_hardware_that_was_measured():
    """A stored point with CRT or blinding and without verify is of hardware without the check."""
    old = {**Point("heap", 64, stage="flow").as_json(), "settings": {"crt": True}}
    point = Point.from_json(old)
    assert point == Point("heap", 64, {"crt": True, "verify": False}, stage="flow")
    assert "--set verify=false" in shlex.join(point.command) and point.unchecked
    assert Point.from_json(point.as_json()) == point
    assert not Point("heap", 64, {"crt": True}).unchecked and not Point("heap", 64).unchecked
    lines = [json.loads(line) for line in (ROOT / "eval/results/reference.jsonl").read_text().splitlines()]
    keyed = [line for line in lines if {"crt", "blind"} & line["point"]["settings"].keys()]
    assert len(keyed) >= 7
    for line in keyed:
        assert Point.from_json(line["point"]).resolved == line["parameters"], line["command"]


@parametrize("how", ["--set crt=true --set blind=both", "--crt --blind"])
@parametrize("more, checked", [("", True), (WITHOUT, False)])
def test_commands_agree(cli, tmp_path, how, more, checked):
    """The same words select the same hardware, and a warning states that it has no check."""
    how, settings = how + more, {"crt": True, "blind": "both", "verify": checked}
    machine = find("heap").at(NBITS, **settings)
    (key := tmp_path / "key.json").write_text(json.dumps(numbers(seeded_key(NBITS))))

    def passes(command):
        found = cli.passes(*shlex.split(command))
        assert (WARNING in found.err) == (not checked), command
        return found

    ran = passes(f"run heap --nbits {NBITS} --key {key} --decrypt 5 --level fl {how}")
    assert ("result checked" in ran.out) == checked
    passes(f"verilog heap --nbits {NBITS} {how} -o {tmp_path}/heap.sv")
    assert (tmp_path / "heap.sv").read_text() == verilog(machine)
    passes(f"asic heap --nbits {NBITS} {how} --export {tmp_path}/asic")
    described = json.loads((tmp_path / "asic" / "design.json").read_text())
    assert described["parameters"]["verify"] is checked


@parametrize("more, checked", [("", True), *later((WITHOUT, False))])
def test_a_package_states_its_protections(cli, tmp_path, more, checked):
    """In the section on security of its data sheet."""
    command = f"verilog heap --package --nbits 16 --crt --blind{more} -o {tmp_path}/ip"
    assert (WARNING in cli.passes(*shlex.split(command)).err) == (not checked)
    machine = find("heap").at(16, crt=True, blind="both", verify=checked)
    name = Package(machine, AXI4LITE).name
    assert (tmp_path / "ip" / "rtl" / f"{name}.sv").is_file()
    sheet = (tmp_path / "ip" / "doc" / "datasheet.md").read_text()
    security = sheet.partition("## Security")[2].partition("\n## ")[0]
    words = "CRT, message and exponent blinded" + ", result checked" * checked
    assert f"Protections in this hardware: {words}.\n" in security
    assert ("No result check" in security) == (not checked)
    assert ("A result leaves only if the public exponent gives the message again" in security) == checked


@parametrize("more, checked", [("", True), ("verify = [false]\n", False)])
def test_a_sweep_and_a_system(cli, tmp_path, more, checked):
    space = tmp_path / "space.toml"
    space.write_text(
        'title = "keyed"\n[objectives]\ncycles = "min"\n[[part]]\ndesigns = ["heap"]\nnbits = [32]\n'
        f'workloads = ["decrypt"]\nstages = ["formula"]\n[part.set]\ncrt = [true]\n{more}'
    )
    (point,) = Space.load(str(space)).points()
    assert point.machine.promises.checked == checked and point.unchecked != checked
    out = cli.passes("sweep", str(space), "--store", f"{tmp_path}/store.jsonl", "--jobs", "1").out
    assert ("1 of them have CRT or blinding and no result check" in out) == (not checked)
    interface = Point("procxcel-heap", 32, dict(point.settings), workload="decrypt")
    assert interface.machine is point.machine


@regress
def test_a_processor_without_the_check_warns(cli):
    systems = "proc systems procxcel-heap --operation decrypt --set crt=true"
    assert WARNING not in cli.passes(*systems.split()).err
    assert WARNING in cli.passes(*f"{systems}{WITHOUT}".split()).err


def test_options_of_a_private_operation_are_refused_without_a_program(cli):
    for command in (
        "verilog mont-001 --crt",
        "asic mont-001 --blind --to rtl",
        "verilog --package tiny --verify -o x",
    ):
        assert "no program, which --crt, --blind or --verify needs" in cli.fails(command)
    for command in ("verilog pkcs1-pad --blind", "asic proc-naive --verify --to rtl"):
        assert "drop it" in cli.fails(command)
    assert "name one with --xcel DESIGN" in cli.fails("verilog proc --crt")
