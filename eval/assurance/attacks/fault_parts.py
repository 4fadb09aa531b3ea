"""Parts of a fault campaign in the cache: what each fault came to, and how long the part took.

A part is there as a whole or not at all, with a digest, under a name that follows from all that it comes
from.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ....rtl.sim import cache
from ....rtl.sim.campaigns.faults import Effect
from ....rtl.sim.ports import Value


class Came(NamedTuple):
    """Effect of a fault; without an answer `response` is None."""

    effect: Effect
    response: Value | None


class Kept(NamedTuple):
    """A part."""

    came: list[Came]
    seconds: float  # of the processor
    reused: bool  # it was there


def kept(made_of: Any, work: Callable[[], Iterable[Came]]) -> Kept:
    """The part that these make; `work` is done if it is not there."""

    made = []

    def build(directory: Path) -> Path:
        made.append(True)
        begun = time.process_time()
        rows = [[item.effect.name, item.response] for item in work()]
        file = directory / "part"
        file.write_text(json.dumps({"seconds": time.process_time() - begun, "came": rows}))
        return file

    entry = cache.cached(f"faults-{cache.key(json.dumps(made_of, default=str))}", build)
    told = json.loads(entry.read_bytes()[: -cache.DIGEST_SIZE])
    came = [Came(Effect[effect], _value(response)) for effect, response in told["came"]]
    return Kept(came, told["seconds"], not made)


def _value(response: Any) -> Value | None:
    """JSON makes lists of tuples."""
    return tuple(response) if isinstance(response, list) else response
