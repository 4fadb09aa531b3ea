"""Single-bit faults in a machine, natively: one operation for each fault, all on one compiled model.

    model = Faulted(machine.rtl())
    sites = model.registers                   # and model.tables, model.answers
    outcomes = model.campaign(requests, faults_of(sites, lambda site: [100]), expected, max_cycles)
    tally(outcomes)                           # how many had no effect, were caught, hang, or let a wrong result out

Where a bit can flip:

    register    a flip-flop or a word of a memory, at the beginning of a cycle; it stays until something is written there
    table       a constant of a ROM, from power-up on
    answer      what a unit inside answers (`ostream.msg`), for one cycle

The design's Verilog is the same but for attributes that make registers and tables writable from outside, and an XOR behind each unit's
answer. A fault is written into the model between two edges, so that a campaign compiles nothing. Every operation is the first after
power-up, with random bits in all registers and memories, the same for all, and reset. Cycle 0 is the first after reset, in which the
request is offered; the sink is always ready, and the first answer counts.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from pymtl3 import Component

from ...fl.errors import BadInput
from .base import elaborate
from .build import library
from .harness import HARNESS, harness
from .nativemodel import FINISHED, MODEL, RUNNING, WAVE_FILE, load
from .ports import Ports, Value
from .translate import top_name, translate

DRIVER = Path(__file__).with_name("faults.cpp")
PUBLIC = "/*verilator public_flat_rw*/"
POWER_UP_SEED = 1
SLICE = 1 << 20  # cycles between two looks at Ctrl-C


class Kind(Enum):
    """What a site is; the value is how long a flip stays there, as in faults.cpp."""

    REGISTER = 1
    ANSWER = 2
    TABLE = 3


@dataclass(frozen=True)
class Site:
    """Bits that may flip: its path, from the top by instances, as in the Verilog ("dpath.memory.words[3]")."""

    path: str
    nbits: int
    kind: Kind


class Fault(NamedTuple):
    """A bit that flips: in a cycle; in a table, for good."""

    site: Site
    bit: int
    cycle: int = 0

    def __str__(self) -> str:
        when = "" if self.site.kind is Kind.TABLE else f" in cycle {self.cycle}"
        return f"{self.site.path}, bit {self.bit}{when}"


class Effect(Enum):
    """What a fault came to."""

    NONE = "no effect"
    CAUGHT = "caught"
    HANG = "hang"
    WRONG = "wrong result"


class Outcome(NamedTuple):
    """One operation with a fault; without an answer `response` is None."""

    fault: Fault
    effect: Effect
    response: Value | None
    cycles: int  # of the answer's handshake; that of the request may be later than cycle 0


Judge = Callable[[Value | None, Value], Effect]  # of a response, and the one that is expected


def judged(response: Value | None, expected: Value) -> Effect:
    """Of machines that answer {status, result}: a status other than 0, and no result with it, is a fault that was caught."""
    if response is None:
        return Effect.HANG
    if response == expected:
        return Effect.NONE
    assert isinstance(response, tuple) and isinstance(expected, tuple)
    status, result = response
    return Effect.CAUGHT if status and result in (0, expected[1]) else Effect.WRONG


def tally(outcomes: Iterable[Outcome]) -> dict[Effect, int]:
    """How many of each effect."""
    counted = Counter(each.effect for each in outcomes)
    return {effect: counted[effect] for effect in Effect}


class Faulted:
    """A machine whose bits can be flipped; the component must not have been elaborated for a simulation yet."""

    def __init__(self, component: Component, opt: str = "-O1") -> None:
        elaborate(component)
        self.ports = Ports.of(component)
        top = top_name(component)
        prepared, modules = prepare(translate(component))
        verilog = prepared + harness(top, self.ports)
        text = WAVE_FILE.read_text() + MODEL.read_text() + DRIVER.read_text()
        self._lib = _typed(load(library(verilog, HARNESS, text, opt)))
        self._scope = f"TOP.{HARNESS}.{top}_under_test"
        self._places: dict[str, tuple[bytes, bytes, int]] = {}  # path -> scope, name, element
        self._found = list(self._sites(modules, top))

    # ---- where

    @property
    def registers(self) -> list[Site]:
        """Flip-flops and words of memories."""
        return self._of(Kind.REGISTER)

    @property
    def tables(self) -> list[Site]:
        """Words of ROMs."""
        return self._of(Kind.TABLE)

    @property
    def answers(self) -> list[Site]:
        """What units answer."""
        return self._of(Kind.ANSWER)

    def site(self, path: str) -> Site:
        """The one of this path; BadInput if there is none."""
        for each in self._found:
            if each.path == path:
                return each
        raise BadInput(f"no register, table or answer {path!r}; `registers`, `tables` and `answers` have all")

    def _of(self, kind: Kind) -> list[Site]:
        return [each for each in self._found if each.kind is kind]

    def _sites(self, modules: dict[str, Module], top: str) -> Iterator[Site]:
        sim = self._new()
        try:
            for parts, module in _hierarchy(modules, modules[top], ()):
                scope = ".".join([self._scope, *parts]).encode()
                for name, kind in module.sites.items():
                    count = ctypes.c_int32()
                    nbits = self._lib.sim_site(sim, scope, name.encode(), ctypes.byref(count))
                    if not nbits:
                        raise RuntimeError(f"Verilator keeps no {name} of {scope.decode()}")
                    path = ".".join([*parts, name.removesuffix(FLIP)])
                    for element in range(max(1, count.value)):
                        full = f"{path}[{element}]" if count.value else path
                        self._places[full] = (scope, name.encode(), element)
                        yield Site(full, nbits, kind)
        finally:
            self._lib.sim_delete(sim)

    # ---- runs

    def _new(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._lib.sim_new(None, POWER_UP_SEED))

    def _operation(
        self, request: Value, fault: Fault | None, max_cycles: int, rest: int = 0
    ) -> ctypes.c_void_p:
        """A model at the beginning of an operation; the caller frees it."""
        sim = self._new()
        for scope, name, _ in (self._places[each.path] for each in self.answers):
            self._lib.sim_clear(sim, scope, name)
        if fault is not None:
            scope, name, element = self._places[fault.site.path]
            self._lib.sim_flip(sim, scope, name, element, fault.bit, fault.site.kind.value, fault.cycle)
        packed = self.ports.request.pack(request, "the request")
        words = packed.to_bytes(4 * _words(self.ports.request.nbits), "little")
        self._lib.sim_start(sim, words, max_cycles, rest)
        return sim

    def _finish(self, sim: ctypes.c_void_p) -> tuple[Value | None, int]:
        while (outcome := self._lib.sim_advance(sim, SLICE)) == RUNNING:
            pass
        words = ctypes.create_string_buffer(4 * _words(self.ports.response.nbits))
        cycles = self._lib.sim_answer(sim, words)
        if outcome != FINISHED:
            return None, 0
        return self.ports.response.unpack(int.from_bytes(words.raw, "little")), cycles

    def run(self, request: Value, max_cycles: int, fault: Fault | None = None) -> tuple[Value | None, int]:
        """The answer to one request, and its cycle; None if there is none in so many cycles."""
        sim = self._operation(request, fault, max_cycles)
        try:
            return self._finish(sim)
        finally:
            self._lib.sim_delete(sim)

    def campaign(
        self,
        requests: Sequence[Value],
        faults: Iterable[Fault],
        expected: Sequence[Value],
        max_cycles: int,
        judge: Judge = judged,
    ) -> list[Outcome]:
        """One operation for each fault: fault i meets request i (modulo their number), whose response should be `expected` there."""
        outcomes = []
        for at, fault in enumerate(faults):
            at %= len(requests)
            response, cycles = self.run(requests[at], max_cycles, fault)
            outcomes.append(Outcome(fault, judge(response, expected[at]), response, cycles))
        return outcomes

    def state(self, request: Value, max_cycles: int, after: int = 1) -> tuple[Value | None, dict[str, int]]:
        """The answer to a request, and all registers so many cycles after it has been taken."""
        sim = self._operation(request, None, max_cycles, after)
        try:
            response, _ = self._finish(sim)
            return response, {each.path: self._read(sim, each) for each in self.registers}
        finally:
            self._lib.sim_delete(sim)

    def _read(self, sim: ctypes.c_void_p, site: Site) -> int:
        scope, name, element = self._places[site.path]
        data = ctypes.create_string_buffer(site.nbits // 8 + 8)
        self._lib.sim_read(sim, scope, name, element, data)
        return int.from_bytes(data.raw, "little")


def registers(component: Component) -> list[tuple[str, int]]:
    """The registers of a machine, with their bits."""
    return [(each.path, each.nbits) for each in Faulted(component).registers]


def campaign(
    component: Component,
    requests: Sequence[Value],
    faults: Iterable[tuple[str, int, int]],
    expected: Sequence[Value],
    max_cycles: int,
) -> list[Outcome]:
    """Of a machine that has not been elaborated: faults are (path, bit, cycle)."""
    model = Faulted(component)
    made = (Fault(model.site(path), bit, cycle) for path, bit, cycle in faults)
    return model.campaign(requests, made, expected, max_cycles)


def faults_of(sites: Iterable[Site], cycles: Callable[[Site], Iterable[int]]) -> list[Fault]:
    """Every bit of these sites, in each of the cycles."""
    return [
        Fault(site, bit, cycle)
        for site in sites
        for bit in range(site.nbits)
        for cycle in ((0,) if site.kind is Kind.TABLE else cycles(site))
    ]


# ---- the text


FLIP = "_flipped"  # what is behind the name of a wire that is XORed with it
_MODULE = re.compile(
    r"^module (\w+)\n\(\n(?P<ports>.*?)\n\);\n(?P<body>.*?)^endmodule$", re.DOTALL | re.MULTILINE
)
_INSTANCE = re.compile(r"^  (\w+) (\w+)\n  \(\n(.*?)\n  \);$", re.DOTALL | re.MULTILINE)
_CLOCKED = re.compile(r"^  always_ff .*?^  end$", re.DOTALL | re.MULTILINE)
_WRITTEN = re.compile(r"^ *(\w+)(?:\[[^\n]*?\]|\.\w+)* <= ", re.MULTILINE)
_ENTRY = re.compile(r"^  assign (\w+)\[\d+\] = (.*);$", re.MULTILINE)
_ARRAY = re.compile(r"^  logic(?: \[\d+:0\])? (\w+) \[0:\d+\];$", re.MULTILINE)
_NUMBER = re.compile(r"\d+'[dhb][0-9a-f]+")
_ANSWER = re.compile(r"\.ostream__msg\( (\w+) \)")


@dataclass(frozen=True)
class Module:
    """What matters of a module: instances (their modules by name), and signals that may flip."""

    instances: dict[str, str]
    sites: dict[str, Kind]


def prepare(verilog: str) -> tuple[str, dict[str, Module]]:
    """The Verilog of a design (translate) with public registers and tables, and flips behind answers; and its modules."""
    modules: dict[str, Module] = {}

    def prepared(match: re.Match[str]) -> str:
        text = match[0]
        instances = {each[2]: each[1] for each in _INSTANCE.finditer(text)}
        written = {name for block in _CLOCKED.findall(text) for name in _WRITTEN.findall(block)}
        entries: dict[str, list[str]] = {}
        for name, value in _ENTRY.findall(text):
            entries.setdefault(name, []).append(value)
        arrays = set(_ARRAY.findall(text))
        constant = [
            name for name, values in entries.items() if name in arrays and all(map(_NUMBER.fullmatch, values))
        ]
        sites = dict.fromkeys(sorted(written), Kind.REGISTER) | dict.fromkeys(constant, Kind.TABLE)
        for name in sites:
            text = _public(text, name)
        for name in dict.fromkeys(_ANSWER.findall(text)):
            text, done = _xored(text, name)
            if done:
                sites[name + FLIP] = Kind.ANSWER
        modules[match[1]] = Module(instances, sites)
        return text

    return _MODULE.sub(prepared, verilog), modules


def _public(text: str, name: str) -> str:
    """A signal's declaration, as a port or inside, with the attribute."""
    declared = re.compile(
        rf"^(  (?:output +)?\w+(?: \[[^\n]*?\])* {name}(?: \[[^\n]*?\])*)(,?$|;$)", re.MULTILINE
    )
    text, count = declared.subn(lambda match: f"{match[1]} {PUBLIC}{match[2]}", text)
    assert count == 1, (name, count)
    return text


