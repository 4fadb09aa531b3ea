"""The figure of the datapath: it is what the script draws, it shows the hardware as it is, and it can be read."""

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from modexlab.proc.core import draw_datapath
from modexlab.proc.core.draw_datapath import LABEL_SIZE, LABELS, NAME_SIZE, PARTS, WIRES, Part, Wire
from modexlab.proc.core.proc import Proc
from pymtl3 import OutPort
from pymtl3 import Wire as Signal

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom

CHAR_WIDTH = 0.58  # of a wide font, in parts of its size
BLOCKS = ("register", "mux", "adder")  # parts that are update blocks
OUTPUTS = {(pin.x, pin.y): pin.signal for part in PARTS for pin in part.outputs}
INPUTS = {(pin.x, pin.y): pin.signal for part in PARTS for pin in part.inputs}


def test_committed_figure() -> None:
    assert draw_datapath.FIGURE.read_text() == draw_datapath.draw(), (
        "python -m modexlab.proc.core.draw_datapath"
    )


# ---- the hardware


def name_of(thing: object) -> str:
    """A signal or component of Proc as the figure calls it; where bits are picked, the whole of them."""
    return re.sub(r"\[\d+:\d+\]", "", repr(thing).removeprefix("s").removeprefix("."))


class Hardware:
    """Which signal goes where in a processor."""

    def __init__(self) -> None:
        self.top = Proc()
        self.top.elaborate()
        reads, writes, _ = self.top.get_all_upblk_metadata()
        self.blocks = {}
        for block in self.top.get_all_update_blocks():
            place = name_of(self.top.get_update_block_host_component(block))
            self.blocks[f"{place}.{block.__name__}".removeprefix(".")] = (
                {name_of(each) for each in reads.get(block, ())},
                {name_of(each) for each in writes.get(block, ())},
            )
        # all of a net have its value, but for those of which it is some bits only
        self.same: dict[str, set[str]] = {}
        for writer, net in self.top.get_all_value_nets():
            names = {name_of(each) for each in net}
            for source in {name_of(each) for each in net if ":" not in repr(each)} | {name_of(writer)}:
                self.same.setdefault(source, set()).update(names)

    def after(self, source: str, through: tuple[str, ...] = ()) -> set[str]:
        """All that wires lead to from a signal or parts of it; a field of a message stays that field."""
        found, ahead = set(), [source]
        while ahead:
            signal = ahead.pop()
            if signal in found:
                continue
            found.add(signal)
            for reads, writes in map(self.blocks.__getitem__, through):
                ahead += writes if signal in reads else ()
            for end in (*(match.start() for match in re.finditer(r"[.[]", signal)), len(signal)):
                ahead += [each + signal[end:] for each in self.same.get(signal[:end], ())]
            ahead += [each for each in self.same if each.startswith(f"{signal}.")]
        return found


def is_part(a: str, b: str) -> bool:
    """Whether one of the signals is a field of the other, or it."""
    return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.")


@functools.cache
def hardware() -> Hardware:
    return Hardware()


@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.made_of}-{part.y:g}")
def test_part_is_in_the_hardware(part: Part) -> None:
    if part.kind in BLOCKS:
        reads, writes = hardware().blocks[part.made_of]
        for pin in part.inputs:
            # a mux and the register after it are one block
            assert not pin.signal or any(is_part(pin.signal, each) for each in reads | writes), pin
        for pin in part.outputs:
            assert pin.signal in writes, pin
        return
    there = hardware().top
    for name in part.made_of.split("."):
        there = getattr(there, name)
    if part.kind == "unit":
        assert type(there).__name__ == part.label
    else:
        assert part.made_of == part.label


def test_all_units_registers_and_words_are_shown() -> None:
    top = hardware().top
    components = {name_of(each) for place in (top, top.dpath) for each in place.get_child_components()}
    assert components - {"ctrl", "dpath"} == {part.made_of for part in PARTS if part.kind == "unit"}
    words = {
        name_of(signal)
        for signal in top.dpath.get_local_object_filter(lambda each: isinstance(each, (Signal, OutPort)))
        if signal.get_type().nbits == 32
    }
    ends = set().union(*(hardware().after(pin.signal) for part in PARTS for pin in part.outputs))
    assert words <= ends, words - ends


