"""Program: the steps of an operation as states of the adapter, whatever the protocol.

Each protocol is spelled out in steps, and each step becomes one state or a few. A state says what the core's inputs have in it, and
when it ends; text in it is Verilog over the adapter's registers (adapter.py): f_NAME a field of the request, c_NAME an output of the
core, index and count the turns of a loop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from ....fl.errors import BadInput, unknown
from ...papers.expression import Expression
from .manifest import Handshake, Manifest, Step, Value, mapping
from .ports import Port
from .quantities import OPERANDS, Field, number
from .toml_lines import Path

COUNT_NBITS = 16  # of the turns of a loop
RESULT = "result"
CONDITION = re.compile(r"\s*(!?)\s*([A-Za-z_]\w*)\s*(?:\[([^\]]+)\])?\s*(?:==\s*(\w+))?\s*")
SLICE = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^:\]]+)(?::([^\]]+))?\])?\s*")
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Loop:
    """Turns, perhaps over the words of a number; `count` and `word`, the number of the word in a turn, are Verilog."""

    number: int
    count: str
    first: int  # state
    of: str = ""  # a field, or the result
    word: str = "0"
    padded: int = 0  # bits of all words


@dataclass
class State:
    """One state. Drives: Verilog by input. It ends when all `until` hold, all sends were taken, and `cycles` are over."""

    step: int  # index among the places of the program, for messages
    drives: dict[str, str] = field(default_factory=dict)
    until: list[str] = field(default_factory=list)
    sends: list[tuple[str, str]] = field(default_factory=list)  # valid, and Verilog of ready
    cycles: int = 1
    take: str = ""  # Verilog of what is the answer, or a word of it
    into: str = ""  # number of the word; "": all
    reset: bool = False
    back: int | None = None  # state to go to unless `match` holds, or while the loop has turns
    match: str = ""
    loop: Loop | None = None  # whose last state it is
    starts: bool = False
    ends: bool = False


@dataclass(frozen=True)
class Place:
    """Of a step, for messages: its line, and what it waits for."""

    line: int
    waits: str


@dataclass
class Program:
    """All states; the fields that they use; their loops."""

    fields: dict[str, Field]
    states: list[State] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)  # Verilog of inputs whenever no state says otherwise
    result_nbits: int = 0
    word_nbits: int = 32
    used: set[str] = field(default_factory=set)  # fields


class Compiler:
    """Steps into states, for a manifest at one width."""

    def __init__(self, manifest: Manifest, known: Mapping[str, Any], ports: Mapping[str, Port]) -> None:
        """known: nbits, w and the parameters with their values."""
        self.manifest, self.known, self.ports = manifest, known, ports
        nbits, limits = known["nbits"], manifest.of.limits
        # as narrow as the limits allow, so that a port for a short exponent is wide enough
        longest = min(nbits, self._number(limits.modulus_nbits, ("limits", "modulus_nbits")))
        widths = {
            "base": longest if limits.reduced_base else nbits,
            "exp": min(nbits, self._number(limits.exponent_nbits, ("limits", "exponent_nbits"))),
            "mod": longest,
        }
        fields = {name: Field(name, widths[name]) for name in OPERANDS}
        for name, each in manifest.of.prepare.items():
            path: Path = ("prepare", name)
            text, wide = (each, nbits) if isinstance(each, str) else (each.value, each.nbits)
            if name in (*fields, *known) or not NAME.fullmatch(name):
                raise manifest.error(path, f"{name} is a name that is taken, or none; give another")
            fields[name] = Field(
                name, self._number(wide, path), self._expression(text, path, ()), self._where(path)
            )
        self.program = Program(fields, result_nbits=nbits, word_nbits=known["w"])
        self._loop: Loop | None = None
        self._held: dict[str, str] = {}  # by `set`
        self._keys: Mapping[str, str] = {}  # of a step that stands for a table, by those of the step

    # ---- the whole

    def compiled(self) -> Program:
        """The program of this manifest."""
        of, program = self.manifest.of, self.program
        for name in (of.clock.port, *([of.reset.port] if of.reset else [])):
            path: Path = ("clock",) if name == of.clock.port else ("reset",)
            self._input(name, (*path, "port"))
            if self.ports[name].nbits != 1:
                raise self.manifest.error(
                    (*path, "port"), f"{name} has {self.ports[name].nbits} bits, and one is wanted here"
                )
        for name, value in of.ports.items():
            path = ("ports", name)
            self._input(name, path)
            program.held[name] = self._value(value, self.ports[name].nbits, path, name)
        if of.protocol == "start-done":
            self._start_done()
        elif of.protocol == "stream":
            self._stream()
        else:
            for index, step in enumerate(of.step):
                self._step(step, ("step", index))
        if not any(state.take for state in program.states):
            raise self.manifest.error(
                ("protocol",), "no step takes the answer: give one with `take`, or a `read`"
            )
        self._all_driven()
        return program

    def _all_driven(self) -> None:
        of = self.manifest.of
        driven = {
            of.clock.port,
            *self.program.held,
            *(name for state in self.program.states for name in state.drives),
        }
        driven |= {valid for state in self.program.states for valid, _ in state.sends}
        driven |= {of.reset.port} if of.reset else set()
        for name, port in self.ports.items():
            if port.direction == "INOUT":
                raise self.manifest.error(
                    ("top",),
                    f"{of.top} has the port {name}, which goes both ways; wrap the core in a module without",
                )
            if port.direction == "INPUT" and name not in driven:
                raise self.manifest.error(
                    ("ports",),
                    f"{of.top} has the input {name}, and nothing drives it: say in [ports] what it gets, as in {name} = 0",
                )

    # ---- protocols that are spelled out

    def _start_done(self) -> None:
        told = self.manifest.of.start_done
        assert told is not None
        at: Path = ("start_done",)
        self._keys = {"pulse": "start", "wait": "done", "take": "result"}
        start = mapping(told.start)
        level = start if told.level else {}
        if told.before:
            self._step(
                Step(wait=told.before, note="the core to be free before the start"), at, (*at, "before")
            )
        self._step(Step(pulse=start, mark="start"), at, (*at, "start"))
        if told.gap:
            self._step(Step(pulse=level, cycles=told.gap), at, (*at, "gap"))
        if told.done_falls:
            conditions = [told.done] if isinstance(told.done, str) else told.done
            not_done = [self._condition(each, (*at, "done"))[0] for each in conditions]
            state = self._state(at, f"{told.done} to fall after the start", (*at, "done"))
            state.drives = self._drives(level, (*at, "start"))
            state.until = [f"!({' && '.join(not_done)})"]
        self._step(Step(pulse=level, wait=told.done, take=told.result, mark="done"), at, (*at, "done"))

    def _stream(self) -> None:
        told = self.manifest.of.stream
        assert told is not None
        self._keys = {"pulse": "ports", "send": "valid"}
        beside = [(index, each) for index, each in enumerate(told.send) if not each.each]
        if beside:
            ports = {name: value for _, each in beside for name, value in each.ports.items()}
            sends = [Handshake(each.valid, each.ready) for _, each in beside]
            at: Path = ("stream", "send", beside[0][0])
            mark: Any = "" if len(beside) < len(told.send) else "start"
            self._step(Step(pulse=ports, send=sends, mark=mark), at)
        for index, each in enumerate(told.send):
            if each.each:
                step = Step(
                    pulse=each.ports,
                    send=[Handshake(each.valid, each.ready)],
                    each=each.each,
                    count=each.count,
                    order=each.order,
                    mark="start" if index == len(told.send) - 1 else "",
                )
                self._step(step, ("stream", "send", index))
        receive = told.receive
        self._keys = {"pulse": "ready", "wait": "valid"}
        pulse: dict[str, Value] = {receive.ready: 1} if receive.ready else {}
        step = Step(
            pulse=pulse,
            wait=receive.valid,
            take=receive.take,
            each=receive.each,
            count=receive.count,
            order=receive.order,
            mark="done",
        )
        self._step(step, ("stream", "receive"))

    # ---- steps

    def _step(self, step: Step, path: Path, line: Path | None = None) -> None:
        """The states of a step; its keys stand at `path`, and messages name the line of `line`."""
        kinds = [name for name in ("write", "read", "poll") if getattr(step, name) is not None]
        kinds += ["step"] if step.step else []
        if len(kinds) > 1:
            raise self.manifest.error(path, f"{' and '.join(kinds)} in one step; make two of them")
        if step.each or step.repeat != "":
            if self._loop is not None:
                raise self.manifest.error(path, "a loop in a loop; write the inner one out")
            self._turns(step, path, line)
        elif step.step:
            for index, inner in enumerate(step.step):
                self._step(inner, (*path, "step", index))
        elif kinds:
            self._access(step, kinds[0], path)
        else:
            self._plain(step, path, line or path)
        if step.mark == "start":
            self.program.states[-1].starts = True
        elif step.mark == "done":
            self.program.states[-1].ends = True

    def _turns(self, step: Step, path: Path, line: Path | None) -> None:
        """A step for each word of a number, or repeated."""
        program, manifest = self.program, self.manifest
        w, first, number_of_loop = program.word_nbits, len(program.states), len(program.loops)
        if step.each:
            if step.each != RESULT and step.each not in program.fields:
                named = [*OPERANDS, *manifest.of.prepare, RESULT]
                raise manifest.error((*path, "each"), str(unknown("number", step.each, named)))
            wide = program.result_nbits if step.each == RESULT else program.fields[step.each].nbits
            most = -(-wide // w)
            count = f"{COUNT_NBITS}'d{most}"
            if step.count != "":
                count, most = self._count(step.count, (*path, "count"))
            order = step.order or manifest.of.order
            turn = "index" if order == "least" else f"({count} - 1 - index)"
            padded = max(most * w, wide)
            if step.each == RESULT:
                program.result_nbits = max(program.result_nbits, padded)
            else:
                program.used.add(step.each)
            loop = Loop(number_of_loop, count, first, step.each, turn, padded)
        else:
            loop = Loop(number_of_loop, self._count(step.repeat, (*path, "repeat"))[0], first)
        program.loops.append(loop)
        self._loop = loop
        inner = msgspec.structs.replace(step, each="", repeat="", count="", order=None, mark="")
        self._step(inner, path, line)
        self._loop = None
        last = program.states[-1]
        if last.back is not None:
            # a poll ends a turn: the turns go on in a state of their own
            last = State(last.step, dict(self._held))
            program.states.append(last)
        last.loop, last.back = loop, loop.first

    def _plain(self, step: Step, path: Path, line: Path) -> None:
        """A step at the ports."""
        for name in ("value", "mask", "equals", "stride"):
            if getattr(step, name) is not None:
                raise self.manifest.error((*path, name), f"{name} is for write, read and poll; drop it")
        self._held |= self._drives(step.set, (*path, self._key("set")))
        conditions = [step.wait] if isinstance(step.wait, str) else step.wait
        found = [self._condition(each, (*path, self._key("wait"))) for each in conditions]
        waits = [text for _, text in found] + [each.ready for each in step.send if each.ready]
        state = self._state(path, step.note or " and ".join(waits), line)
        state.drives = {**self._held, **self._drives(mapping(step.pulse), (*path, self._key("pulse")))}
        state.until = [verilog for verilog, _ in found]
        state.cycles = step.cycles
        state.reset = step.reset
        if step.reset and self.manifest.of.reset is None:
            raise self.manifest.error(
                (*path, "reset"), "a step with reset, and there is no table [reset]; add one"
            )
        for each in step.send:
            self._input(each.valid.removeprefix("!"), (*path, self._key("send")))
            ready = self._condition(each.ready, (*path, self._key("send")))[0] if each.ready else "1'b1"
            state.sends.append((each.valid, ready))
        if step.take:
            self._take(state, step.take, (*path, self._key("take")))

    def _key(self, name: str) -> str:
        """The key of the manifest for that of a step."""
        return self._keys.get(name, name)

    def _take(self, state: State, text: str, path: Path) -> None:
        match = SLICE.fullmatch(text)
        if match is None:
            raise self.manifest.error(
                path, f'take {text!r}: give an output, or bits of it, as in "result[31:0]"'
            )
        name, high, low = match.groups()
        self._output(name, path)
        wide = self.ports[name].nbits
        if high is not None:
            top = self._number(high, path)
            bottom = top if low is None else self._number(low, path)
            if not 0 <= bottom <= top < wide:
                raise self.manifest.error(path, f"{text}: {name} has bits {wide - 1} to 0; mend the bits")
            self._taken(state, f"c_{name}[{top}:{bottom}]", top - bottom + 1, path)
        else:
            self._taken(state, f"c_{name}", wide, path)

    def _taken(self, state: State, verilog: str, wide: int, path: Path) -> None:
        state.take = verilog
        if self._loop is not None and self._loop.of == RESULT:
            state.into = self._loop.word
        elif self._loop is not None:
            raise self.manifest.error(path, f'an answer in turns without each = "{RESULT}"; give it')
        else:
            self.program.result_nbits = max(self.program.result_nbits, wide)

    # ---- steps on a bus

    def _access(self, step: Step, kind: str, path: Path) -> None:
        of = self.manifest.of
        if of.protocol not in ("words", "axi4lite"):
            raise self.manifest.error(
                (*path, kind), f'{kind} is for protocols words and axi4lite, and this is "{of.protocol}"'
            )
        for name in ("set", "pulse", "wait", "take", "send"):
            if getattr(step, name):
                raise self.manifest.error((*path, name), f"{name} beside {kind}; make two steps of them")
        start = len(self.program.states)
        address = self._address(step, getattr(step, kind), (*path, kind))
        if kind == "write":
            value = step.value if step.value is not None else "word" if self._loop else None
            if value is None:
                raise self.manifest.error(path, "a write without a value; give value, or each")
            (self._write_words if of.protocol == "words" else self._write_axi)(address, value, path)
            return
        if kind == "poll" and step.mask is None and step.equals is None:
            raise self.manifest.error(
                path,
                "a poll without mask and equals: it ends at once; say which bits it waits for, as in mask = 1, equals = 1",
            )
        data = (self._read_words if of.protocol == "words" else self._read_axi)(
            address, path, self._polled(step, kind)
        )
        state = self.program.states[-1]
        if kind == "read":
            self._taken(state, data, self.program.word_nbits, path)
        else:
            mask = step.mask if step.mask is not None else (1 << self.program.word_nbits) - 1
            equals = step.equals if step.equals is not None else mask
            wide = self.program.word_nbits
            if mask >> wide or equals & ~mask:
                raise self.manifest.error(
                    path, f"mask {mask:#x} and equals {equals:#x} can never hold in {wide} bits; mend them"
                )
            state.match, state.back = f"(({data} & {wide}'d{mask}) == {wide}'d{equals})", start

    def _polled(self, step: Step, kind: str) -> str:
        if kind == "read":
            return ""
        return (
            step.note
            or f"the word at {step.poll} to have {step.equals if step.equals is not None else 'ones'} under mask {step.mask}"
        )

    def _address(self, step: Step, given: int | str, path: Path) -> str:
        """Verilog of an address, which may grow in a loop."""
        address = self._number(given, path)
        stride = step.stride if step.stride is not None else 0
        if stride and self._loop is None:
            raise self.manifest.error((*path[:-1], "stride"), "stride without each; drop it")
        return f"({address} + {stride} * index)" if stride else str(address)

    def _bus_port(self, table: str, key: str, needed: str, direction: str) -> str:
        """A port of the bus; "" if the core has none."""
        path: Path = (table, key)
        if needed:
            (self._input if direction == "INPUT" else self._output)(needed.removeprefix("!"), path)
        return needed

    def _active(self, name: str, active: bool = True) -> dict[str, str]:
        """Drives of a strobe, which may be active low."""
        if not name:
            return {}
        high = active is not name.startswith("!")
        self.program.held.setdefault(name.removeprefix("!"), f"1'b{int(name.startswith('!'))}")
        return {name.removeprefix("!"): f"1'b{int(high)}"}

    def _write_words(self, address: str, value: Value, path: Path) -> None:
        bus = self.manifest.of.words
        assert bus is not None
        for key, port in (
            ("select", bus.select),
            ("write_enable", bus.write_enable),
            ("read_enable", bus.read_enable),
            ("address", bus.address),
            ("write_data", bus.write_data),
        ):
            self._bus_port("words", key, port, "INPUT")
        self._bus_port("words", "acknowledge", bus.acknowledge, "OUTPUT")
        state = self._state(path, bus.acknowledge and f"{bus.acknowledge} after a write", path)
        state.drives = {
            **self._held,
            **self._active(bus.select),
            **self._active(bus.write_enable),
            **self._active(bus.read_enable, False),
            bus.address: self._sized(address, bus.address, path),
            bus.write_data: self._value(value, self.ports[bus.write_data].nbits, path, bus.write_data),
        }
        state.until = (
            [self._condition(bus.acknowledge, ("words", "acknowledge"))[0]] if bus.acknowledge else []
        )

    def _read_words(self, address: str, path: Path, waits: str) -> str:
        bus = self.manifest.of.words
        assert bus is not None
        for key, port in (
            ("select", bus.select),
            ("write_enable", bus.write_enable),
            ("read_enable", bus.read_enable),
            ("address", bus.address),
        ):
            self._bus_port("words", key, port, "INPUT")
        self._bus_port("words", "read_data", bus.read_data, "OUTPUT")
        drives = {
            **self._active(bus.select),
            **self._active(bus.write_enable, False),
            **self._active(bus.read_enable),
            bus.address: self._sized(address, bus.address, path),
        }
        if bus.read_latency and not bus.acknowledge:
            # selected in one cycle alone: a register behind a pointer moves on with each cycle of a read
            state = self._state(path, waits, path)
            state.drives = {**self._held, **drives}
            after = self._state(path, waits, path)
            after.drives = {**self._held, bus.address: drives[bus.address]}
            after.cycles = bus.read_latency
        else:
            state = self._state(path, waits or (bus.acknowledge and f"{bus.acknowledge} after a read"), path)
            state.drives = {**self._held, **drives}
            state.until = (
                [self._condition(bus.acknowledge, ("words", "acknowledge"))[0]] if bus.acknowledge else []
            )
        return f"c_{bus.read_data}"

    def _axi(self, name: str) -> str:
        """A port of the bus by its name in the standard; "" if there is none."""
        told = self.manifest.of.axi4lite
        assert told is not None
        wanted = f"{told.prefix}{name}".lower()
        return next((port for port in self.ports if port.lower() == wanted), "")

    def _axi_port(self, name: str) -> str:
        found = self._axi(name)
        if not found:
            told = self.manifest.of.axi4lite
            assert told is not None
            raise self.manifest.error(
                ("axi4lite", "prefix"),
                f"{self.manifest.of.top} has no port {told.prefix}{name}: mend the prefix; its ports are {', '.join(self.ports)}",
            )
        return found

    def _write_axi(self, address: str, value: Value, path: Path) -> None:
        data, where = self._axi_port("wdata"), self._axi_port("awaddr")
        awready, wready = self._axi_port("awready"), self._axi_port("wready")
        state = self._state(path, f"{awready} and {wready}", path)
        state.drives = {
            **self._held,
            where: self._sized(address, where, path),
            data: self._value(value, self.ports[data].nbits, path, data),
        }
        strobes, protection = self._axi("wstrb"), self._axi("awprot")
        if strobes:
            state.drives[strobes] = f"{{{self.ports[strobes].nbits}{{1'b1}}}}"
        if protection:
            state.drives[protection] = "0"
        state.sends = [(self._axi_port("awvalid"), f"c_{awready}"), (self._axi_port("wvalid"), f"c_{wready}")]
        valid, response = self._axi_port("bvalid"), self._axi_port("bresp")
        state = self._state(path, f"{valid} with {response} = 0 (OKAY)", path)
        state.drives = {**self._held, self._axi_port("bready"): "1'b1"}
        state.until = [f"c_{valid}", f"(c_{response} == 0)"]

    def _read_axi(self, address: str, path: Path, waits: str) -> str:
        where, ready, data = self._axi_port("araddr"), self._axi_port("arready"), self._axi_port("rdata")
        state = self._state(path, ready, path)
        state.drives = {**self._held, where: self._sized(address, where, path)}
        if protection := self._axi("arprot"):
            state.drives[protection] = "0"
        state.sends = [(self._axi_port("arvalid"), f"c_{ready}")]
        valid, response = self._axi_port("rvalid"), self._axi_port("rresp")
        state = self._state(path, waits or f"{valid} with {response} = 0 (OKAY)", path)
        state.drives = {**self._held, self._axi_port("rready"): "1'b1"}
        state.until = [f"c_{valid}", f"(c_{response} == 0)"]
        return f"c_{data}"

    # ---- values, conditions, ports

    def _state(self, path: Path, waits: str, line: Path) -> State:
        self.program.places.append(Place(self.manifest.line(line), waits))
        state = State(len(self.program.places) - 1)
        self.program.states.append(state)
        return state

    def _drives(self, given: Mapping[str, Value], path: Path) -> dict[str, str]:
        found = {}
        for name, value in given.items():
            self._input(name, (*path, name))
            found[name] = self._value(value, self.ports[name].nbits, (*path, name), name)
            if isinstance(value, int) and value in (0, 1) and path[-1] == self._key("pulse"):
                self.program.held.setdefault(name, str(1 - value) if self.ports[name].nbits == 1 else "0")
        return found

    def _value(self, value: Value, wide: int, path: Path, port: str) -> str:
        """Verilog of a value, for a port of so many bits."""
        if isinstance(value, list):
            parts = [self._part(each, path) for each in value]
            if (total := sum(nbits for _, nbits in parts)) > wide:
                raise self._too_wide(path, port, wide, " beside ".join(map(str, value)), total)
            return f"{{{', '.join(text for text, _ in parts)}}}"
        if isinstance(value, str) and value in ("word", "index", "last"):
            if self._loop is None:
                raise self.manifest.error(path, f"{value} without each; it is the {value} of a loop")
            if value == "word":
                if self.program.word_nbits > wide:
                    raise self._too_wide(path, port, wide, "a word", self.program.word_nbits)
                return f"word_{self._loop.number}[{self.program.word_nbits - 1}:0]"
            return "index" if value == "index" else f"(index == {self._loop.count} - 1)"
        if isinstance(value, str) and value in self.program.fields:
            text, nbits = self._part(value, path)
            if nbits > wide:
                raise self._too_wide(path, port, wide, value, nbits)
            return text
        if isinstance(value, str):
            expression = self._expression(value, path, self.program.fields)
            if expression.names - self.known.keys():
                return self._anonymous(value, expression, wide, path)
        constant = self._number(value, path)
        if constant < 0 or constant.bit_length() > wide:
            raise self._too_wide(path, port, wide, str(constant), max(constant.bit_length(), 1))
        return f"{wide}'d{constant}"

    def _anonymous(self, text: str, expression: Expression, wide: int, path: Path) -> str:
        """A field for an expression over the operands."""
        names = {each: name for name, each in self.program.fields.items()}
        made = Field("", wide, expression, self._where(path))
        for each, name in names.items():
            if each.expression is not None and each.expression.text == text and each.nbits == wide:
                self.program.used.add(name)
                return f"f_{name}"
        name = f"made_{len(self.program.fields)}"
        self.program.fields[name] = replace(made, name=name)
        self.program.used.add(name)
        return f"f_{name}"

    def _part(self, value: int | str, path: Path) -> tuple[str, int]:
        if isinstance(value, str) and value in self.program.fields:
            self.program.used.add(value)
            return f"f_{value}", self.program.fields[value].nbits
        raise self.manifest.error(
            path,
            f"{value!r} side by side with others has no width: name an operand, or a number of [prepare], which may be constant",
        )

    def _count(self, given: int | str, path: Path) -> tuple[str, int]:
        """Turns: Verilog, and the most that there can be."""
        if isinstance(given, str):
            expression = self._expression(given, path, self.program.fields)
            if expression.names - self.known.keys():
                longest = -(-(self.known["nbits"] + self.program.word_nbits) // self.program.word_nbits)
                return self._anonymous(given, expression, COUNT_NBITS, path), longest
        count = self._number(given, path)
        if not 1 <= count < 1 << COUNT_NBITS:
            raise self.manifest.error(path, f"{count} turns; give 1 or more")
        return f"{COUNT_NBITS}'d{count}", count

    def _condition(self, text: str, path: Path) -> tuple[str, str]:
        """Verilog of a condition, and the words for it."""
        match = CONDITION.fullmatch(text)
        if match is None:
            raise self.manifest.error(
                path, f'condition {text!r}: write it as "done", "!busy" or "state == 3"'
            )
        negated, name, bit, value = match.groups()
        self._output(name, path)
        verilog = f"c_{name}"
        if bit is not None:
            place = self._number(bit, path)
            if not 0 <= place < self.ports[name].nbits:
                raise self.manifest.error(path, f"{text}: {name} has bits {self.ports[name].nbits - 1} to 0")
            verilog += f"[{place}]" if self.ports[name].nbits > 1 else ""
        if value is not None:
            return f"({verilog} {'!=' if negated else '=='} {self._number(value, path)})", text.strip()
        if bit is None and self.ports[name].nbits != 1:
            raise self.manifest.error(
                path,
                f"{name} has {self.ports[name].nbits} bits: say which one, or what it equals, as in {name} == 1",
            )
        return (f"!{verilog}", f"{name} = 0") if negated else (verilog, f"{name} = 1")

    def _sized(self, text: str, port: str, path: Path) -> str:
        """An address, which must fit where it is constant."""
        if text.isdigit() and int(text).bit_length() > self.ports[port].nbits:
            raise self._too_wide(
                path, port, self.ports[port].nbits, f"address {int(text):#x}", int(text).bit_length()
            )
        return text

    def _number(self, given: int | str, path: Path) -> int:
        """What is known without operands."""
        try:
            text = str(given)
            if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
                return int(text, 16)
            return number(given, self.known)
        except BadInput as error:
            raise self.manifest.error(path, str(error)) from None

    def _expression(self, text: str, path: Path, more: Sequence[str] | Mapping[str, Any]) -> Expression:
        try:
            expression = Expression(text)
            expression.require({*self.known, *OPERANDS, *more})
        except BadInput as error:
            raise self.manifest.error(path, str(error)) from None
        return expression

    def _where(self, path: Path) -> str:
        return f"{self.manifest.path.name} of {self.manifest.of.name}, line {self.manifest.line(path)}"

    def _too_wide(self, path: Path, port: str, wide: int, what: str, nbits: int) -> BadInput:
        return self.manifest.error(
            path,
            f"{what} has {nbits} bits at --nbits {self.known['nbits']}, and the port {port} of {self.manifest.of.top} has {wide}: "
            "mend the port, its width by [parameters], or nbits",
        )

    def _input(self, name: str, path: Path) -> None:
        self._port(name, path, "INPUT", "input")

    def _output(self, name: str, path: Path) -> None:
        self._port(name, path, "OUTPUT", "output")

    def _port(self, name: str, path: Path, direction: str, kind: str) -> None:
        top = self.manifest.of.top
        if name not in self.ports:
            names = [each for each, port in self.ports.items() if port.direction == direction]
            raise self.manifest.error(path, str(unknown(f"{kind} of {top}", name, names)))
        if self.ports[name].direction != direction:
            raise self.manifest.error(path, f"{name} of {top} is no {kind}; give one that is")
