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

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pymtl3 import Component

from ....rtl.sim.ports import Message, Ports
from .contract_lang import SPARE, Contract, default_nbits, word
from .ports import ports

ANY = 255  # an expected status that stands for all but 0
PIN = "_pin"  # of a port, whose name the number has that it is
OTHER = "_other"  # of modules of another text
INSTANCE = "  {top} {name} ({pins});"
RESET = """\
  reg started = 0;
  always @(posedge clk) started <= 1;
  wire reset = !started;"""


@dataclass(frozen=True)
class Stream:
    """A design with a stream of requests and one of answers, in SystemVerilog."""

    verilog: str
    top: str
    ports: Ports

    @property
    def request(self) -> str:
        return _range(self.ports.request.nbits)

    @property
    def answer(self) -> str:
        return _range(self.ports.response.nbits)

    def field(self, name: str) -> tuple[int, int]:
        """The highest and the lowest bit of a field of the request."""
        return _place(self.ports.request, name)

    def answered(self, name: str) -> str:
        """A field of the answer."""
        high, low = _place(self.ports.response, name)
        return f"answer[{high}:{low}]"

    def instance(
        self, name: str, request: str, suffix: str = "", reset: str = "reset", given: str = ""
    ) -> str:
        """One copy; `suffix`: of what it drives, `given`: of what the streams say to it."""
        pins = {
            "clk": "clk",
            "reset": reset,
            "istream__msg": request,
            "istream__val": f"request_val{given}",
            "istream__rdy": f"request_rdy{suffix}",
            "ostream__msg": f"answer{suffix}",
            "ostream__val": f"answer_val{suffix}",
            "ostream__rdy": f"answer_rdy{given}",
            **{item: item for item, _ in self.ports.statics},
        }
        driven = f"  wire request_rdy{suffix}, answer_val{suffix};\n  wire {self.answer} answer{suffix};\n"
        return driven + instance(self.top, name, pins)

    def module(self, inputs: Sequence[str], body: Sequence[str]) -> str:
        """The bench behind the design."""
        declared = [
            "input clk",
            "input request_val",
            f"input {self.request} request",
            "input answer_rdy",
            *inputs,
        ]
        return module(self.verilog, declared, body)

    def fields(self, conditions: Sequence[str] | None = None) -> list[str]:
        """Fields of the request as numbers by their names, with room for a sum; or those in `conditions`."""
        named = None if conditions is None else set(re.findall(r"\w+", " ".join(conditions)))
        number = _range(self.ports.request.nbits + SPARE)
        if not self.ports.request.fields:
            return []
        names = [name for name, _ in self.ports.request.fields if named is None or name in named]
        places = [(name, *self.field(name)) for name in names]
        return [f"  wire {number} {name} = request[{high}:{low}];" for name, high, low in places]

    def statics(self) -> Iterator[tuple[str, str]]:
        for name, kind in self.ports.statics:
            yield name, _range(kind.nbits)


@dataclass(frozen=True)
class Secret:
    """The fields in which the requests of two machines differ.

    lengths: the highest 1 of `field` is at the same place in both. also: further fields, each with a
    condition that both requests meet, or neither.
    """

    field: str
    lengths: bool = False
    also: Mapping[str, str] = dataclasses.field(default_factory=dict)


def _place(message: Message, name: str) -> tuple[int, int]:
    """The highest and the lowest bit of a field."""
    low = message.nbits
    for field, nbits in message.fields:
        low -= nbits
        if field == name:
            return low + nbits - 1, low
    raise KeyError(name)


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
        body.append("  reg begun = 0;\n  always @(posedge clk) begun <= 1;")
        holds = [f"!begun || ({hold})" for hold in said.holds]
        given = [f"!begun || ({item})" for item in said.given]
    else:
        body.append(instance(top, "unit", pins))
        holds, given = list(said.holds), list(said.given)
    inputs += [f"input {number} {name}" for name in said.free]
    body += [f"  wire {number} {name} = {value};" for name, value in said.lines.items()]
    for name, text in said.instead.items():
        verilog = with_module(verilog, name, text)
    return module(verilog, inputs, [*body, *always(given, holds)])


