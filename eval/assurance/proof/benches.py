"""Formal benches in SystemVerilog around a unit or a machine: assumptions and assertions for
flow/prove/assertions.py.

    contract     a unit and its contract, of all inputs, or of a step of its registers from any state
    handshakes   streams, at all delays: no answer without a request, no more requests under way than there is
                 room for, an
                 answer in so many cycles, and where nothing is under way room for a request in as many
    held         while an answer is not taken, it stays, as the registers do that it is read from
    between      an answer stays until it is taken, beside it no request is, and behind it one can be
    after_reset  two copies in any two states are reset: the units in them are at rest
    alone        two copies in any two states take the same request: the registers that decide what comes are
                 the same then
    at_once      two copies with the same in the registers that an answer is read from: they offer the same,
                 whatever their streams say
    idle         when a request can be taken, these registers have the values of a reset
    same_answer  two copies in any two states take the same request: they answer the same, in the same cycle,
                 of so many
    one_request  from where a request can be taken: it is answered in so many cycles, no other is taken
                 before, and then one can be again
    one_looked_at  the same from where a request would be looked at before it is taken
    passed_on    units in a row: the stream that leaves one is that which the next one takes
    row          units in a row, of which each gets the answer of the one before, and nothing else but static
                 ports
    steady       two copies in the same state, at work: what their streams say makes no difference to these
                 registers
    same         a unit and another text of it, in the same state: what they show is the same, and the state
                 that they come to
    same_time    two copies from reset, whose requests differ in one field: both answer in the same cycles
    same_latency the same from where a request can be taken to its answer
    same_pace    the same of two copies in any two states that are the same in some registers, which are so in
                 the next cycle, too

Static ports may change whenever nothing is under way. A machine is reset in the first cycle, and not again.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pymtl3 import Component

from ....rtl.sim.ports import Message, Ports
from ....rtl.sim.translation.translate import top_name, translate
from .contract_lang import SPARE, Contract, default_nbits, word
from .ports import ports

ANY = 255  # an expected status that stands for all but 0
PIN = "_pin"  # of a port, whose name the number has that it is
OTHER = "_other"  # of modules of another text
BEGUN = "  reg begun = 0;\n  always @(posedge clk) begun <= 1;"
RESET = """\
  reg started = 0;
  always @(posedge clk) started <= 1;
  wire reset = !started;"""
STAYS = "!refused || (request_val && request == request_before)"


Lines = Sequence[str]
Registers = Mapping[str, int]  # by name, their bits


@dataclass(frozen=True)
class Stream:
    """A design with a stream of requests and one of answers, in SystemVerilog, and as it was elaborated.

    given: conditions that are assumed of a request that is taken.
    """

    verilog: str
    top: str
    ports: Ports
    hardware: Any = None
    given: Lines = ()

    @classmethod
    def of(cls, hardware: Component, given: Lines = ()) -> "Stream":
        """The design of a component."""
        return cls(translate(hardware), top_name(hardware), Ports.of(hardware), hardware, given)

    @property
    def request(self) -> str:
        return _range(self.ports.request.nbits)

    def answered(self, name: str) -> str:
        """A field of the answer."""
        return f"answer{places(self.ports.response)[name]}"

    def instance(
        self, name: str = "unit", request: str = "request", suffix: str = "", given: str = ""
    ) -> str:
        """One copy; `suffix`: of what it drives, `given`: of what the streams say to it."""
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
        """Two copies, and the request of the second; `given`: of what the streams say to each."""
        one, two = given
        return "\n".join(
            [self.instance("one", "request", "_1", one), self.instance("two", second, "_2", two)]
        )

    def module(self, inputs: Lines, body: Lines, given: Lines, holds: Lines) -> str:
        """The bench behind the design; in each cycle conditions are assumed, and others asserted."""
        request = f"input request_val, input {self.request} request, input answer_rdy"
        return module(self.verilog, ["input clk", request, *inputs], body, given, holds)

    def fields(self, conditions: Lines | None = None) -> str:
        """Fields of the request as numbers by their names, with room for a sum; or those in `conditions`."""
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
        """Inputs for what static ports change to."""
        return [f"input {bits} next_{name}" for name, bits in self.statics]

    @property
    def kept(self) -> str:
        """Static ports of any value that they keep."""
        return "\n".join(
            f"  reg {bits} {name};\n  always @(posedge clk) {name} <= {name};" for name, bits in self.statics
        )

    @property
    def running(self) -> str:
        """Static ports that are kept, without a reset."""
        return f"  wire reset = 0;\n{self.kept}"

    @property
    def refused(self) -> str:
        """A request that was offered in the cycle before, and not taken; for `STAYS`."""
        return f"""\
  reg refused = 0; reg {self.request} request_before;
  always @(posedge clk) begin
    refused <= request_val & !request_rdy & !reset;
    request_before <= request;
  end"""

    @property
    def other(self) -> list[str]:
        """Inputs of a second copy whose streams say something else."""
        return ["input request_val_other", f"input {self.request} request_other", "input answer_rdy_other"]


@dataclass(frozen=True)
class Secret:
    """The fields in which the requests of two machines differ.

    lengths: the highest 1 of `field` is at the same place in both. also: further fields, each with a
    condition that both requests meet, or neither. given: a condition on all requests.
    """

    field: str
    lengths: bool = False
    also: Mapping[str, str] = dataclasses.field(default_factory=dict)
    given: str = ""


def places(message: Message) -> dict[str, str]:
    """The ranges of a message's fields, the first highest."""
    found, low = {}, message.nbits
    for name, nbits in message.fields:
        low -= nbits
        found[name] = f"[{low + nbits - 1}:{low}]"
    return found


