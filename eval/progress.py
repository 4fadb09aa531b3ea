"""Progress on stderr for work that takes longer than two seconds.

A terminal shows a bar. Any other output (a log) gets complete lines at longer intervals, because it cannot be
redrawn.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..flow.progress import Event, Report, Running
from ..flow.progress import duration as duration

DELAY = 2.0  # seconds
PAUSE_TERMINAL, PAUSE_LOG = 0.5, 10.0  # seconds between updates
PAUSE_QUIET = 60.0  # in a log next to output that a script reads


def after(progress: Callable[[int, int], None], done: int, total: int) -> Callable[[int], None]:
    """A callback for the next part of some work, which counts from 0 after `done` finished steps."""
    return lambda more: progress(done + more, total)


class Progress:
    """A progress bar that keeps moving during a step that reports nothing (a build), to show that the process
    is alive.

        with Progress("mont, 1024 bits", total=7, unit="vector") as progress:
            ...; progress(3, 7)
    """

    def __init__(self, label: str, total: int | None = None, unit: str = "step", quiet: bool = False) -> None:
        """quiet: a script reads our output, so a log gets one line a minute, and none for shorter work."""
        self._label, self._done, self._total, self._unit = label, 0, total, unit
        self._quiet, self._note = quiet, ""
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._stop = threading.Event()

    def __enter__(self) -> "Progress":
        self._start = time.monotonic()
        if self._terminal:
            from tqdm import tqdm

            self._bar = tqdm(
                total=self._total,
                desc=self._label,
                unit=self._unit,
                delay=DELAY,
                leave=False,
                file=sys.stderr,
                dynamic_ncols=True,
                bar_format=None if self._total else "{desc}: {elapsed}",
            )
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()
        return self

    def _tick(self) -> None:
        log_pause = PAUSE_QUIET if self._quiet else PAUSE_LOG
        pause = PAUSE_QUIET if self._quiet and not self._terminal else DELAY
        while not self._stop.wait(pause):
            if self._terminal:
                self._bar.refresh()
            else:
                print(self._line(), file=sys.stderr, flush=True)
            pause = PAUSE_TERMINAL if self._terminal else log_pause

    def _line(self) -> str:
        """The current state as a line of text."""
        seconds = f"{time.monotonic() - self._start:.0f} s"
        if not self._total:
            return f"{self._label}: {seconds}"
        note = f", {self._note}" if self._note else ""
        return f"{self._label}: {self._done} of {self._total} {self._unit}s, {seconds}{note}"

    def __call__(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        if self._terminal:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def describe(self, label: str) -> None:
        """Change the label of the bar."""
        self._label = label
        if self._terminal:
            self._bar.set_description_str(label, refresh=False)

    def note(self, text: str) -> None:
        """Show text after the count, in place of the bar's own estimate of the time left, which assumes equal
        steps.
        """
        self._note = text
        if self._terminal:
            self._bar.bar_format = (
                "{desc}: {percentage:3.0f}%|{bar:12}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"
            )
            self._bar.set_postfix_str(text, refresh=False)

    def say(self, line: str) -> None:
        """Print a line above the bar; in a log only if no script reads our output."""
        if self._terminal:
            self._bar.write(line, file=sys.stderr)
        elif not self._quiet:
            print(line, file=sys.stderr, flush=True)

    def put(self, text: str) -> None:
        """Print part of the result on stdout, above the bar."""
        if self._terminal:
            self._bar.write(text, file=sys.stdout)
        else:
            print(text)
        sys.stdout.flush()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._ticker.join()
        if self._terminal:
            if time.monotonic() - self._start >= DELAY:
                self._bar.clear()  # close() clears only what update() has drawn, not what refresh() has
            self._bar.close()


@contextmanager
def step_progress(label: str, quiet: bool) -> Iterator[Report]:
    """A callback for the events of the flow's steps; each that ran and ended gets a line on stderr."""
    running = Running()
    with Progress(label, quiet=quiet) as progress:

        def report(event: Event) -> None:
            message = event.message
            if running.take(event.step, event.state, message) and not quiet:
                said = f"  {'not done: ' if event.state == 'failed' else ''}{message}" if message else ""
                print(f"{event.step:<12} {event.seconds:6.1f} s{said}", file=sys.stderr, flush=True)
            progress.describe(str(running) or label)

        yield report
