"""Formal benches in SystemVerilog around a unit or a machine: assumptions and assertions for
flow/prove/assertions.py.

    contract       a unit meets its contract, for all inputs or for one step of its registers from any state
    handshakes     with any delays on both streams: no answer without a request, no more requests in flight
                   than there is room for, an answer within a bound, and an idle design accepts a request
                   within the same bound
    held           an answer, and the registers behind it, do not change until it is accepted
    between        an answer stays until it is accepted; no request is accepted while it is offered, and one
                   can be accepted right after it
    after_reset    two copies in arbitrary states are reset: their units are idle
    alone          two copies in arbitrary states accept the same request: the registers that decide all that
                   follows become equal
    at_once        two copies that agree in the registers behind an answer offer the same, whatever their
                   inputs are
    idle           whenever a request can be accepted, these registers have their reset values
    same_answer    two copies in arbitrary states accept the same request: they give the same answer in the
                   same cycle, within a bound
    one_request    from any state in which a request can be accepted: it is answered within a bound, no other
                   request is accepted before that, and one can be accepted after it
    one_looked_at  the same for a design that examines a request before it accepts it
    passed_on      chained units: the output stream of each is the input stream of the next
    row            chained units: each depends only on the answer of the previous unit and on static ports
    steady         two copies in the same busy state: their inputs do not affect these registers
    same           two texts of a unit, in the same state: their outputs and next states are equal
    same_time      two copies from reset, whose requests differ in one field: both answer in the same cycles
    same_latency   the same, from any state in which a request can be accepted until its answer
    same_pace      the same as a step of induction: copies in any states that agree in some registers agree in
                   them in the next cycle, too

Static ports may change whenever nothing is in flight. A machine is reset in the first cycle and not again.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pymtl3 import Component

from ....rtl.sim.ports import Message, Ports
from ....rtl.sim.translation.translate import top_name, translate, tree_of
from ....rtl.sim.verilog_digests import without_comments
from ....rtl.verilog.paths import signal_paths
from ....rtl.verilog.tree import Design
from ...designs.claims import Secret
from .contract_lang import SPARE, Contract, default_nbits, word
from .ports import fresh, ports

ANY = 255  # as an expected status: any but 0
PIN = "_pin"  # suffix of a port, whose own name is that of its value as a number
OTHER = "_other"  # suffix of the modules of the second text
BEGUN = "  reg begun = 0;\n  always @(posedge clk) begun <= 1;"
RESET = """\
  reg started = 0;
  always @(posedge clk) started <= 1;
  wire reset = !started;"""
# in a text without comments: modules and packages, and the declarations outside of them
INSIDE = re.compile(r"^(?:module|package) (\w+)\b.*?^end(?:module|package)\b", re.DOTALL | re.MULTILINE)
DECLARED = re.compile(
    r"^module (\w+)|^\} *(\w+) *;|^(?:localparam|parameter)\b[^=;]*?(\w+)\s*=|^function\b[^(;]*?(\w+)\s*[(;]",
    re.MULTILINE,
)
MEMBERS = re.compile(r"^typedef enum\b[^{]*\{([^}]*)\}", re.MULTILINE)
STAYS = "!refused || (request_val && request == request_before)"


Lines = Sequence[str]
Registers = Mapping[str, int]  # by name, their bits


@dataclass(frozen=True)
class Stream:
    """A design with a request stream and an answer stream: its SystemVerilog and the elaborated component.

    given: conditions on an accepted request, which are assumed.
    """

    verilog: str
    top: str
    ports: Ports
    hardware: Any = None
    given: Lines = ()

    @classmethod
    def of(cls, hardware: Component, given: Lines = ()) -> "Stream":
        """The design of a component."""
        return cls(translate(hardware, whole=True), top_name(hardware), Ports.of(hardware), hardware, given)

    @functools.cached_property
    def tree(self) -> Design:
        """The tree whose text `verilog` is, or was before a mutant replaced it."""
        assert self.top == top_name(self.hardware), "a part has no tree of its own"
        return tree_of(self.hardware, whole=True)

    @property
    def request(self) -> str:
        return _range(self.ports.request.nbits)

    def answered(self, name: str) -> str:
        """A field of the answer."""
        return f"answer{places(self.ports.response)[name]}"

    def instance(
        self, name: str = "unit", request: str = "request", suffix: str = "", given: str = ""
    ) -> str:
        """One copy; `suffix` of the names of its outputs, `given` of those of its inputs."""
        pins = {
            "clk": "clk",
            "reset": "reset",
            "istream__msg": request,
            "istream__val": f"request_val{given}",
            "istream__rdy": f"request_rdy{suffix}",
            "ostream__msg": f"answer{suffix}",
            "ostream__val": f"answer_val{suffix}",
            "ostream__rdy": f"answer_rdy{given}",
            **{item: item for item, _ in self.statics},
        }
        answer = f"wire {_range(self.ports.response.nbits)} answer{suffix}"
        driven = f"  wire request_rdy{suffix}, answer_val{suffix};\n  {answer};\n"
        return driven + instance(self.top, name, pins)

    def pair(self, second: str = "request_other", given: tuple[str, str] = ("", "_other")) -> str:
        """Two copies; `second` is the request of the second, `given` the suffixes of their inputs."""
        one, two = given
        return "\n".join(
            [self.instance("one", "request", "_1", one), self.instance("two", second, "_2", two)]
        )

    def module(self, inputs: Lines, body: Lines, given: Lines, holds: Lines) -> str:
        """The bench after the design's text; in each cycle `given` is assumed and `holds` is asserted."""
        request = f"input request_val, input {self.request} request, input answer_rdy"
        return module(self.verilog, ["input clk", request, *inputs], body, given, holds)

    def fields(self, conditions: Lines | None = None) -> str:
        """The request's fields as named numbers, wide enough for sums: all, or those in `conditions`."""
        named = None if conditions is None else set(re.findall(r"\w+", " ".join(conditions)))
        number = _range(self.ports.request.nbits + SPARE)
        return "\n".join(
            f"  wire {number} {name} = request{place};"
            for name, place in places(self.ports.request).items()
            if named is None or name in named
        )

    @property
    def statics(self) -> list[tuple[str, str]]:
        """The static ports with their ranges."""
        return [(name, _range(kind.nbits)) for name, kind in self.ports.statics]

    @property
    def next_statics(self) -> list[str]:
        """Inputs with the next values of the static ports."""
        return [f"input {bits} next_{name}" for name, bits in self.statics]

    @property
    def kept(self) -> str:
        """Static ports with arbitrary constant values."""
        return "\n".join(
            f"  reg {bits} {name};\n  always @(posedge clk) {name} <= {name};" for name, bits in self.statics
        )

    @property
    def running(self) -> str:
        """Static ports with constant values, and no reset."""
        return f"  wire reset = 0;\n{self.kept}"

    @property
    def refused(self) -> str:
        """Whether a request was offered and not accepted in the cycle before; for `STAYS`."""
        return f"""\
  reg refused = 0; reg {self.request} request_before;
  always @(posedge clk) begin
    refused <= request_val & !request_rdy & !reset;
    request_before <= request;
  end"""

    @property
    def other(self) -> list[str]:
        """Inputs of a second copy that are independent of those of the first."""
        return ["input request_val_other", f"input {self.request} request_other", "input answer_rdy_other"]


