"""Timing diagrams recorded from the hardware of an interface, as WaveJSON and drawn by WaveDrom.

A stretch in which nothing changes is cut out.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from pymtl3 import DefaultPassGroup

from ....fl.accelerator import Message
from ....fl.axi4lite import SLVERR
from ....fl.axi4lite_000 import as_accesses as as_paper_accesses
from ...designs.interfaces import AXI4LITE_000, Interface
from ...designs.runnable import Runnable

LONGEST_STILL = 4  # cycles without a change that are drawn
VALUES = {  # of a channel: drawn while its valid is 1
    "aw": ("awaddr",),
    "w": ("wdata", "wstrb"),
    "b": ("bresp",),
    "ar": ("araddr",),
    "r": ("rdata", "rresp"),
}


class Diagram(NamedTuple):
    """A diagram with its caption."""

    name: str
    caption: str
    wave: dict[str, Any]

    @property
    def svg(self) -> str:
        """Drawn by WaveDrom's port to Python."""
        import wavedrom

        head, end, rest = wavedrom.render(json.dumps(self.wave)).tostring().partition(">")
        return f'{head}{end}<rect width="100%" height="100%" fill="#ffffff"/>{rest}\n'


class Recorder:
    """A component, clocked by hand; a row of values for each cycle."""

    def __init__(self, component: Any, signals: Sequence[str], longest: int) -> None:
        component.elaborate()
        component.apply(DefaultPassGroup(linetrace=False))
        component.sim_reset()
        self.component, self.signals, self.longest = component, signals, longest
        self.rows: list[dict[str, int]] = []

    def cycle(self, **inputs: int) -> dict[str, int]:
        """One clock with these inputs from its beginning."""
        component = self.component
        for name, value in inputs.items():
            port = attrgetter(name.replace("__", "."))(component)
            port @= value
        component.sim_eval_combinational()
        row = {name: int(attrgetter(name)(component).to_bits()) for name in self.signals}
        self.rows.append(row)
        component.sim_tick()
        return row

    def until(self, name: str, **inputs: int) -> dict[str, int]:
        """Clock until a signal is 1, and return that row."""
        rows = (self.cycle(**inputs) for _ in range(self.longest))
        return next(row for row in rows if row[name])


def diagrams(interface: Interface, machine: Runnable, request: Message) -> list[Diagram]:
    """The diagrams of a request to a machine behind an interface."""
    return list((_bus if interface.on_bus else _streams)(interface, machine, request))


def _streams(interface: Interface, machine: Runnable, request: Message) -> Iterator[Diagram]:
    component = machine.exported(interface)
    signals = [f"{stream}.{name}" for stream in ("istream", "ostream") for name in ("msg", "val", "rdy")]
    record = Recorder(component, signals, machine.longest)
    message = type(component.istream.msg)
    record.cycle(ostream__rdy=0)
    component.istream.msg @= message(*interface.requests(machine.shape, request)[0])
    record.until("istream.rdy", istream__val=1)
    component.istream.msg @= message()
    record.until("ostream.val", istream__val=0)
    record.cycle()
    record.cycle(ostream__rdy=1)
    record.cycle(ostream__rdy=0)
    caption = (
        "A request and its answer: each moves in the cycle in which val and rdy are both 1; the "
        "answer waits until it is accepted."
    )
    lanes = {
        stream: [(f"{stream}.msg", f"{stream}.val"), f"{stream}.val", f"{stream}.rdy"]
        for stream in ("istream", "ostream")
    }
    yield Diagram("handshake", caption, wave(record.rows, lanes, interface.clock))