def contract(verilog: str, top: str, unit: Component, said: Contract) -> str:
    """Bench of a unit and its contract; `old_NAME` is the value of a port or register in the cycle before."""
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
        body += [f"  wire {number} {name} = unit.{register};" for name, register in inner.items()]
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
    """The text with another module in the place of one."""
    pattern = rf"^module {re.escape(module)}\b.*?^endmodule$"
    changed, count = re.subn(pattern, lambda _: text, verilog, flags=re.DOTALL | re.MULTILINE)
    if count != 1:
        raise ValueError(f"{count} modules {module}")
    return changed


def handshakes(design: Stream, cycles: int, room: int, stays: bool = False) -> str:
    """An answer comes within `cycles`, with at most `room` requests under way.

    stays: a request that is offered is so until it is taken, as an answer is, and only where there is one
    need it be taken. The same count runs where nothing is under way and no request would be taken: who never
    answers again is late too.
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
    """By the registers that an answer is read from, or by the answer if there are none given.

    In two cycles from any state, in which static ports keep their values; or, with at most `room` requests
    under way, for ever from reset. known: registers of which it is proved, so that no state is looked at in
    which they would move.
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
    """For ever from reset: an answer stays until it is taken, beside it no request is, and behind it one can
    be at once.

    looks: or it is looked at first, and stays until it is taken.
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
    """now_0, ... of registers with their bits, each as one word: it may be a list of them."""
    return "\n".join(
        f"""\
  typedef logic {_range(nbits)} word_{now}_{i};
  word_{now}_{i} {now}_{i};
  assign {now}_{i} = word_{now}_{i}'({name});"""
        for i, (name, nbits) in enumerate(words.items())
    )


def _now_of_both(registers: Registers) -> str:
    """one_0, ... and two_0, ... of the same registers of two copies."""
    return "\n".join(
        _now({f"{copy}.{name}": nbits for name, nbits in registers.items()}, copy) for copy in ("one", "two")
    )


def _counted(design: Stream, room: int) -> str:
    """A copy whose requests under way are counted, up to so many; where there is none static ports may
    change, by inputs for that.
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
    """Static ports, and what changes them while not `busy`."""
    changes = [f"  always @(posedge clk) if (!({busy})) {name} <= next_{name};" for name, _ in design.statics]
    return "\n".join(f"  reg {bits} {name};" for name, bits in design.statics), "\n".join(changes)


def after_reset(design: Stream, streams: Lines) -> str:
    """Two copies in any states, in the cycle after a reset: units offer no answer, and are ready alike."""
    first = "  reg first = 1;\n  always @(posedge clk) first <= 0;\n  wire reset = first;"
    holds = [
        condition
        for stream in streams
        for condition in (
            f"first || !one.{stream}ostream__val",
            f"first || one.{stream}istream__rdy == two.{stream}istream__rdy",
        )
    ]
    return design.module([], [first, design.kept, design.pair("request", ("", ""))], [], holds)


def alone(design: Stream, registers: Registers) -> str:
    """In two cycles: the same request, whatever was before, and these registers are the same, which decide
    all that comes.

    Whether an answer would be taken in the cycle of the request is different too.
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
    """For ever from reset: this register never has this value."""
    holds = [f"reset || unit.{register} != {value}"]
    return design.module(design.next_statics, [_counted(design, 1)], [], holds)