def places(message: Message) -> dict[str, str]:
    """The bit ranges of a message's fields; the first field has the highest bits."""
    found, low = {}, message.nbits
    for name, nbits in message.fields:
        low -= nbits
        found[name] = f"[{low + nbits - 1}:{low}]"
    return found


def contract(verilog: str, top: str, unit: Component, said: Contract) -> str:
    """A unit and its contract; `old_NAME` is the value of a port or register in the cycle before."""
    number = _range(said.nbits or default_nbits(unit))
    inputs, body, pins = [], [], {}
    for name, nbits, is_input in ports(unit):
        pins[name] = f"{name}{PIN}"
        if is_input:
            inputs.append(f"input {_range(nbits)} {name}{PIN}")
        else:
            body.append(f"  wire {_range(nbits)} {name}{PIN};")
        body.append(f"  wire {number} {name} = {name}{PIN};")
    if said.registers:
        inputs.insert(0, "input clk")
        body.append(instance(top, "unit", {"clk": "clk", "reset": "1'b0", **pins}))
        inner = {word(name): name for name in said.registers if name not in pins}
        alone = fresh(unit)
        alone.elaborate()
        paths = signal_paths(alone, inner.values())
        body += [f"  wire {number} {name} = unit.{paths[register]};" for name, register in inner.items()]
        body += [
            f"  reg {number} old_{name};\n  always @(posedge clk) old_{name} <= {name};"
            for name in (*pins, *inner)
        ]
        body.append(BEGUN)
        holds, given = (_when("begun", conditions) for conditions in (said.holds, said.given))
    else:
        body.append(instance(top, "unit", pins))
        holds, given = list(said.holds), list(said.given)
    inputs += [f"input {number} {name}" for name in said.free]
    body += [f"  wire {number} {name} = {value};" for name, value in said.lines.items()]
    for name, text in said.instead.items():
        verilog = with_module(verilog, name, text)
    return module(verilog, inputs, body, given, holds)