def _bus(interface: Interface, machine: Runnable, request: Message) -> Iterator[Diagram]:
    channels = {}
    signals = ["irq"]
    for channel, values in VALUES.items():
        valid, ready, *names = (f"s_axi.{name}" for name in (f"{channel}valid", f"{channel}ready", *values))
        channels[channel] = [*((name, valid) for name in names), valid, ready]
        signals += [*names, valid, ready]
    component = machine.exported(interface)
    record = Recorder(component, signals, machine.longest)
    if interface is AXI4LITE_000:
        base, exponent, modulus = request
        component.key.public @= exponent
        component.key.modulus @= modulus
        accesses = as_paper_accesses(machine.nbits, base, 1)
    else:
        accesses = interface.requests(machine.shape, request)

    def drawn(parts):
        record.cycle()
        lanes = {part: channels[part] for part in parts.split()}
        diagram = wave(record.rows, lanes | {"": ["irq"]}, interface.clock)
        record.rows.clear()
        record.cycle()
        return diagram

    record.cycle()
    _play(record, accesses[0])
    yield Diagram(
        "write", "A write: address and data in any order, the answer a cycle after both.", drawn("aw w b")
    )
    assert _play(record, (0, 0, accesses[0][2], 0, 0))["s_axi.rresp"] == SLVERR
    yield Diagram(
        "refused", "A read of a write-only register: the answer is SLVERR, and the data are 0.", drawn("ar r")
    )
    begin = next(place for place, (_, wait, *_) in enumerate(accesses) if wait) - 1
    for access in accesses[:begin]:
        _play(record, access)
    record.rows.clear()
    record.cycle()
    after = accesses[begin + 2 :]
    read, write = (next(access for access in after if access[0] == kind) for kind in (0, 1))
    for access in (*accesses[begin : begin + 2], read, write):
        _play(record, access)
    record.cycle()
    caption = (
        "A computation: start, the interrupt at its end, status read, interrupt cleared. The cut "
        "is the time of the computation."
    )
    yield Diagram("computation", caption, drawn("aw w b ar r"))


def _play(record: Recorder, access: Sequence[int]) -> dict[str, int]:
    """Perform an access and return its last row: address and data are offered together, and the answer is
    accepted at once.
    """
    write, wait, address, data, strobes = access
    if wait:
        return record.until("irq")
    if not write:
        record.cycle(s_axi__araddr=address, s_axi__arvalid=1, s_axi__rready=1)
        return record.until("s_axi.rvalid", s_axi__arvalid=0)
    payload = {"s_axi__awaddr": address, "s_axi__wdata": data, "s_axi__wstrb": strobes}
    row = record.cycle(**payload, s_axi__awvalid=1, s_axi__wvalid=1, s_axi__bready=1)
    assert row["s_axi.awready"] and row["s_axi.wready"]
    return record.until("s_axi.bvalid", s_axi__awvalid=0, s_axi__wvalid=0)


def wave(
    rows: Sequence[Mapping[str, int]], lanes: Mapping[str, Sequence[Any]], clock_name: str
) -> dict[str, Any]:
    """Rows as WaveJSON: a group of signals for each lane; a signal with another, (value, valid), is drawn
    while that is 1.
    """
    kept: list[Any] = []  # a long stretch of equal rows is two of them with None between
    for row, equal in itertools.groupby(rows):
        count = len([*equal])
        kept += (row, None, row) if count > LONGEST_STILL else [row] * count
    clock = "".join("|" if row is None else "." if place else "p" for place, row in enumerate(kept))
    signals: list[Any] = [{"name": clock_name, "wave": clock}]
    for title, items in lanes.items():
        waves = []
        for item in items:
            name, valid = item if isinstance(item, tuple) else (item, None)
            waves.append(
                {"name": name.removeprefix("s_axi.").replace(".", "__"), **_drawn(kept, name, valid)}
            )
        signals += [[title, *waves]] if title else waves
    longest = max(map(len, re.findall(r"'([0-9a-f]+)'", str(signals))), default=0)
    return {"signal": signals, "config": {"hscale": min(3, 1 + longest // 5)}}


def _drawn(rows: Sequence[Mapping[str, int] | None], name: str, valid: str | None) -> dict[str, Any]:
    """A signal's wave, and the data in it."""
    text, data = "", []
    last = object()
    for row in rows:
        if row is None:
            text += "|"
            continue
        now = row[name] if valid is None or row[valid] else None
        if now == last:
            text += "."
        elif valid is None or now is None:
            text += "x" if now is None else str(now)
        else:
            text += "="
            data.append(f"{now:x}")
        last = now
    return {"wave": text, **({"data": data} if data else {})}
