"""Timing diagrams recorded from the hardware of an interface, as WaveJSON and drawn by WaveDrom.

A stretch in which nothing changes is cut out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymtl3 import DefaultPassGroup

from ....fl.accelerator import Message
from ....fl.axi4lite import ALL_BYTES, BYTES, SLVERR, operand_names
from ....fl.errors import BadInput
from ....fl.xcel import to_words
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


@dataclass(frozen=True)
class Diagram:
    """A diagram with its caption."""

    name: str
    caption: str
    wave: dict[str, Any]

    @property
    def svg(self) -> str:
        """Drawn by WaveDrom's port to Python."""
        try:
            import wavedrom
        except ImportError:
            raise BadInput("wavedrom is missing: run `pip install wavedrom` in this environment") from None
        text: str = wavedrom.render(json.dumps(self.wave)).tostring()
        return text


class Recorder:
    """A component, clocked by hand; a row of values for each cycle."""

    def __init__(self, component: Any, signals: Sequence[str]) -> None:
        component.elaborate()
        component.apply(DefaultPassGroup(linetrace=False))
        component.sim_reset()
        self.component, self.signals = component, signals
        self.rows: list[dict[str, int]] = []

    def port(self, name: str) -> Any:
        port = self.component
        for part in name.split("."):
            port = getattr(port, part)
        return port

    def cycle(self, **inputs: int) -> dict[str, int]:
        """One clock with these inputs from its beginning."""
        for name, value in inputs.items():
            port = self.port(name.replace("__", "."))
            port @= value
        self.component.sim_eval_combinational()
        row = {name: _number(self.port(name)) for name in self.signals}
        self.rows.append(row)
        self.component.sim_tick()
        return row


def diagrams(interface: Interface, machine: Runnable, request: Message) -> list[Diagram]:
    """The diagrams of a request to a machine behind an interface."""
    if interface.on_bus:
        return list(_bus(interface, machine, request))
    return list(_streams(interface, machine, request))


def _number(port: Any) -> int:
    """Return the value on a port; a message as one number."""
    return int(port.to_bits()) if hasattr(port, "to_bits") else int(port)


def _streams(interface: Interface, machine: Runnable, request: Message) -> Iterator[Diagram]:
    component, longest = machine.exported(interface), machine.longest
    signals = [f"{stream}.{name}" for stream in ("istream", "ostream") for name in ("msg", "val", "rdy")]
    record = Recorder(component, signals)
    first = interface.requests(machine.shape, request)[0]
    message = type(component.istream.msg)(*first)
    record.cycle(ostream__rdy=0)
    record.component.istream.msg @= message
    for _ in range(longest):
        if record.cycle(istream__val=1)["istream.rdy"]:
            break
    record.component.istream.msg @= type(component.istream.msg)()
    for _ in range(longest):
        if record.cycle(istream__val=0)["ostream.val"]:
            break
    record.cycle()
    record.cycle(ostream__rdy=1)
    record.cycle(ostream__rdy=0)
    caption = (
        "A request and its answer: each moves in the cycle in which val and rdy are both 1; the "
        "answer waits until it is taken."
    )
    lanes = [
        {"name": stream, "of": [(f"{stream}.msg", f"{stream}.val"), f"{stream}.val", f"{stream}.rdy"]}
        for stream in ("istream", "ostream")
    ]
    yield Diagram("handshake", caption, wave(record.rows, lanes, interface.clock))