def _xored(text: str, name: str) -> tuple[str, bool]:
    """A wire that an instance drives, with a flip on the way, if it is declared inside."""
    declared = re.search(rf"^  (\w+(?: \[[^\n]*?\])*) {name};$", text, re.MULTILINE)
    if declared is None:
        return text, False
    kind, true = declared[1], f"{name}_answered"
    lines = [declared[0], f"  {kind} {true};", f"  {kind} {name}{FLIP} {PUBLIC};"]
    lines.append(f"  assign {name} = {true} ^ {name}{FLIP};")
    text = text.replace(f".ostream__msg( {name} )", f".ostream__msg( {true} )")
    return text.replace(declared[0], "\n".join(lines), 1), True


def _hierarchy(
    modules: dict[str, Module], module: Module, parts: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Module]]:
    yield parts, module
    for name, kind in module.instances.items():
        yield from _hierarchy(modules, modules[kind], (*parts, name))


def _words(nbits: int) -> int:
    return (nbits + 31) // 32


def _typed(lib: ctypes.CDLL) -> ctypes.CDLL:
    text, number, wide, pointer = ctypes.c_char_p, ctypes.c_int32, ctypes.c_uint64, ctypes.c_void_p
    lib.sim_site.argtypes = [pointer, text, text, pointer]
    lib.sim_clear.argtypes = [pointer, text, text]
    lib.sim_flip.argtypes = [pointer, text, text, number, number, number, wide]
    lib.sim_start.argtypes = [pointer, text, wide, wide]
    lib.sim_answer.argtypes = [pointer, pointer]
    lib.sim_answer.restype = wide
    lib.sim_read.argtypes = [pointer, text, text, number, pointer]
    return lib