def with_module(verilog: str, module: str, text: str) -> str:
    """The text with one module replaced."""
    pattern = rf"^module {re.escape(module)}\b.*?^endmodule$"
    changed, count = re.subn(pattern, lambda _: text, verilog, flags=re.DOTALL | re.MULTILINE)
    if count != 1:
        raise ValueError(f"{count} modules {module}")
    return changed


def handshakes(design: Stream, cycles: int, room: int, stays: bool = False) -> str:
    """An answer comes within `cycles`, with at most `room` requests in flight.

    stays: an offered request is held until it is accepted, and the design need not be ready without one. The
    count of `cycles` also runs while nothing is in flight and no request would be accepted, so a design that
    stops accepting requests is late, too.
    """
    idle = "request_rdy | !request_val" if stays else "request_rdy"
    body = [
        _counted(design, room),
        design.fields(design.given),
        _counter("waited", cycles),
        f"""\
  always @(posedge clk)
    waited <= reset | answer_val | (under_way == 0 & ({idle})) ? 0 : waited + 1;""",
        design.refused if stays else "",
    ]
    return design.module(
        design.next_statics,
        body,
        [STAYS if stays else "", *_when("takes", design.given)],
        [
            "reset || !answer_val || under_way != 0",
            f"reset || under_way <= {room}",
            f"reset || waited < {cycles}",
        ],
    )


def held(
    design: Stream,
    registers: Registers,
    room: int = 0,
    known: Registers = MappingProxyType({}),
) -> str:
    """The registers behind an answer, or without any the answer itself, do not change until it is accepted.

    Checked over two cycles from any state, with constant static ports; with `room`, in all cycles from reset
    with at most so many requests in flight. known: registers that are already proved to stay; this excludes
    states in which they would change.
    """
    words = {f"unit.{name}": nbits for name, nbits in {**known, **registers}.items()} or {
        "answer_val": 1,
        "answer": design.ports.response.nbits,
    }
    body = [
        _counted(design, room) if room else f"{design.running}\n{design.instance()}",
        "  reg offered = 0;",
        _now(words),
        *(f"  word_now_{i} kept_{i};" for i in range(len(words))),
        "  always @(posedge clk) begin",
        "    offered <= answer_val & !answer_rdy & !reset;",
        *(f"    kept_{i} <= now_{i};" for i in range(len(words))),
        "  end",
    ]
    stays = [f"!offered || now_{i} == kept_{i}" for i in range(len(words))]
    inputs = design.next_statics if room else []
    return design.module(inputs, body, stays[: len(known)], stays[len(known) :])


def between(design: Stream, looks: bool = False) -> str:
    """In all cycles from reset: an answer stays until it is accepted, no request is accepted while it is
    offered, and one can be accepted right after it.

    looks: the design examines a request first; the request stays until it is accepted.
    """
    body = [
        _counted(design, 1),
        design.refused if looks else "",
        """\
  reg offered = 0, over = 0;
  always @(posedge clk) begin
    offered <= answer_val & !answer_rdy & !reset;
    over <= answer_val & answer_rdy & !reset;
  end""",
    ]
    return design.module(
        design.next_statics,
        body,
        [STAYS if looks else ""],
        [
            "reset || !offered || answer_val",
            f"reset || !over || ({'' if looks else 'request_rdy && '}!answer_val)",
            "reset || !(answer_val && request_rdy)",
        ],
    )


def _now(words: Registers, now: str = "now") -> str:
    """Wires now_0, ... with the registers' values; a list of registers becomes one word."""
    return "\n".join(
        f"""\
  typedef logic {_range(nbits)} word_{now}_{i};
  word_{now}_{i} {now}_{i};
  assign {now}_{i} = word_{now}_{i}'({name});"""
        for i, (name, nbits) in enumerate(words.items())
    )


def _now_of_both(registers: Registers) -> str:
    """Wires one_0, ... and two_0, ... with the values of the same registers in two copies."""
    return "\n".join(
        _now({f"{copy}.{name}": nbits for name, nbits in registers.items()}, copy) for copy in ("one", "two")
    )


