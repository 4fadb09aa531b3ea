"""Slices that overlap, by index: those that a comparison with all others finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modexlab.rtl import slices
from pymtl3 import Component, InPort, OutPort, Wire, update
from pymtl3.dsl.Connectable import Signal, _overlap
from pymtl3.dsl.errors import MultiWriterError

NBITS = 24


class Parts(Component):
    """A wire of which parts are connected."""

    def construct(s, places):
        s.in_ = InPort(NBITS)
        s.whole = Wire(NBITS)
        s.outs = [OutPort(stop - start) for start, stop in places]
        s.whole //= s.in_
        for out, (start, stop) in zip(s.outs, places, strict=True):
            out //= s.whole[start:stop]


places = st.lists(
    st.tuples(st.integers(0, NBITS - 1), st.integers(1, NBITS)).map(
        lambda pair: (min(pair[0], pair[1] - 1), max(pair[1], pair[0] + 1))
    ),
    min_size=1,
    max_size=12,
    unique=True,
)


@given(places)
def test_slices_that_overlap(places):
    component = Parts(places)
    component.elaborate()
    parts = [*component.whole._dsl.slices.values()]
    for part in parts:
        others = {item for item in parts if item is not part and _overlap(item._dsl.slice, part._dsl.slice)}
        found = part.get_sibling_slices()
        assert {*found} == others and len(found) == len(others)
    assert component.whole.get_sibling_slices() == []


def test_slices_that_are_made_later_are_found():
    component = Parts([(0, 4)])
    component.elaborate()
    (part,) = component.whole._dsl.slices.values()
    assert part.get_sibling_slices() == []
    assert part.get_sibling_slices() == [] != [component.whole[3:5]] == part.get_sibling_slices()


class TwoWriters(Component):
    def construct(s):
        s.a, s.b = InPort(8), InPort(8)
        s.out = OutPort(12)
        s.out[0:8] //= s.a

        @update
        def writes():
            s.out[4:12] @= s.b


def test_two_writers_of_overlapping_slices_are_refused():
    with pytest.raises(MultiWriterError, match=r"s\.out\[0:8\]"):
        TwoWriters().elaborate()


def test_another_source_of_pymtl3_is_refused(monkeypatch):
    slices.apply()  # nothing to do: already applied
    monkeypatch.setattr(Signal, "get_sibling_slices", lambda self: [])
    monkeypatch.setitem(slices.PINNED, slices.Connectable, "0" * 64)
    with pytest.raises(RuntimeError, match=r"Connectable\.py is not that of"):
        slices.apply()
