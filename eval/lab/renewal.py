"""Renewal of reference results: stale points are measured again in a store, and written back to their file.

A run may be interrupted at any time: the next one takes the points that it finished from the store. The
digests of the hardware of modexlab's own results are recorded as well, so that it is not elaborated to find
out whether they are stale.
"""

import functools
import json
import math
import shlex
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from ...fl.errors import BadInput
from ...flow.files import replacing
from ..json_values import canonical
from ..progress import Progress
from .content import record_contents
from .executors import Executor
from .point import Point
from .runner import Runner
from .store import merge
from .store.entries import PointEntry
from .store.export import place_of, reference_texts
from .store.lines import Lines, sealed
from .store.merge import Difference
from .store.reference import REFERENCE, Reference
from .store.rows import Row, is_stale
from .store.store import Store
from .sweep import Failed, Measuring, Points, estimate_from


@dataclass
class Renewal:
    """Reference results, and a store in which their stale points are measured again."""

    reference: Reference
    store: Store
    points: list[Point] = field(default_factory=list)  # of all results whose hardware can be made
    stale: list[Point] = field(default_factory=list)  # the quickest first
    gone: list[str] = field(default_factory=list)  # commands of points that the catalogue no longer has
    failed: list[Failed] = field(default_factory=list)
    interrupted: bool = False

    # ---- which points

    def find(self, progress: Progress) -> None:
        """Compare all results with the present hardware; BadInput for a file with entries of another kind,
        such as a user's store, whose points have keys that those of reference results lack.
        """
        entries = self.reference.entries()
        for number, entry in enumerate(entries, 1):
            progress(number, len(entries))
            if not isinstance(entry, PointEntry) or entry.key:
                raise BadInput(
                    f"renew {self.reference.path}: line {number} is no reference result; give a file that "
                    "`modexlab store export --format reference` writes"
                )
            try:
                point = Point.from_json(json.loads(bytes(entry.point)))
                point.check()
            except BadInput:
                self.gone.append(shlex.join(entry.command))
                continue
            try:
                stale = is_stale(entry, point)
            except Exception:  # PyMTL3 may raise anything for hardware that cannot be translated
                self.stale.append(point)
                continue
            self.points.append(point)
            if stale:
                self.stale.append(point)
        self.stale.sort(key=lambda point: Measuring(point).cost.guess)

    def select(self, subjects: Collection[str], widths: Collection[int], stages: Collection[str]) -> None:
        """Keep the points of these subjects, widths and stages; an empty collection selects all."""
        self.stale = [
            point
            for point in self.stale
            if (not subjects or point.subject in subjects)
            and (not widths or point.nbits in widths)
            and (not stages or point.stage in stages)
        ]

    def sample(self, wanted: Iterable[Point]) -> None:
        """Keep the wanted points, and the quickest of each design, interface, stage and style."""
        kept = {point.key for point in wanted}
        seen = set()
        for point in self.stale:
            kind = point.subject, point.interface, point.stage, dict(point.flow).get("style")
            if kind not in seen:
                kept.add(point.key)
            seen.add(kind)
        self.stale = [point for point in self.stale if point.key in kept]

    def seconds(self) -> float:
        """The estimated CPU time of the points that are still to be measured."""
        estimate = estimate_from(self.store.rows())
        tasks = {task.key: task for task in map(Measuring, self.stale)}
        known = {outcome.task.key for outcome in Points(self.store).recall(tasks)}
        return math.fsum(estimate.seconds(task.cost) for key, task in tasks.items() if key not in known)

    # ---- the run

    def run(self, executor: Executor, *, retry: bool, quiet: bool) -> None:
        """Measure the stale points until all are done, or until Ctrl-C."""
        with executor, Progress("renew", len(self.stale), unit="point", quiet=quiet) as progress:
            runner = Runner(executor, progress, Points(self.store, retry), len(self.stale))
            try:
                for outcome in runner.run(map(Measuring, self.stale)):
                    if outcome.error:
                        point = outcome.task.point
                        self.failed.append(Failed(point, outcome.error, earlier=outcome.reused))
                        progress.say(f"{point}: failed: {outcome.error}")
            except KeyboardInterrupt:
                self.interrupted = True

    def differences(self, tolerance: float) -> list[Difference]:
        """The renewed figures that differ from the reference results by more than this share of them; asked
        before `write`.
        """
        found = merge.compare(self.reference, self.store, tolerance).differences
        return [item for item in found if self._renews(item.row)]

    def _renews(self, row: Row) -> bool:
        """Whether a row of the store takes the place of a stale result."""
        return canonical(row.point) in self._wanted and not row.stale

    @functools.cached_property
    def _wanted(self) -> set[str]:
        """The points that were selected, as text; read after the selection."""
        return {canonical(point.as_json()) for point in self.stale}

    def write(self) -> int:
        """Replace the lines of the renewed points, and return how many have figures; BadInput if a line was
        damaged meanwhile.
        """
        lines = Lines(self.reference.path)
        texts = {place_of(json.loads(line.text)["point"]): line.text for line in lines.news()}
        for number in lines.damaged:
            raise BadInput(
                f"{self.reference.path}, line {number}: not as it was written; restore the file, and run the "
                "same command again"
            )
        rows = list(filter(self._renews, self.store.rows()))
        failures = self.store.failed([item.point.version for item in self.failed])
        texts |= reference_texts(rows, failures, self.reference.path, self.store)
        with replacing(self.reference.path.resolve()) as part:
            part.write_bytes(b"".join(sealed(text) for _, text in sorted(texts.items())))
        return len({row.measurement for row in rows})

    def record_contents(self) -> None:
        """Record the digests of the hardware of modexlab's own results and verdicts."""
        if self.reference.path.resolve() != REFERENCE.resolve():
            return
        points = list(self.points)
        for verdict in self.reference.verdicts():
            with suppress(BadInput):  # its design or a parameter no longer exists
                points.append(verdict.point)
        record_contents(points)