def _counted(design: Stream, room: int) -> str:
    """One copy with a counter of its requests in flight, for up to `room`; static ports take new values from
    inputs while there are none.
    """
    changes = [f"    if (left == 0 && !takes) {name} <= next_{name};" for name, _ in design.statics]
    return "\n".join(
        [
            RESET,
            *(f"  reg {bits} {name};" for name, bits in design.statics),
            design.instance(),
            _counter("under_way", room),
            f"""\
  wire takes = request_val & request_rdy & !reset, gives = answer_val & answer_rdy & !reset;
  wire {_range(room.bit_length() + 1)} left = under_way - gives;
  always @(posedge clk) begin
    under_way <= left + takes;""",
            *changes,
            "  end",
        ]
    )


def _open(design: Stream, busy: str) -> tuple[str, str]:
    """Static ports, and the block that changes them while not `busy`."""
    changes = [f"  always @(posedge clk) if (!({busy})) {name} <= next_{name};" for name, _ in design.statics]
    return "\n".join(f"  reg {bits} {name};" for name, bits in design.statics), "\n".join(changes)


def after_reset(design: Stream, streams: Lines) -> str:
    """Two copies in any states, in the cycle after a reset: units offer no answer and agree in readiness."""
    first = "  reg first = 1;\n  always @(posedge clk) first <= 0;\n  wire reset = first;"
    holds = []
    for stream in streams:
        holds += [f"!one.{stream}ostream__val", f"one.{stream}istream__rdy == two.{stream}istream__rdy"]
    body = [first, design.kept, design.pair("request", ("", ""))]
    return design.module([], body, [], _when("!first", holds))


def alone(design: Stream, registers: Registers) -> str:
    """Over two cycles: after the same request these registers, which decide all that follows, are equal,
    whatever the states before.

    The copies may differ in whether an answer would be accepted in the cycle of the request.
    """
    body = [
        design.running,
        design.fields(design.given),
        "  wire request_val_other = request_val;",
        design.pair("request"),
        "  reg taken = 0;",
        "  always @(posedge clk) taken <= request_val & request_rdy_1 & request_rdy_2;",
    ]
    return design.module(
        ["input answer_rdy_other"],
        body,
        _when("request_val", design.given),
        _when("taken", _same(registers)),
    )


def never(design: Stream, register: str, value: int) -> str:
    """In all cycles from reset, this register does not have this value."""
    holds = [f"reset || unit.{register} != {value}"]
    return design.module(design.next_statics, [_counted(design, 1)], [], holds)


def steady(
    design: Stream,
    registers: Registers,
    working: bool = False,
    unreached: Sequence[tuple[str, int]] = (),
) -> str:
    """Over two cycles: two copies in the same state, without an answer or a new request, reach equal states.

    Their inputs are arbitrary. working: only states in which no request can be accepted. unreached: pairs of
    a register and a value that it never has.
    """
    body = [
        design.running,
        design.pair(),
        f"""\
  reg busy = 0, begun = 0;
  wire takes = request_val & request_rdy_1 | request_val_other & request_rdy_2;
  always @(posedge clk) begin
    begun <= 1;
    busy <= !answer_val_1 & !takes{" & !request_rdy_1" if working else ""};
  end""",
    ]
    same = _same(registers)
    known = [*_when("!begun", same), *(f"one.{name} != {value}" for name, value in unreached)]
    return design.module(design.other, body, known, _when("busy", same))


def idle(
    design: Stream, values: Mapping[str, tuple[int, int]], never: bool = False, looks: bool = False
) -> str:
    """In all cycles from reset in which a request can be accepted, and right after reset, registers have
    these values; static ports are arbitrary.

    values: value and width of each register. never: they do not have these values. looks: the cycles are
    those in which no request has been examined and none is in flight.
    """
    if looks:
        unit = [
            _counted(design, 1),
            design.refused,
            "  reg over = 0;\n  always @(posedge clk) over <= gives;",
        ]
    else:
        unit = [RESET, design.instance()]
    inputs = design.next_statics if looks else [f"input {bits} {name}" for name, bits in design.statics]
    rests = "over || (under_way == 0 && !refused)" if looks else "request_rdy"
    body = [
        *unit,
        "  reg begins = 0;\n  always @(posedge clk) begins <= reset;",
        _now({f"unit.{name}": nbits for name, (_, nbits) in values.items()}),
    ]
    holds = [
        f"reset || !(begins || ({rests})) || now_{i} {'!=' if never else '=='} {value}"
        for i, (value, _) in enumerate(values.values())
    ]
    return design.module(inputs, body, [STAYS if looks else ""], holds)