def _bus(interface: Interface, machine: Runnable, request: Message) -> Iterator[Diagram]:
    paper = interface is AXI4LITE_000
    channels = {
        channel: [
            *((f"s_axi.{value}", f"s_axi.{channel}valid") for value in values),
            f"s_axi.{channel}valid",
            f"s_axi.{channel}ready",
        ]
        for channel, values in VALUES.items()
    }
    signals = [name if isinstance(name, str) else name[0] for part in channels.values() for name in part]
    component = machine.exported(interface)
    record = Recorder(component, [*signals, "irq"])
    registers = interface.registers(machine.shape, machine.traits)
    at = {name: register.address for name, register in registers.items()}

    def write(name: str, data: int, place: int = 0) -> None:
        """Address and data together; ready for the answer at once."""
        valid = {"s_axi__awvalid": 1, "s_axi__wvalid": 1}
        row = record.cycle(
            s_axi__awaddr=at[name] + BYTES * place,
            s_axi__wdata=data,
            s_axi__wstrb=ALL_BYTES,
            s_axi__bready=1,
            **valid,
        )
        assert row["s_axi.awready"] and row["s_axi.wready"]
        while not record.cycle(s_axi__awvalid=0, s_axi__wvalid=0)["s_axi.bvalid"]:
            pass

    def read(name: str) -> int:
        record.cycle(s_axi__araddr=at[name], s_axi__arvalid=1, s_axi__rready=1)
        while not (row := record.cycle(s_axi__arvalid=0))["s_axi.rvalid"]:
            pass
        return row["s_axi.rresp"]

    def drawn(parts: str) -> dict[str, Any]:
        lanes = [{"name": part, "of": channels[part]} for part in parts.split()]
        return wave(record.rows, [*lanes, {"name": "", "of": ["irq"]}], interface.clock)

    names = operand_names(machine.shape)
    words = [to_words(value, machine.shape.widest) for value in request]
    written, start = ("INPUT_FIFO", 1 << 2) if paper else (names[-1], 1)
    record.cycle()
    write(written, words[-1][0])
    record.cycle()
    yield Diagram(
        "write", "A write: address and data in any order, the answer a cycle after both.", drawn("aw w b")
    )
    record.rows.clear()
    record.cycle()
    assert read("INPUT_FIFO" if paper else names[len(names) // 2]) == SLVERR
    record.cycle()
    yield Diagram(
        "refused", "A read of what cannot be read: the answer is SLVERR, and the data are 0.", drawn("ar r")
    )
    if paper:
        _, exponent, modulus = request
        for name, value in (("modulus", modulus), ("public", exponent)):
            port = getattr(component.key, name)
            port @= value
        write("WRITE_ADDRESS", 0)
        write("INPUT_LENGTH", 1)
    else:
        for name, number in zip(names, words, strict=True):
            for place, word in enumerate(number):
                write(name, word, place)
        write("IRQ_ENABLE", 1)
    record.rows.clear()
    record.cycle()
    write("STATUS" if paper else "CONTROL", start)
    for _ in range(machine.longest):
        if record.cycle()["irq"]:
            break
    read("STATUS")
    write("STATUS" if paper else "IRQ_STATUS", 0 if paper else 1)
    record.cycle()
    record.cycle()
    caption = (
        "A computation: start, the interrupt at its end, status read, interrupt taken back. The cut "
        "is as long as the machine takes."
    )
    yield Diagram("computation", caption, drawn("aw w b ar r"))


def wave(
    rows: Sequence[Mapping[str, int]], lanes: Sequence[Mapping[str, Any]], clock_name: str
) -> dict[str, Any]:
    """Rows as WaveJSON: a group of signals for each lane; a signal with another, (value, valid), is drawn
    while that is 1.
    """
    kept = list(_cut(rows))
    clock = "".join("|" if row is None else "." if place else "p" for place, row in enumerate(kept))
    signals: list[Any] = [{"name": clock_name, "wave": clock}]
    for lane in lanes:
        group: list[Any] = [lane["name"]] if lane["name"] else []
        for item in lane["of"]:
            name, valid = item if isinstance(item, tuple) else (item, None)
            group.append(
                {"name": name.removeprefix("s_axi.").replace(".", "__"), **_drawn(kept, name, valid)}
            )
        if lane["name"]:
            signals.append(group)
        else:
            signals += group
    return {"signal": signals, "config": {"hscale": 1}}


def _cut(rows: Sequence[Mapping[str, int]]) -> Iterator[Mapping[str, int] | None]:
    """The rows, a long stretch of equal ones as two of them with None between."""
    start = 0
    while start < len(rows):
        stop = start
        while stop < len(rows) and rows[stop] == rows[start]:
            stop += 1
        if stop - start > LONGEST_STILL:
            yield from (rows[start], None, rows[start])
        else:
            yield from rows[start:stop]
        start = stop


def _drawn(rows: Sequence[Mapping[str, int] | None], name: str, valid: str | None) -> dict[str, Any]:
    """A signal's wave, and the data in it."""
    text, data = "", []
    last: object = object()
    for row in rows:
        if row is None:
            text += "|"
            continue
        if valid is None:
            now: object = row[name]
            mark = str(row[name])
        elif row[valid]:
            now, mark = row[name], "="
        else:
            now, mark = None, "x"
        if now == last:
            text += "."
        else:
            text += mark
            if mark == "=":
                data.append(f"{row[name]:x}")
        last = now
    return {"wave": text, **({"data": data} if data else {})}
