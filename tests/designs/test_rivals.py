"""Accelerators of one function: one front without a file of a space, and what makes them comparable."""

import json
import shutil
from collections import Counter

import pytest
from modexlab.eval.designs import own
from modexlab.eval.designs.soc_system import System, Xcel
from modexlab.eval.lab.space import Space
from modexlab.proc.software.compiler import compile_program
from modexlab.proc.software.elf import load_elf

from tests.paths import ROOT

VVADD = ROOT / "eval" / "examples" / "vvadd"
WITH_PARAM = (
    ("import Accelerator, MemoryPort,", "import Accelerator, MemoryPort, Param,"),
    (
        '    function = "vvadd"\n',
        '    function = "vvadd"\n    params = (Param("unused", 1, (1, 2), "nothing"),)\n',
    ),
)


def rival(folder, *changes):
    """A copy of the vector add as one of several accelerators of one function, with these replacements."""
    shutil.copytree(VVADD, folder)
    file = folder / "accelerator.py"
    text = file.read_text()
    named = ('    name = "vvadd"\n', f'    name = "{folder.name}"\n    function = "vvadd"\n')
    for old, new in (named, *changes):
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    return folder


SPACE = """
title = "vector adds"
objectives = {cycles = "min"}
[[part]]
designs = {names}
nbits = [32]
stages = ["cl", "native"]
"""


@pytest.fixture
def sweep(tmp_path):
    """The command that sweeps accelerators at the cycle level and native."""

    def command(*folders):
        text = SPACE.replace("{names}", json.dumps([folder.name for folder in folders]))
        (tmp_path / "space.toml").write_text(text)
        named = " ".join(f"--accelerator {folder}" for folder in folders)
        return f"sweep {tmp_path / 'space.toml'} {named} --store {tmp_path / 'store.jsonl'}"

    return command


def test_a_space_without_a_file(tmp_path):
    """All parameters, native and in the flow."""
    made = [rival(tmp_path / name, *WITH_PARAM) for name in ("one", "two")]
    designs = [own.by_reference(str(folder)) for folder in made]
    points = list(Space.of(designs).points())
    assert Counter((point.stage, point.design.name) for point in points) == {
        (stage, name): 2 for stage in ("native", "flow") for name in ("one", "two")
    }
    assert {point.operation for point in points if point.stage == "native"} == {"vvadd hundred"}


def test_one_front(cli, sweep, tmp_path):
    report = cli.json(sweep(rival(tmp_path / "one"), rival(tmp_path / "two")))
    assert report["points"]["measured"] == 4
    for front in report["fronts"]:
        assert front["operation"] == "vvadd hundred" and len(front["points"]) == 2
        names = [point["subject"].partition("@")[0] for point in front["points"]]
        assert sorted(names) == ["one", "two"]
        assert {point["values"]["cycles"] for point in front["points"]} == {601}
    assert {front["stage"] for front in report["fronts"]} == {"cl", "native"}


def test_one_program_for_all_of_a_function(tmp_path):
    """It includes the header with the name of the function."""
    design = own.by_reference(str(rival(tmp_path / "fast-one")))
    headers = Xcel(design).header()
    assert {*headers} == {"fast_one.h", "vvadd.h"}
    image = load_elf(compile_program([VVADD / "vvadd.c"], headers=headers))
    with System(Xcel(design), level="fl") as system:
        assert system.run(image).exit_code == 0


def test_without_a_function_each_has_its_own(cli, sweep, tmp_path):
    folders = [rival(tmp_path / name, ('    function = "vvadd"\n', "")) for name in ("one", "two")]
    report = cli.json(sweep(*folders))
    assert {front["operation"] for front in report["fronts"]} == {"one hundred", "two hundred"}


@pytest.mark.parametrize(
    "change, what",
    [
        (("TOTAL, 100)", "TOTAL, 99)"), "workloads"),
        (("x, y = range(100)", "x, y = range(1, 101)"), "workloads"),
        (('(("count", 16),)', '(("number", 16),)'), "fields"),
    ],
)
def test_refused(cli, sweep, tmp_path, change, what):
    error = cli.fails(sweep(rival(tmp_path / "one"), rival(tmp_path / "two", change)))
    assert f"one and two have the same function 'vvadd', but different {what} at 32 bits" in error