def same_answer(design: Stream, cycles: int, waits: tuple[int, int]) -> str:
    """Two copies accept the same request in the first cycle, and have independent inputs afterwards.

    waits: for each copy, whether its answer would be accepted in the first cycle. While `paired`, the request
    is in flight: it is answered within `cycles`, and no other is accepted before.
    """
    body = [
        design.running,
        design.fields(design.given),
        _counter("age", cycles),
        f"""\
  reg first = 1, paired = 0;
  wire request_val_one = first | request_val, request_val_two = first | request_val_other;
  wire {design.request} request_two = first ? request : request_other;
  wire answer_rdy_one = first ? {waits[0]} : answer_rdy;
  wire answer_rdy_two = first ? {waits[1]} : answer_rdy_other;""",
        design.pair("request_two", ("_one", "_two")),
        """\
  always @(posedge clk) begin
    first <= 0;
    age <= age + 1;
    paired <= first ? request_rdy_1 & request_rdy_2 : paired & !answer_val_1;
  end""",
    ]
    return design.module(
        design.other,
        body,
        _when("first", design.given),
        [
            "!paired || answer_val_1 == answer_val_2",
            "!paired || !answer_val_1 || answer_1 == answer_2",
            "!paired || answer_val_1 || !(request_rdy_1 | request_rdy_2)",
            f"!paired || age < {cycles} || answer_val_1",
        ],
    )


def at_once(design: Stream, registers: Registers) -> str:
    """In one cycle: two copies that agree in these registers offer the same answer, whatever their inputs."""
    return design.module(
        design.other,
        [design.running, design.pair(), _now_of_both(registers)],
        [f"one_{i} == two_{i}" for i in range(len(registers))],
        ["answer_val_1 == answer_val_2", "!answer_val_1 || answer_1 == answer_2"],
    )


def one_request(design: Stream, cycles: int) -> str:
    """Over `cycles` cycles from any state in which a request can be accepted; offered answers are accepted,
    other inputs are arbitrary.

    Without a request in the first cycle, one can be accepted in the second.
    """
    body = [
        design.running,
        design.fields(design.given),
        "  reg first = 1, paired = 0, ready = 0;",
        _counter("age", cycles),
        design.instance(),
        """\
  always @(posedge clk) begin
    first <= 0;
    age <= age + 1;
    paired <= first ? request_val : paired & !answer_val;
    ready <= first ? !request_val : paired & answer_val;
  end""",
    ]
    return design.module(
        [],
        body,
        ["!answer_val || answer_rdy", *_when("first && request_val", design.given)],
        [
            "!first || (request_rdy && !answer_val)",
            "!ready || (request_rdy && !answer_val)",
            "!paired || !request_rdy",
            f"!paired || age < {cycles} || answer_val",
        ],
    )


def one_looked_at(design: Stream, cycles: int) -> str:
    """`one_request` for a design that examines a request first; the request stays until it is accepted."""
    statics, changes = _open(design, "under_way || (request_val && request_rdy)")
    body = [
        "  wire reset = 0;",
        statics,
        design.fields(design.given),
        "  reg first = 1, asked = 0, under_way = 0, over = 0;",
        _counter("age", cycles),
        design.instance(),
        design.refused,
        changes,
        """\
  always @(posedge clk) begin
    first <= 0;
    age <= age + 1;
    asked <= first ? request_val : asked;
    under_way <= request_val & request_rdy | under_way & !answer_val;
    over <= over | under_way & answer_val;
  end""",
    ]
    return design.module(
        design.next_statics,
        body,
        ["!answer_val || answer_rdy", STAYS, *_when("request_val && request_rdy", design.given)],
        [
            "over || under_way || !answer_val",
            "over || !under_way || !request_rdy",
            f"!(first ? request_val : asked) || over || age < {cycles} || (under_way && answer_val)",
        ],
    )


def row(design: Stream, parts: Mapping[str, Stream]) -> str:
    """In one cycle of two copies in any states: each of these units, from the request to the answer, depends
    only on the previous one and on static ports.
    """
    before = ["request_val", "request_rdy_1", "request == request_other"]
    holds = []
    for name, part in parts.items():
        holds += [f"one.{name}.{static} == two.{name}.{static}" for static, _ in part.statics]
        into, out = (
            [
                f"one.{name}.{stream}__val",
                f"one.{name}.{stream}__rdy",
                f"one.{name}.{stream}__msg == two.{name}.{stream}__msg",
            ]
            for stream in ("istream", "ostream")
        )
        holds += _joined(before, into)
        before = out
    holds += _joined(before, ["answer_val_1", "answer_rdy", "answer_1 == answer_2"])
    return design.module(design.other, [design.running, design.pair()], [], holds)


