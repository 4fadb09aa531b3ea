"""Progress on stderr for anything that takes longer than two seconds, and nothing for what does not."""

from __future__ import annotations

import sys
import threading

DELAY = 2.0  # seconds


class Progress:
    """A bar that also moves while nothing reports to it (a build), so that a user sees life.

    with Progress("mont, 1024 bits", total=7, unit="vector") as progress:
        ...; progress(3, 7)
    """

    def __init__(self, label: str, total: int | None = None, unit: str = "step", quiet: bool = False) -> None:
        """quiet: a script reads our output, so show the bar to a terminal only."""
        self._label, self._total, self._unit = label, total, unit
        self._terminal = sys.stderr.isatty()
        self._enabled = self._terminal or not quiet
        self._stop = threading.Event()

    def __enter__(self) -> Progress:
        if self._enabled:
            from tqdm import tqdm

            self._bar = tqdm(
                total=self._total,
                desc=self._label,
                unit=self._unit,
                delay=DELAY,
                leave=False,
                file=sys.stderr,
                mininterval=0.1 if self._terminal else 10.0,  # a log needs no animation
                dynamic_ncols=self._terminal,
                bar_format=None if self._total else "{desc}: {elapsed}",
            )
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        return self

    def _tick(self) -> None:
        pause = DELAY
        while not self._stop.wait(pause):
            self._bar.refresh()
            pause = 0.5 if self._terminal else 10.0

    def __call__(self, done: int, total: int) -> None:
        if self._enabled:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def describe(self, label: str) -> None:
        """Change the words in front of the bar."""
        if self._enabled:
            self._bar.set_description_str(label, refresh=False)

    def __exit__(self, *_: object) -> None:
        if self._enabled:
            self._stop.set()
            self._ticker.join()
            self._bar.close()