def on_wire(point: Point, wire: Wire) -> bool:
    """Whether the point is on the wire."""
    (x, y) = point
    return any(
        min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by)
        for (ax, ay), (bx, by) in segments(wire)
    )


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: f"{wire.signal} {wire.path}")
def test_wire_is_in_the_hardware(wire: Wire) -> None:
    start, end = wire.points[0], wire.points[-1]
    if wire.named:
        assert any(wire.signal.endswith(label.text) and near(start, label) for label in LABELS)
    elif start in OUTPUTS:
        assert OUTPUTS[start] == wire.signal
    else:
        assert any(
            other is not wire and other.signal == wire.signal and on_wire(start, other) for other in WIRES
        )
    if wire.to_control:
        assert any(each.startswith("ctrl.") for each in hardware().after(wire.signal))
    else:
        assert any(is_part(INPUTS[end], each) for each in hardware().after(wire.signal, wire.through))


def near(point: Point, label: draw_datapath.Label) -> bool:
    return abs(point[0] - label.x) < 10 and abs(point[1] - label.y) < 10


def test_every_pin_has_its_wire() -> None:
    ends = Counter(wire.points[-1] for wire in WIRES if not wire.to_control)
    assert ends == Counter(point for point, signal in INPUTS.items() if signal)
    starts = {wire.points[0] for wire in WIRES}
    assert set(OUTPUTS) <= starts


@pytest.mark.parametrize(
    "signal", sorted({pin.signal for part in PARTS for pin in (*part.inputs, *part.outputs) if pin.handshake})
)
def test_val_and_rdy_are_marked_where_they_are(signal: str) -> None:
    there = hardware().top
    path = re.sub(r"msg.*|(?<=out_).*", "", signal)
    *parents, prefix = path.split(".")
    for name in parents:
        there = getattr(there, name)
    assert hasattr(there, f"{prefix}val") and hasattr(there, f"{prefix}rdy")


# ---- the drawing


def segments(wire: Wire) -> Iterator[tuple[Point, Point]]:
    return itertools.pairwise(wire.points)


def box_of(part: Part) -> Box:
    return part.x, part.y, part.x + part.width, part.y + part.height


def overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def span(segment: tuple[Point, Point]) -> Box:
    (ax, ay), (bx, by) = segment
    return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)


def texts() -> dict[str, Box]:
    """The names and labels, with the room that they take."""
    placed = {}
    for part in PARTS:
        if part.label:
            size = LABEL_SIZE if part.kind == "register" else NAME_SIZE
            placed[part.label] = room(*part.label_place, part.label, "middle", size)
    for label in LABELS:
        placed[f"{label.text} at {label.x:g}, {label.y:g}"] = room(*label, LABEL_SIZE)
    return placed


def room(x: float, y: float, text: str, anchor: str, size: float) -> Box:
    width = CHAR_WIDTH * size * len(text)
    left = x - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
    return left, y - 0.75 * size, left + width, y + 0.2 * size


def test_no_text_on_a_text() -> None:
    for (name, a), (other, b) in itertools.combinations(texts().items(), 2):
        assert not overlap(a, b), f"{name} and {other}"


def test_no_text_on_a_wire() -> None:
    for name, place in texts().items():
        for wire in WIRES:
            for segment in segments(wire):
                left, top, right, bottom = span(segment)
                assert not overlap(place, (left - 0.5, top - 0.5, right + 0.5, bottom + 0.5)), (
                    f"{name} on {wire}"
                )


def test_texts_are_in_a_box_or_outside_of_it() -> None:
    for name, place in texts().items():
        for part in PARTS:
            box = box_of(part)
            inside = box[0] <= place[0] and place[2] <= box[2] and box[1] <= place[1] and place[3] <= box[3]
            # "bypass" and the like stand beside a mux, whose own label is empty
            assert inside or not overlap(place, box), f"{name} and {part.made_of}"


def test_no_wire_crosses_a_box() -> None:
    for wire, part in itertools.product(WIRES, PARTS):
        for segment in segments(wire):
            assert not overlap(span(segment), box_of(part)), f"{wire} through {part.made_of}"


def test_no_box_on_a_box() -> None:
    for a, b in itertools.combinations(PARTS, 2):
        assert not overlap(box_of(a), box_of(b)), f"{a.made_of} and {b.made_of}"


def test_wires_of_two_signals_do_not_run_along_each_other() -> None:
    for one, other in itertools.combinations(WIRES, 2):
        if one.signal != other.signal:
            for a, b in itertools.product(segments(one), segments(other)):
                (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = span(a), span(b)
                # two parallel segments, within 3 units of each other
                grown = (ax0 - 3, ay0 - 3, ax1 + 3, ay1 + 3)
                parallel = (ax0 == ax1 and bx0 == bx1) or (ay0 == ay1 and by0 == by1)
                assert not (parallel and overlap(grown, (bx0 - 0.1, by0 - 0.1, bx1 + 0.1, by1 + 0.1))), (
                    f"{one}, {other}"
                )