def _joined(source: Lines, sink: Lines) -> list[str]:
    """Source and sink share one handshake, and the sink's message depends on the source's alone."""
    return [f"{source[0]} == {sink[0]}", f"{source[1]} == {sink[1]}", f"!({source[2]}) || ({sink[2]})"]


def passed_on(design: Stream, parts: Lines) -> str:
    """In one cycle from any state: the streams of these units are connected in this order, from the request
    to the answer, and so is their reset.
    """
    streams = [
        [f"unit.{name}.{stream}__{pin}" for pin in ("val", "rdy", "msg")]
        for name in parts
        for stream in ("istream", "ostream")
    ]
    ends = ["request_val", "request_rdy", "request"], *streams, ["answer_val", "answer_rdy", "answer"]
    holds = [f"unit.{name}.reset == reset" for name in parts]
    for source, sink in zip(ends[::2], ends[1::2], strict=True):
        holds += [f"{one} == {two}" for one, two in zip(source, sink, strict=True)]
    return design.module(["input reset"], [design.kept, design.instance()], [], holds)


def same(
    verilog: str,
    other: str,
    top: str,
    inputs: Registers,
    outputs: Registers,
    registers: Registers,
) -> str:
    """Over two cycles: equal outputs and registers, given with their widths. Modules, packages and global
    names of the other text are renamed.
    """
    other = _renamed(other)
    body = [BEGUN]
    for name, which in (("one", top), ("two", f"{top}{OTHER}")):
        shown = {output: f"{output}_{name}" for output in outputs}
        body += [f"  wire {_range(outputs[item])} {net};" for item, net in shown.items()]
        body.append(instance(which, name, {**{item: item for item in inputs}, **shown}))
    kept = _same(registers)
    clock = [] if "clk" in inputs else ["input clk"]
    return module(
        f"{verilog}\n{other}",
        [*clock, *[f"input {_range(nbits)} {name}" for name, nbits in inputs.items()]],
        body,
        _when("!begun", kept),
        [*(f"{name}_one == {name}_two" for name in outputs), *_when("begun", kept)],
    )


def _renamed(verilog: str) -> str:
    """The text with a suffix on the names of modules and packages, and on those that it declares outside of
    them: types, constants, functions and members of enumerations.
    """
    outside = INSIDE.sub(lambda found: f"module {found[1]} ", without_comments(verilog))
    names = {name for found in DECLARED.findall(outside) for name in found}
    for members in MEMBERS.findall(outside):
        names.update(re.findall(r"(\w+)(?:\s*=[^,]*)?\s*(?:,|$)", members))
    return re.sub(r"(?<![.\w'])[A-Za-z_]\w*", lambda name: name[0] + OTHER * (name[0] in names), verilog)


def same_time(design: Stream, secret: Secret) -> str:
    """From reset: two copies whose requests differ in the secret accept and answer in the same cycles."""
    requests, inputs, alike = _two_secrets(design, secret)
    holds = ["reset || request_rdy_1 == request_rdy_2", "reset || answer_val_1 == answer_val_2"]
    return design.module(inputs, [RESET, requests], alike, holds)


def same_pace(
    design: Stream,
    secret: Secret,
    registers: Registers,
    relation: tuple[Lines, Lines],
    shown: str = "",
) -> str:
    """`same_time` as a step of induction, over two cycles from any two states that are in `relation`: some
    registers are equal, others have the same bit length.

    registers: all of them with their widths; those without a reset begin equal. shown: the only register that
    is asserted in the second cycle; by default all registers and the handshakes are. Both may be reset in any
    cycle.
    """
    requests, inputs, conditions = _two_secrets(design, secret)
    equal, alike = relation
    numbers = {name: i for i, name in enumerate(registers)}
    kept = {name: f"one_{numbers[name]} == two_{numbers[name]}" for name in equal}
    kept |= {name: _alike(f"one_{numbers[name]}", f"two_{numbers[name]}") for name in alike}
    handshakes = ["request_rdy_1 == request_rdy_2", "answer_val_1 == answer_val_2"]
    return design.module(
        ["input reset", *inputs],
        [requests, _now_of_both(registers), BEGUN],
        [*conditions, *_when("!begun", kept.values())],
        [*([] if shown else handshakes), *_when("begun", [kept[shown]] if shown else kept.values())],
    )