def steady(
    design: Stream,
    registers: Registers,
    working: bool = False,
    unreached: Sequence[tuple[str, int]] = (),
) -> str:
    """In two cycles: two copies in the same state, without an answer or a new request, go on alike.

    Their streams may say anything. working: only copies that cannot take a request. unreached: registers,
    with a value that a register never has.
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
    """When a request can be taken, for ever from reset, and right behind it, whatever the static ports do.

    values, and bits, that registers have then; or, with `never`, do not have. looks: when one is not looked
    at yet, and none is under way.
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
    """After the first cycle all that the streams say is different; `waits`: whether an answer would be taken
    in the first.

    `paired`: the request is under way, and is answered within `cycles`; until then no other one is taken.
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
    """In one cycle: two copies with the same in these registers offer the same, whatever their streams
    say.
    """
    return design.module(
        design.other,
        [design.running, design.pair(), _now_of_both(registers)],
        [f"one_{i} == two_{i}" for i in range(len(registers))],
        ["answer_val_1 == answer_val_2", "!answer_val_1 || answer_1 == answer_2"],
    )


def one_request(design: Stream, cycles: int) -> str:
    """In so many cycles, from states in which a request can be taken; an answer that is offered is taken, all
    else is open.

    Where there is no request in the first cycle, one can be taken in the second.
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
    """The same from states in which a request would be looked at, and stays until it is taken."""
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
    """In one cycle, two copies in any two states: units of these names, from the request to the answer."""
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
    """One handshake, and a message that comes of the other alone."""
    return [f"{source[0]} == {sink[0]}", f"{source[1]} == {sink[1]}", f"!({source[2]}) || ({sink[2]})"]


def passed_on(design: Stream, parts: Lines) -> str:
    """In one cycle from any state: units of these names are joined by their streams, from the request to the
    answer, and by the reset.
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
    """In two cycles, of ports and registers with their bits; the modules and types of the other text get
    names of their own.
    """
    for match in re.findall(r"^(?:module|\}) (\w+)", other, re.MULTILINE):
        other = re.sub(rf"\b{match}\b", f"{match}{OTHER}", other)
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


def same_time(design: Stream, secret: Secret) -> str:
    """From reset, with requests that differ in the secret."""
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
    """The same in two cycles, from any two states in which registers are equal, and others have their highest
    1 at the same place.

    registers: with their bits; those without a reset begin alike. shown: one that is asked to be so in the
    second cycle, too; else all are, and the handshakes. A reset may come in any cycle, to both.
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
    """The same from states in which a request is taken, until it is answered; an answer that is offered is
    taken, all else is open.

    looks: in which it would be looked at, if there is one; it stays, and is taken by both at once.
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
    """Two copies whose requests differ in the secret, the inputs for that, and the assumptions on both."""
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
    """For ever from reset: any accepted request is answered with its status, and with 0 if that is not 0.

    status: of the fields of a request; ANY stands for all but 0. exactly: no other request has a status.
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
    """These words have their values in the first cycle of an answer.

    That is the last one of so many cycles from any state or, for 0, any cycle from reset. judged: a condition
    on the answers that are checked.
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
    """A slave of AXI4-Lite with these ports, from reset, around a machine with one request under way.

    control: the address of its word, and the bit that zeroises. constants: the request that overwrites the
    machine.
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
  reg now = 0, forgotten = 0, under_way = 0, overwrites = 0, due = 0;
  always @(posedge clk) begin
    now <= zeroises;
    forgotten <= zeroises | forgotten & !starts;
    under_way <= asks | under_way & !answers & !reset;
    if (asks) overwrites <= unit.machine.istream__msg == {constants};
    due <= zeroises | due & !(answers & overwrites);
  end""",
    ]
    return module(
        verilog,
        inputs,
        body,
        ["!unit.machine.ostream__val || under_way", "!unit.machine.istream__rdy || !under_way"],
        [
            "!now || unit.writes.operand == 0",
            "!forgotten || unit.reads.answer == 0",
            "!forgotten || !unit.reads.done",
            "!starts || !under_way",
            "!due || unit.control.busy",
        ],
    )


def _alike(one: str, two: str) -> str:
    """The highest 1 of both is at the same place, if there is any."""
    return f"({one} ^ {two}) <= ({one} & {two})"


def _range(nbits: int) -> str:
    return f"[{nbits - 1}:0]"


def _counter(name: str, most: int) -> str:
    """A register that counts from 0, with room for more."""
    return f"  reg {_range(most.bit_length() + 1)} {name} = 0;"


def _when(condition: str, items: Iterable[str]) -> list[str]:
    """The items where a condition holds."""
    return [f"!({condition}) || ({item})" for item in items]


def _same(registers: Iterable[str]) -> list[str]:
    """These registers are the same in two copies."""
    return [f"one.{name} == two.{name}" for name in registers]


def instance(top: str, name: str, pins: dict[str, str]) -> str:
    """Instantiate a module, with its pins connected."""
    return f"  {top} {name} ({', '.join(f'.{pin}({net})' for pin, net in pins.items())});"


def module(verilog: str, inputs: Lines, body: Lines, given: Lines, holds: Lines) -> str:
    """A bench behind the text that it is about; in each cycle conditions are assumed, and others asserted.

    An empty condition is none.
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