def with_module(verilog: str, module: str, text: str) -> str:
    """The text with another module in the place of one."""
    pattern = rf"^module {re.escape(module)}\n.*?^endmodule$"
    changed, count = re.subn(pattern, lambda _: text, verilog, flags=re.DOTALL | re.MULTILINE)
    if count != 1:
        raise ValueError(f"{count} modules {module}")
    return changed


def handshakes(design: Stream, given: Sequence[str], cycles: int, room: int, stays: bool = False) -> str:
    """`given` is assumed of a request that is taken; an answer comes within `cycles`, with at most `room`
    requests under way.

    stays: a request that is offered is so until it is taken, as an answer is, and only where there is one
    need it be taken. The same count runs where nothing is under way and no request would be taken: who never
    answers again is late too.
    """
    unit, inputs = _counted(design, room)
    idle = "request_rdy | !request_val" if stays else "request_rdy"
    body = [
        *unit,
        *design.fields(given),
        f"  reg {_range(cycles.bit_length() + 1)} waited = 0;",
        "  always @(posedge clk)",
        f"    waited <= reset | answer_val | (under_way == 0 & ({idle})) ? 0 : waited + 1;",
        *(_refused(design) if stays else []),
        *always(
            [
                *([STAYS] if stays else []),
                *(f"!takes || ({item})" for item in given),
            ],
            [
                "reset || !answer_val || under_way != 0",
                f"reset || under_way <= {room}",
                f"reset || waited < {cycles}",
            ],
        ),
    ]
    return design.module(inputs, body)


STAYS = "!refused || (request_val && request == request_before)"


def _refused(design: Stream) -> list[str]:
    """A request that was offered in the cycle before, and not taken; for `STAYS`."""
    return [
        f"  reg refused = 0; reg {design.request} request_before;",
        "  always @(posedge clk) begin",
        "    refused <= request_val & !request_rdy & !reset;",
        "    request_before <= request;",
        "  end",
    ]


