"""Runs one step of the flow: the program that every steps/NAME/configure.yml starts.

In the directory of an mflowgen step it reads inputs/ and the parameters, which mflowgen exports to the
environment, and writes outputs/. `modexlab asic` calls it with `--job`, and passes inputs and parameters as
JSON on stdin.

In both cases the outputs are an entry of the cache (rtl/sim/cache.py) under the digest of the inputs, the
parameters, the version of the tool, and the sources of the step's adapter, steps/NAME/step.py, with
everything that it imports. A cached step does not run again, and an interrupted step leaves no entry.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from ...rtl.sim import cache, sources
from ...rtl.sim.toolchain import ToolError
from ...rtl.sim.verilog_digests import Digests
from .. import product, progress, source
from ..files import scratch
from ..kit import kit
from ..product import StepRun
from . import graph
from .job import ADK, Job

LOGS = "logs"
ALONE_SECONDS = 0.5  # between checks that the parent process still runs


# ---- the cache


def digest(path: Path) -> str:
    """The digest of a file, or of a directory with all its files; of a design's Verilog without comments and
    layout.
    """
    if path.name == source.DESIGN:
        return Digests.of(path.read_text(encoding="utf-8")).hardware
    if path.is_dir():
        files = sorted(item for item in path.rglob("*") if item.is_file())
        return cache.key(*(f"{file.relative_to(path)} {cache.file_digest(file)}" for file in files))
    return cache.file_digest(path)


def entry_name(name: str, digests: Mapping[str, str], parameters: Mapping[str, Any]) -> str:
    """The name of a step's entry in the cache; BadInput if the tool of the step is missing."""
    parts = json.dumps([dict(parameters), dict(digests), graph.tool(name)], sort_keys=True)
    declared = cache.file_digest(graph.STEPS / name / graph.DECLARATION)
    return cache.tree_name(name, cache.key(name, parts, declared, sources.digest(graph.adapter_module(name))))


def execute(name: str, inputs: Mapping[str, Path], parameters: Mapping[str, Any]) -> Path:
    """The directory with the outputs of a step, which runs unless it is cached."""
    declared = graph.declaration(name)
    digests = {file: kit.find(path).digest if file == ADK else digest(path) for file, path in inputs.items()}
    entry = entry_name(name, digests, parameters)

    def build(directory: Path) -> None:
        elapsed = progress.stopwatch()
        with scratch(directory.parent) as out:
            try:
                given = {declared.own_name(file): path for file, path in inputs.items()}
                graph.adapter(name).run(Job(given, parameters, out))
            except (BadInput, ToolError) as error:
                message = str(error)
                for file, path in inputs.items():
                    message = message.replace(str(path), file)
                raise type(error)(_with_logs(message, out, entry)) from None
            StepRun.of(name, graph.tool(name), elapsed()).write(out, declared.run_file)
            for file in declared.outputs:
                made = out / declared.own_name(file)
                if not made.exists():
                    raise ToolError(f"the step {name} made no {made.name}")
                shutil.move(made, directory / file)

    return cache.cached_tree(entry, build)


def _with_logs(message: str, out: Path, entry: str) -> str:
    """A message with the paths of logs, which are copied to a permanent place."""
    if str(out) not in message:
        return message
    kept = cache.root() / LOGS / entry
    for log in out.rglob("*.log"):
        target = kept / log.relative_to(out)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, target)
    return message.replace(str(out), str(kept))


# ---- the command


def _in_directory(name: str) -> None:
    """Run as a step of mflowgen: from inputs/ and the environment to outputs/."""
    declared = graph.declaration(name)
    inputs = {file: Path("inputs") / file for file in declared.inputs}
    there = {file: path for file, path in inputs.items() if path.exists()}
    lost = [file for file in inputs if file not in there]
    if lost and name != graph.LENIENT:
        raise BadInput(f"inputs/{lost[0]} is not there: run the step {graph.MAKERS.get(lost[0], ADK)} first")
    given = {key: os.environ[key] for key in declared.parameters if key in os.environ}
    entry = execute(name, there, graph.checked(given, declared.parameters))
    Path("outputs").mkdir(exist_ok=True)
    for file in declared.outputs:
        _copy(entry / file, Path("outputs") / file)
    run = product.read(entry / declared.run_file, StepRun)
    print(
        f"{name}: {run.tool} {run.version}, {run.seconds} s, {run.peak_memory_mib} MiB (cache: {entry.name})"
    )


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a directory atomically."""
    part = target.with_name(f".{target.name}.part")
    for path in (part, target):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
    (shutil.copytree if source.is_dir() else shutil.copyfile)(source, part)
    part.replace(target)


def _end_with(parent: int) -> None:
    """Terminate this step and its child processes when the parent process is gone."""
    while os.getppid() == parent:
        time.sleep(ALONE_SECONDS)
    os.killpg(0, signal.SIGTERM)


def main(argv: list[str] | None = None) -> int:
    """Run a step; return the exit code."""
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
    )  # so that temporary directories are removed
    try:
        if args.name == source.STEP:
            raise BadInput(f"the step {source.STEP} is `modexlab asic DESIGN --export outputs`; call that")
        if args.job:
            threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
            progress.listen()
            job = json.load(sys.stdin)
            inputs = {file: Path(path) for file, path in job["inputs"].items()}
            print(execute(args.name, inputs, job["parameters"]))
        else:
            _in_directory(args.name)
    except (BadInput, ToolError) as error:
        print(f"modexlab: error: {' '.join(filter(None, str(error).splitlines()))}", file=sys.stderr)
        return 2 if isinstance(error, BadInput) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