def same_latency(design: Stream, secret: Secret, looks: bool = False) -> str:
    """`same_time` from any states in which a request can be accepted until its answer; offered answers are
    accepted, other inputs are arbitrary.

    looks: the designs examine a request first; it stays, and both accept it in the same cycle.
    """
    requests, inputs, conditions = _two_secrets(design, secret, "_now")
    statics, changes = _open(design, "taken || (request_val && request_rdy_1)")
    stays = f"""\
  reg refused = 0, taken = 0; reg {design.request} request_before, other_before;
  always @(posedge clk) begin
    refused <= request_val & !request_rdy_1;
    taken <= request_val & request_rdy_1 | taken & !answer_val_1;
    request_before <= request;
    other_before <= request_other;
  end
{changes}"""
    if looks:
        ready = "!(first || paired) || request_rdy_1 == request_rdy_2"
    else:
        ready = "!first || (request_rdy_1 && request_rdy_2)"
    asked = "request_val" if looks else "(first | request_val)"
    body = [
        f"  wire reset = 0;\n{statics}" if looks else design.running,
        "  reg first = 1, paired = 0;",
        f"  wire request_val_now = {asked}, answer_rdy_now = answer_rdy;",
        requests,
        stays if looks else "",
        """\
  always @(posedge clk) begin
    first <= 0;
    paired <= first ? request_val_now : paired & !answer_val_1;
  end""",
    ]
    return design.module(
        [*inputs, *(design.next_statics if looks else [])],
        body,
        [
            "!(answer_val_1 || answer_val_2) || answer_rdy",
            *([STAYS, "!refused || request_other == other_before"] if looks else []),
            *conditions,
        ],
        [ready, "!paired || answer_val_1 == answer_val_2"],
    )


def _two_secrets(design: Stream, secret: Secret, given: str = "") -> tuple[str, list[str], list[str]]:
    """Two copies whose requests differ in the secret, with the inputs for it and the assumptions on both."""
    also, nbits = secret.also, dict(design.ports.request.fields)
    others = {secret.field: "other"} | {name: f"other_{name}" for name in also}
    place_of = places(design.ports.request)
    words = [others.get(name, f"request{place}") for name, place in place_of.items()]
    body = [
        f"  wire {design.request} request_other = {{{', '.join(words)}}};",
        f"  wire {_range(nbits[secret.field])} secret = request{place_of[secret.field]};",
        design.fields(
            [*(condition.format(**{name: name}) for name, condition in also.items()), secret.given]
        ),
        design.pair(given=(given, given)),
    ]
    inputs = [f"input {_range(nbits[name])} {other}" for name, other in others.items()]
    assumed = [_alike("secret", "other")] if secret.lengths else []
    assumed += [secret.given] if secret.given else []
    for name, condition in also.items():
        one, two = (condition.format(**{name: value}) for value in (name, others[name]))
        assumed.append(f"({one}) == ({two})")
    return "\n".join(body), inputs, assumed


def refusals(design: Stream, status: str, room: int, exactly: bool) -> str:
    """In all cycles from reset: an accepted request is answered with its status, and a status other than 0
    with the result 0.

    status: an expression in the fields of a request; ANY is any status but 0. exactly: a request whose
    status should be 0 gets 0.
    """
    answered, result = design.answered("status"), design.answered("result")
    fits = f"(expected == {ANY} ? {answered} != 0 : {answered} == expected)"
    body = [
        _counted(design, room),
        design.refused,
        design.fields(),
        _counter("ahead", room),
        f"""\
  reg followed = 0; reg [7:0] expected = 0;
  always @(posedge clk)
    if (takes & chosen & !followed) begin
      followed <= 1;
      ahead <= left;
      expected <= {status};
    end else if (followed & gives) begin
      followed <= ahead != 0;
      ahead <= ahead - 1;
    end
  wire judged = followed & answer_val & ahead == 0;""",
    ]
    return design.module(
        [*design.next_statics, "input chosen"],
        body,
        [STAYS, "chosen" if room == 1 else ""],
        [
            f"!judged || {'' if exactly else 'expected == 0 || '}{fits}",
            f"!judged || expected == 0 || {result} == 0",
        ],
    )