def held(
    design: Stream,
    registers: Mapping[str, int],
    room: int = 0,
    known: Mapping[str, int] = MappingProxyType({}),
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
    alone = ["  wire reset = 0;", *_kept(design), design.instance("unit", "request")]
    unit, inputs = _counted(design, room) if room else (alone, [])
    stays = [f"!offered || now_{i} == kept_{i}" for i in range(len(words))]
    body = [
        *unit,
        "  reg offered = 0;",
        *_now(words),
        *(f"  word_now_{i} kept_{i};" for i in range(len(words))),
        "  always @(posedge clk) begin",
        "    offered <= answer_val & !answer_rdy & !reset;",
        *(f"    kept_{i} <= now_{i};" for i in range(len(words))),
        "  end",
        *always(stays[: len(known)], stays[len(known) :]),
    ]
    return design.module(inputs, body)


def between(design: Stream, looks: bool = False) -> str:
    """For ever from reset: an answer stays until it is taken, beside it no request is, and behind it one can
    be at once.

    looks: or it is looked at first, and stays until it is taken.
    """
    unit, inputs = _counted(design, 1)
    ready = "" if looks else "request_rdy && "
    body = [
        *unit,
        *(_refused(design) if looks else []),
        "  reg offered = 0, over = 0;",
        "  always @(posedge clk) begin",
        "    offered <= answer_val & !answer_rdy & !reset;",
        "    over <= answer_val & answer_rdy & !reset;",
        "  end",
        *always(
            [STAYS] if looks else [],
            [
                "reset || !offered || answer_val",
                f"reset || !over || ({ready}!answer_val)",
                "reset || !(answer_val && request_rdy)",
            ],
        ),
    ]
    return design.module(inputs, body)


def _now(words: Mapping[str, int], now: str = "now") -> Iterator[str]:
    """now_0, ... of registers with their bits, each as one word: it may be a list of them."""
    for i, (name, nbits) in enumerate(words.items()):
        word = f"word_{now}_{i}"
        yield (
            f"  typedef logic {_range(nbits)} {word};\n  {word} {now}_{i};\n  assign {now}_{i} = "
            f"{word}'({name});"
        )


def _counted(design: Stream, room: int) -> tuple[list[str], list[str]]:
    """A copy whose requests under way are counted, up to so many; where there is none static ports may
    change, by inputs for that.
    """
    statics = list(design.statics())
    count = _range(room.bit_length() + 1)
    body = [
        RESET,
        *(f"  reg {bits} {name};" for name, bits in statics),
        design.instance("unit", "request"),
        "  wire takes = request_val & request_rdy & !reset, gives = answer_val & answer_rdy & !reset;",
        f"  reg {count} under_way = 0;",
        f"  wire {count} left = under_way - gives;",
        "  always @(posedge clk) begin",
        "    under_way <= left + takes;",
        *(f"    if (left == 0 && !takes) {name} <= next_{name};" for name, _ in statics),
        "  end",
    ]
    return body, [f"input {bits} next_{name}" for name, bits in statics]


def _kept(design: Stream) -> list[str]:
    """Static ports of any value that they keep."""
    return [
        f"  reg {bits} {name};\n  always @(posedge clk) {name} <= {name};" for name, bits in design.statics()
    ]


def _open(design: Stream, busy: str) -> tuple[list[str], list[str], list[str]]:
    """Static ports, what changes them while not `busy`, and the inputs for that."""
    statics = list(design.statics())
    changes = [f"  always @(posedge clk) if (!({busy})) {name} <= next_{name};" for name, _ in statics]
    declared = [f"  reg {bits} {name};" for name, bits in statics]
    return declared, changes, [f"input {bits} next_{name}" for name, bits in statics]


def after_reset(design: Stream, streams: Sequence[str]) -> str:
    """Two copies in any states, in the cycle after a reset: units offer no answer, and are ready alike."""
    body = [
        "  reg first = 1;\n  always @(posedge clk) first <= 0;\n  wire reset = first;",
        *_kept(design),
        design.instance("one", "request", "_1"),
        design.instance("two", "request", "_2"),
        *always(
            [],
            [
                condition
                for stream in streams
                for condition in (
                    f"first || !one.{stream}ostream__val",
                    f"first || one.{stream}istream__rdy == two.{stream}istream__rdy",
                )
            ],
        ),
    ]
    return design.module([], body)


def alone(design: Stream, given: Sequence[str], registers: Mapping[str, int]) -> str:
    """In two cycles: the same request, whatever was before, and these registers are the same, which decide
    all that comes.

    Whether an answer would be taken in the cycle of the request is different too.
    """
    body = [
        *_kept(design),
        *design.fields(given),
        "  wire request_val_other = request_val;",
        design.instance("one", "request", "_1", "1'b0"),
        design.instance("two", "request", "_2", "1'b0", "_other"),
        "  reg taken = 0;",
        "  always @(posedge clk) taken <= request_val & request_rdy_1 & request_rdy_2;",
        *always(
            [f"!request_val || ({item})" for item in given],
            [f"!taken || one.{name} == two.{name}" for name in registers],
        ),
    ]
    return design.module(["input answer_rdy_other"], body)


def never(design: Stream, register: str, value: int) -> str:
    """For ever from reset: this register never has this value."""
    unit, inputs = _counted(design, 1)
    return design.module(inputs, [*unit, *always([], [f"reset || unit.{register} != {value}"])])


def steady(
    design: Stream,
    registers: Mapping[str, int],
    working: bool = False,
    unreached: Sequence[tuple[str, int]] = (),
) -> str:
    """In two cycles: two copies in the same state, without an answer or a new request, go on alike.

    Their streams may say anything. working: only copies that cannot take a request. unreached: registers,
    with a value that a register never has.
    """
    idle = " & !request_rdy_1" if working else ""
    body = [
        *_kept(design),
        design.instance("one", "request", "_1", "1'b0"),
        design.instance("two", "request_other", "_2", "1'b0", "_other"),
        "  reg busy = 0, begun = 0;",
        "  wire takes = request_val & request_rdy_1 | request_val_other & request_rdy_2;",
        "  always @(posedge clk) begin",
        "    begun <= 1;",
        f"    busy <= !answer_val_1 & !takes{idle};",
        "  end",
        *always(
            [
                *(f"begun || one.{name} == two.{name}" for name in registers),
                *(f"one.{name} != {value}" for name, value in unreached),
            ],
            [f"!busy || one.{name} == two.{name}" for name in registers],
        ),
    ]
    return design.module(_other(design), body)


def idle(
    design: Stream, values: Mapping[str, tuple[int, int]], never: bool = False, looks: bool = False
) -> str:
    """When a request can be taken, for ever from reset, and right behind it, whatever the static ports do.

    values, and bits, that registers have then; or, with `never`, do not have. looks: when one is not looked
    at yet, and none is under way.
    """
    if looks:
        unit, inputs = _counted(design, 1)
        unit += [*_refused(design), "  reg over = 0;\n  always @(posedge clk) over <= gives;"]
    else:
        unit = [RESET, design.instance("unit", "request")]
        inputs = [f"input {bits} {name}" for name, bits in design.statics()]
    rests = "over || (under_way == 0 && !refused)" if looks else "request_rdy"
    body = [
        *unit,
        "  reg begins = 0;\n  always @(posedge clk) begins <= reset;",
        *_now({f"unit.{name}": nbits for name, (_, nbits) in values.items()}),
        *always(
            [STAYS] if looks else [],
            [
                f"reset || !(begins || ({rests})) || now_{i} {'!=' if never else '=='} {value}"
                for i, (value, _) in enumerate(values.values())
            ],
        ),
    ]
    return design.module(inputs, body)


def same_answer(design: Stream, given: Sequence[str], cycles: int, waits: tuple[int, int]) -> str:
    """After the first cycle all that the streams say is different; `waits`: whether an answer would be taken
    in the first.

    `paired`: the request is under way, and is answered within `cycles`; until then no other one is taken.
    """
    body = [
        "  wire reset = 0;",
        *_kept(design),
        *design.fields(given),
        "  reg first = 1, paired = 0;",
        f"  reg {_range(cycles.bit_length() + 1)} age = 0;",
        "  wire request_val_one = first | request_val, request_val_two = first | request_val_other;",
        f"  wire {design.request} request_two = first ? request : request_other;",
        f"  wire answer_rdy_one = first ? {waits[0]} : answer_rdy, answer_rdy_two = first ? {waits[1]} : "
        "answer_rdy_other;",
        design.instance("one", "request", "_1", given="_one"),
        design.instance("two", "request_two", "_2", given="_two"),
        "  always @(posedge clk) begin",
        "    first <= 0;",
        "    age <= age + 1;",
        "    paired <= first ? request_rdy_1 & request_rdy_2 : paired & !answer_val_1;",
        "  end",
        *always(
            [f"!first || ({item})" for item in given],
            [
                "!paired || answer_val_1 == answer_val_2",
                "!paired || !answer_val_1 || answer_1 == answer_2",
                "!paired || answer_val_1 || !(request_rdy_1 | request_rdy_2)",
                f"!paired || age < {cycles} || answer_val_1",
            ],
        ),
    ]
    return design.module(_other(design), body)


def at_once(design: Stream, registers: Mapping[str, int]) -> str:
    """In one cycle: two copies with the same in these registers offer the same, whatever their streams
    say.
    """
    body = [
        "  wire reset = 0;",
        *_kept(design),
        design.instance("one", "request", "_1"),
        design.instance("two", "request_other", "_2", given="_other"),
        *_now({f"one.{name}": nbits for name, nbits in registers.items()}, "one"),
        *_now({f"two.{name}": nbits for name, nbits in registers.items()}, "two"),
        *always(
            [f"one_{i} == two_{i}" for i in range(len(registers))],
            ["answer_val_1 == answer_val_2", "!answer_val_1 || answer_1 == answer_2"],
        ),
    ]
    return design.module(_other(design), body)


def one_request(design: Stream, given: Sequence[str], cycles: int) -> str:
    """In so many cycles, from states in which a request can be taken; an answer that is offered is taken, all
    else is open.

    Where there is no request in the first cycle, one can be taken in the second.
    """
    body = [
        "  wire reset = 0;",
        *_kept(design),
        *design.fields(given),
        "  reg first = 1, paired = 0, ready = 0;",
        f"  reg {_range(cycles.bit_length() + 1)} age = 0;",
        design.instance("unit", "request"),
        "  always @(posedge clk) begin",
        "    first <= 0;",
        "    age <= age + 1;",
        "    paired <= first ? request_val : paired & !answer_val;",
        "    ready <= first ? !request_val : paired & answer_val;",
        "  end",
        *always(
            ["!answer_val || answer_rdy", *(f"!first || !request_val || ({item})" for item in given)],
            [
                "!first || (request_rdy && !answer_val)",
                "!ready || (request_rdy && !answer_val)",
                "!paired || !request_rdy",
                f"!paired || age < {cycles} || answer_val",
            ],
        ),
    ]
    return design.module([], body)


def one_looked_at(design: Stream, given: Sequence[str], cycles: int) -> str:
    """The same from states in which a request would be looked at, and stays until it is taken."""
    statics, changes, inputs = _open(design, "under_way || (request_val && request_rdy)")
    body = [
        "  wire reset = 0;",
        *statics,
        *design.fields(given),
        "  reg first = 1, asked = 0, under_way = 0, over = 0;",
        f"  reg {_range(cycles.bit_length() + 1)} age = 0;",
        design.instance("unit", "request"),
        *_refused(design),
        *changes,
        "  always @(posedge clk) begin",
        "    first <= 0;",
        "    age <= age + 1;",
        "    asked <= first ? request_val : asked;",
        "    under_way <= request_val & request_rdy | under_way & !answer_val;",
        "    over <= over | under_way & answer_val;",
        "  end",
        *always(
            [
                "!answer_val || answer_rdy",
                STAYS,
                *(f"!(request_val && request_rdy) || ({item})" for item in given),
            ],
            [
                "over || under_way || !answer_val",
                "over || !under_way || !request_rdy",
                f"!(first ? request_val : asked) || over || age < {cycles} || (under_way && answer_val)",
            ],
        ),
    ]
    return design.module(inputs, body)


def row(design: Stream, parts: Sequence[tuple[str, Stream]]) -> str:
    """In one cycle, two copies in any two states: units of these names, from the request to the answer."""
    body = [
        "  wire reset = 0;",
        *_kept(design),
        design.instance("one", "request", "_1"),
        design.instance("two", "request_other", "_2", given="_other"),
    ]
    before = ["request_val", "request_rdy_1", "request == request_other"]
    holds = []
    for name, part in parts:
        for static, _ in part.ports.statics:
            holds.append(f"one.{name}.{static} == two.{name}.{static}")
        message = f"one.{name}.istream__msg == two.{name}.istream__msg"
        holds += _joined(before, [f"one.{name}.istream__val", f"one.{name}.istream__rdy", message])
        before = [
            f"one.{name}.ostream__val",
            f"one.{name}.ostream__rdy",
            f"one.{name}.ostream__msg == two.{name}.ostream__msg",
        ]
    holds += _joined(before, ["answer_val_1", "answer_rdy", "answer_1 == answer_2"])
    return design.module(_other(design), [*body, *always([], holds)])


def passed_on(design: Stream, parts: Sequence[str]) -> str:
    """In one cycle from any state: units of these names are joined by their streams, from the request to the
    answer, and by the reset.
    """
    body = [
        *_kept(design),
        design.instance("unit", "request"),
    ]
    before = ["request_val", "request_rdy", "request"]
    holds = [f"unit.{name}.reset == reset" for name in parts]
    ends = [(f"unit.{name}.istream", f"unit.{name}.ostream") for name in parts]
    pins = ("val", "rdy", "msg")
    for into, out in ends:
        holds += [f"{one} == {into}__{pin}" for one, pin in zip(before, pins, strict=True)]
        before = [f"{out}__{pin}" for pin in pins]
    holds += [
        f"{one} == {two}" for one, two in zip(before, ("answer_val", "answer_rdy", "answer"), strict=True)
    ]
    return design.module(["input reset"], [*body, *always([], holds)])


def _joined(source: Sequence[str], sink: Sequence[str]) -> list[str]:
    """One handshake, and a message that comes of the other alone."""
    return [f"{source[0]} == {sink[0]}", f"{source[1]} == {sink[1]}", f"!({source[2]}) || ({sink[2]})"]


def same(
    verilog: str,
    other: str,
    top: str,
    inputs: Mapping[str, int],
    outputs: Mapping[str, int],
    registers: Mapping[str, int],
) -> str:
    """In two cycles, of ports and registers with their bits; the modules and types of the other text get
    names of their own.
    """
    for match in re.findall(r"^(?:module|\}) (\w+)", other, re.MULTILINE):
        other = re.sub(rf"\b{match}\b", f"{match}{OTHER}", other)
    body = ["  reg begun = 0;\n  always @(posedge clk) begun <= 1;"]
    for name, which in (("one", top), ("two", f"{top}{OTHER}")):
        shown = {output: f"{output}_{name}" for output in outputs}
        body += [f"  wire {_range(outputs[item])} {net};" for item, net in shown.items()]
        body.append(instance(which, name, {**{item: item for item in inputs}, **shown}))
    kept = [f"one.{name} == two.{name}" for name in registers]
    body += always(
        [f"begun || {item}" for item in kept],
        [*(f"{name}_one == {name}_two" for name in outputs), *(f"!begun || {item}" for item in kept)],
    )
    clock = [] if "clk" in inputs else ["input clk"]
    declared = [f"input {_range(nbits)} {name}" for name, nbits in inputs.items()]
    return module(f"{verilog}\n{other}", [*clock, *declared], body)


def same_time(design: Stream, secret: Secret) -> str:
    """From reset, with requests that differ in the secret."""
    requests, inputs, alike = _two_secrets(design, secret)
    body = [
        RESET,
        *requests,
        *always(
            alike,
            ["reset || request_rdy_1 == request_rdy_2", "reset || answer_val_1 == answer_val_2"],
        ),
    ]
    return design.module(inputs, body)


def same_pace(
    design: Stream,
    secret: Secret,
    registers: Mapping[str, int],
    relation: tuple[Sequence[str], Sequence[str]],
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
    body = [
        *requests,
        *_now({f"one.{name}": nbits for name, nbits in registers.items()}, "one"),
        *_now({f"two.{name}": nbits for name, nbits in registers.items()}, "two"),
        "  reg begun = 0;\n  always @(posedge clk) begun <= 1;",
        *always(
            [
                *conditions,
                *(f"begun || {item}" for item in kept.values()),
            ],
            [
                *([] if shown else handshakes),
                *(f"!begun || {item}" for name, item in kept.items() if shown in ("", name)),
            ],
        ),
    ]
    return design.module(["input reset", *inputs], body)


def same_latency(design: Stream, secret: Secret, looks: bool = False) -> str:
    """The same from states in which a request is taken, until it is answered; an answer that is offered is
    taken, all else is open.

    looks: in which it would be looked at, if there is one; it stays, and is taken by both at once.
    """
    requests, inputs, conditions = _two_secrets(design, secret, given="_now")
    statics, changes, following = _open(design, "taken || (request_val && request_rdy_1)")
    ready = (
        "!(first || paired) || request_rdy_1 == request_rdy_2"
        if looks
        else "!first || (request_rdy_1 && request_rdy_2)"
    )
    stays = [
        f"  reg refused = 0, taken = 0; reg {design.request} request_before, other_before;",
        "  always @(posedge clk) begin",
        "    refused <= request_val & !request_rdy_1;",
        "    taken <= request_val & request_rdy_1 | taken & !answer_val_1;",
        "    request_before <= request;",
        "    other_before <= request_other;",
        "  end",
        *changes,
    ]
    asked = "request_val" if looks else "(first | request_val)"
    body = [
        "  wire reset = 0;",
        *(statics if looks else _kept(design)),
        "  reg first = 1, paired = 0;",
        f"  wire request_val_now = {asked}, answer_rdy_now = answer_rdy;",
        *requests,
        *(stays if looks else []),
        "  always @(posedge clk) begin",
        "    first <= 0;",
        "    paired <= first ? request_val_now : paired & !answer_val_1;",
        "  end",
        *always(
            [
                "!(answer_val_1 || answer_val_2) || answer_rdy",
                *([STAYS, "!refused || request_other == other_before"] if looks else []),
                *conditions,
            ],
            [ready, "!paired || answer_val_1 == answer_val_2"],
        ),
    ]
    return design.module([*inputs, *(following if looks else [])], body)


def _other(design: Stream) -> list[str]:
    """The inputs of a second copy whose streams say something else."""
    return ["input request_val_other", f"input {design.request} request_other", "input answer_rdy_other"]


def _two_secrets(design: Stream, secret: Secret, given: str = "") -> tuple[list[str], list[str], list[str]]:
    """Two copies whose requests differ in the secret, the inputs for that, and the assumptions on both."""
    also = secret.also
    others = {secret.field: "other"} | {name: f"other_{name}" for name in also}
    places = {name: design.field(name) for name, _ in design.ports.request.fields}
    words = [others.get(name, f"request[{high}:{low}]") for name, (high, low) in places.items()]
    high, low = places[secret.field]
    body = [
        f"  wire {design.request} request_other = {{{', '.join(words)}}};",
        f"  wire {_range(high - low + 1)} secret = request[{high}:{low}];",
        *design.fields([condition.format(**{name: name}) for name, condition in also.items()]),
        design.instance("one", "request", "_1", given=given),
        design.instance("two", "request_other", "_2", given=given),
    ]
    inputs = [
        f"input {_range(places[name][0] - places[name][1] + 1)} {other}" for name, other in others.items()
    ]
    assumed = [_alike("secret", "other")] if secret.lengths else []
    for name, condition in also.items():
        one, two = (condition.format(**{name: value}) for value in (name, others[name]))
        assumed.append(f"({one}) == ({two})")
    return body, inputs, assumed


def refusals(design: Stream, status: str, room: int, exactly: bool) -> str:
    """For ever from reset: any accepted request is answered with its status, and with 0 if that is not 0.

    status: of the fields of a request; ANY stands for all but 0. exactly: no other request has a status.
    """
    unit, inputs = _counted(design, room)
    answered, result = design.answered("status"), design.answered("result")
    fits = f"(expected == {ANY} ? {answered} != 0 : {answered} == expected)"
    count = _range(room.bit_length() + 1)
    body = [
        *unit,
        *_refused(design),
        *design.fields(),
        f"  reg followed = 0; reg {count} ahead = 0; reg [7:0] expected = 0;",
        "  always @(posedge clk)",
        "    if (takes & chosen & !followed) begin",
        "      followed <= 1;",
        "      ahead <= left;",
        f"      expected <= {status};",
        "    end else if (followed & gives) begin",
        "      followed <= ahead != 0;",
        "      ahead <= ahead - 1;",
        "    end",
        "  wire judged = followed & answer_val & ahead == 0;",
        *always(
            [STAYS, *(["chosen"] if room == 1 else [])],
            [
                f"!judged || {'' if exactly else 'expected == 0 || '}{fits}",
                f"!judged || expected == 0 || {result} == 0",
            ],
        ),
    ]
    return design.module([*inputs, "input chosen"], body)


def wiped(design: Stream, words: Mapping[str, tuple[int, int]], cycles: int, judged: str) -> str:
    """These words have their values in the first cycle of an answer.

    That is the last one of so many cycles from any state or, for 0, any cycle from reset. judged: a condition
    on the answers that are checked.
    """
    age = _range(cycles.bit_length() + 1)
    begins = (
        ["  wire reset = 0;", f"  reg {age} age = 0;\n  always @(posedge clk) age <= age + 1;"]
        if cycles
        else [RESET]
    )
    late = f"age < {cycles - 1}" if cycles else "reset"
    body = [
        *begins,
        *_kept(design),
        design.instance("unit", "request"),
        *_refused(design),
        *_now({f"unit.{name}": nbits for name, (_, nbits) in words.items()}),
        "  reg offered = 0;",
        "  always @(posedge clk) offered <= answer_val & !answer_rdy;",
        f"  wire judged = answer_val & !offered & ({judged});",
        *always(
            [STAYS],
            [
                f"{late} || !judged || now_{i} == {nbits}'d{value}"
                for i, (value, nbits) in enumerate(words.values())
            ],
        ),
    ]
    return design.module([], body)


def zeroised(
    verilog: str,
    top: str,
    wires: Sequence[tuple[str, int, bool]],
    control: tuple[int, int, int],
    constants: str,
    words: tuple[int, int],
) -> str:
    """A slave of AXI4-Lite with these ports, from reset, around a machine with one request under way.

    control: the address of its word, and the bits that start and zeroise. constants: the request that
    overwrites the machine. words: the number of words of the operands, and of the result.
    """
    address, start, zeroise = control
    inputs = ["input clk", *(f"input {_range(nbits)} {name}" for name, nbits, is_input in wires if is_input)]
    body = [
        RESET,
        *(f"  wire {_range(nbits)} {name};" for name, nbits, is_input in wires if not is_input),
        instance(top, "unit", {"clk": "clk", "reset": "reset", **{name: name for name, _, _ in wires}}),
        f"  wire commanded = unit.write && unit.aw == {address} && !reset;",
        f"  wire zeroises = commanded && unit.data[{zeroise}];",
        f"  wire starts = commanded && unit.data[{start}] && !unit.data[{zeroise}] && !unit.refused;",
        "  wire asks = unit.machine.istream__val & unit.machine.istream__rdy & !reset;",
        "  wire answers = unit.machine.ostream__val & unit.machine.ostream__rdy & !reset;",
        "  reg now = 0, forgotten = 0, under_way = 0, overwrites = 0, due = 0;",
        "  always @(posedge clk) begin",
        "    now <= zeroises;",
        "    forgotten <= zeroises | forgotten & !starts;",
        "    under_way <= asks | under_way & !answers & !reset;",
        f"    if (asks) overwrites <= unit.machine.istream__msg == {constants};",
        "    due <= zeroises | due & !(answers & overwrites);",
        "  end",
        *always(
            ["!unit.machine.ostream__val || under_way", "!unit.machine.istream__rdy || !under_way"],
            [
                *(f"!now || unit.words[{i}] == 0" for i in range(words[0])),
                *(f"!forgotten || unit.result[{i}] == 0" for i in range(words[1])),
                "!forgotten || !unit.done",
                "!starts || !under_way",
                "!due || unit.busy",
            ],
        ),
    ]
    return module(verilog, inputs, body)


def _alike(one: str, two: str) -> str:
    """The highest 1 of both is at the same place, if there is any."""
    return f"({one} ^ {two}) <= ({one} & {two})"


def _range(nbits: int) -> str:
    return f"[{nbits - 1}:0]"


def instance(top: str, name: str, pins: dict[str, str]) -> str:
    """Instantiate a module, with its pins connected."""
    return INSTANCE.format(top=top, name=name, pins=", ".join(f".{pin}({net})" for pin, net in pins.items()))


def always(given: Sequence[str], holds: Sequence[str]) -> list[str]:
    """Assume conditions in each cycle, and assert others."""
    return [
        "  always @* begin",
        *(f"    assume ({item});" for item in given),
        *(f"    assert ({hold});" for hold in holds),
        "  end",
    ]


def module(verilog: str, inputs: Sequence[str], body: Sequence[str]) -> str:
    """A bench behind the text that it is about."""
    return "\n".join([verilog, f"module proof ({', '.join(inputs)});", *body, "endmodule", ""])
