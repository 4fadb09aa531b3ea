"""Spares PyMTL3 the comparison of all pairs of slices of a signal.

When PyMTL3 3.1.17 looks for the writer of a net it compares each slice in it with all other slices of its
signal, and keeps those that overlap. For a signal whose bits are all connected, the time grows with the
square of its width. `Signal.get_sibling_slices` is replaced by one that returns only those that overlap,
from an index by their first bits; all its callers, which are pinned here, skip the others.

Importing `modexlab.rtl` applies it.
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

from pymtl3.dsl import ComponentLevel2, ComponentLevel3, Connectable
from pymtl3.dsl.Connectable import Signal
from pymtl3.passes.sim import GenDAGPass

from .pymtl3_release import check

# modules that change or that call the method, with the digests of their sources
PINNED = {
    Connectable: "be827333ad2d8acf2caeb03625ffe80224d5d23b2812cac0973d629bdec04142",
    ComponentLevel2: "c75146d0dc606dc73b774b9a5a60146c87822a4dca88943ce0f0e930ce5d295a",
    ComponentLevel3: "47bc42074179023ad14f6888fe5b40b5cd39fd6641b18fa68d5d67d305a18a41",
    GenDAGPass: "baec8304efb6a7814507169d24df2b3f7b67c46323e1d1651b612c9904332756",
}


@dataclass
class _Index:
    """The slices of a signal by their first bits."""

    slices: list[Any]
    starts: list[int]
    widest: int

    @classmethod
    def of(cls, slices: dict[tuple[int, int], Any]) -> "_Index":
        places = sorted(slices)
        widest = max((stop - start for start, stop in places), default=0)
        return cls([slices[place] for place in places], [start for start, _ in places], widest)

    def overlapping(self, bits: slice) -> list[Any]:
        first = bisect_left(self.starts, bits.start - self.widest + 1)
        last = bisect_left(self.starts, bits.stop)
        return [item for item in self.slices[first:last] if item._dsl.slice.stop > bits.start]


def get_sibling_slices(s: Any) -> list[Any]:
    """The other slices of the same signal that overlap this one; none for a signal that is no slice."""
    if not s._dsl.slice:
        return []
    parent = s.get_parent_object()._dsl
    index = getattr(parent, "slice_index", None)
    if index is None or len(index.slices) != len(parent.slices):
        index = parent.slice_index = _Index.of(parent.slices)
    return [item for item in index.overlapping(s._dsl.slice) if item is not s]


def apply() -> None:
    """Apply the change to the running PyMTL3; a second call changes nothing."""
    if Signal.get_sibling_slices is get_sibling_slices:
        return
    for module, digest in PINNED.items():
        check(module, digest)
    Signal.get_sibling_slices = get_sibling_slices


apply()