def wiped(design: Stream, words: Mapping[str, tuple[int, int]], cycles: int, judged: str) -> str:
    """In the first cycle of an answer these words have their values, which are given with their widths.

    The answer is in the last of `cycles` cycles from any state or, if that is 0, in any cycle from reset.
    judged: a condition on the answers that are checked.
    """
    any_state = "  wire reset = 0;\n  always @(posedge clk) age <= age + 1;"
    late = f"age < {cycles - 1}" if cycles else "reset"
    body = [
        _counter("age", cycles),
        any_state if cycles else RESET,
        design.kept,
        design.instance(),
        design.refused,
        _now({f"unit.{name}": nbits for name, (_, nbits) in words.items()}),
        f"""\
  reg offered = 0;
  always @(posedge clk) offered <= answer_val & !answer_rdy;
  wire judged = answer_val & !offered & ({judged});""",
    ]
    holds = [
        f"{late} || !judged || now_{i} == {nbits}'d{value}" for i, (value, nbits) in enumerate(words.values())
    ]
    return design.module([], body, [STAYS], holds)


def zeroised(
    verilog: str,
    top: str,
    wires: Sequence[tuple[str, int, bool]],
    control: tuple[int, int],
    constants: str,
) -> str:
    """An AXI4-Lite slave with these ports, from reset, around a machine with one request in flight, which
    holds its answer until it is taken.

    control: address of the control word, and the bit that zeroises. constants: the request that overwrites
    the machine.
    """
    address, zeroise = control
    inputs = ["input clk", *(f"input {_range(nbits)} {name}" for name, nbits, is_input in wires if is_input)]
    body = [
        RESET,
        *(f"  wire {_range(nbits)} {name};" for name, nbits, is_input in wires if not is_input),
        instance(top, "unit", {"clk": "clk", "reset": "reset", **{name: name for name, _, _ in wires}}),
        f"""\
  wire zeroises = unit.writes.wen && unit.writes.waddr == {address} && unit.writes.wdata[{zeroise}] && !reset;
  wire starts = unit.writes.start && !reset;
  wire asks = unit.machine.istream__val & unit.machine.istream__rdy & !reset;
  wire answers = unit.machine.ostream__val & unit.machine.ostream__rdy & !reset;
  reg forgotten = 0, under_way = 0, held = 0, overwrites = 0, due = 0, clear = 0;
  wire overwritten = answers & overwrites;
  always @(posedge clk) begin
    forgotten <= reset | zeroises | forgotten & !starts;
    under_way <= asks | under_way & !answers & !reset;
    held <= unit.machine.ostream__val & !unit.machine.ostream__rdy & !reset;
    if (asks) overwrites <= unit.machine.istream__msg == {constants} && unit.writes.operand == 0;
    due <= reset | zeroises & !overwritten | due & !overwritten;
    clear <= overwritten | clear & !unit.writes.stores & !reset;
  end""",
    ]
    return module(
        verilog,
        inputs,
        body,
        [
            "!unit.machine.ostream__val || under_way",
            "!unit.machine.istream__rdy || !under_way",
            "!held || unit.machine.ostream__val",
        ],
        [
            "!clear || unit.writes.operand == 0",
            "!forgotten || !unit.reads.done",
            "!unit.control.start || !under_way || answers || reset",
            "!due || unit.control.busy",
        ],
    )


def _alike(one: str, two: str) -> str:
    """A condition: both words have the same bit length."""
    return f"({one} ^ {two}) <= ({one} & {two})"


def _range(nbits: int) -> str:
    return f"[{nbits - 1}:0]"


def _counter(name: str, most: int) -> str:
    """A register that starts at 0 and has room for more than `most`."""
    return f"  reg {_range(most.bit_length() + 1)} {name} = 0;"


def _when(condition: str, items: Iterable[str]) -> list[str]:
    """Each item is implied by the condition."""
    return [f"!({condition}) || ({item})" for item in items]


def _same(registers: Iterable[str]) -> list[str]:
    """Conditions that these registers are equal in the two copies."""
    return [f"one.{name} == two.{name}" for name in registers]


def instance(top: str, name: str, pins: dict[str, str]) -> str:
    """Instantiate a module, with its pins connected."""
    return f"  {top} {name} ({', '.join(f'.{pin}({net})' for pin, net in pins.items())});"


def module(verilog: str, inputs: Lines, body: Lines, given: Lines, holds: Lines) -> str:
    """The bench after the text that it is about; in each cycle `given` is assumed, unless empty, and `holds`
    is asserted.
    """
    return "\n".join(
        [
            verilog,
            f"module proof ({', '.join(inputs)});",
            *body,
            "  always @* begin",
            *(f"    assume ({item});" for item in given if item),
            *(f"    assert ({hold});" for hold in holds),
            "  end",
            "endmodule",
            "",
        ]
    )
