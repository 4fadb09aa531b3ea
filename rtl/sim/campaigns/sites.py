"""Storage bits of a compiled model, which faults.py flips and leak.py observes.

    register    a flip-flop or a word of a memory
    table       a constant of a ROM
    answer      the response of an internal unit (`ostream.msg`)

The design's Verilog is unchanged except for attributes that make registers and tables public and, on request,
an XOR after each unit's response. `prepare` parses the text that translate.py writes, which has only a few
forms.
"""

import ctypes
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from pymtl3 import Component

from ....fl.errors import BadInput
from ..build import library
from ..harness import HARNESS, harness
from ..nativemodel import buffer_of, declare_functions, from_words, load, testbench, to_words
from ..ports import Ports, Value
from ..text import VerilogText
from ..translation.instance_loops import UNIT
from ..translation.source_text import MODULE, line_pattern
from ..translation.translate import top_name
from ..translation.translated import translated

SITES = Path(__file__).with_name("sites.cpp")
PUBLIC = "/*verilator public_flat_rw*/"
POWER_UP_SEED = 1
TEXT, POINTER = ctypes.c_char_p, ctypes.c_void_p  # types of arguments


class Kind(Enum):
    """Kind of a site; the value encodes how long a flip lasts, as in faults.cpp."""

    REGISTER = 1
    ANSWER = 2
    TABLE = 3


@dataclass(frozen=True)
class Site:
    """Bits that can flip; `path` is the hierarchical name below the top, as in the Verilog
    ("dpath.memory.words[3]").
    """

    path: str
    nbits: int
    kind: Kind


class SiteModel:
    """A machine's compiled model with a C++ driver. Its component must not have been elaborated for a
    simulation yet.
    """

    def __init__(self, component: Component, driver: Path, *, flips: bool) -> None:
        """flips: responses of units are sites, too. BadInput for Verilog from elsewhere."""
        if isinstance(component, VerilogText):
            raise BadInput(
                f"{type(component).__name__}: registers at RTL are found only in the Verilog that modexlab "
                "writes; `attack faults --netlist` finds those of a core"
            )
        self.verilog, self.ports = translated(component, Ports.of)
        top = top_name(component)
        prepared, modules = prepare(self.verilog, flips=flips)
        verilog = prepared + harness(self.ports).verilog(top)
        text = testbench(SITES.read_text(), driver.read_text())
        self._lib = load(library(verilog, HARNESS, text, "-O1"))
        declare_functions(self._lib, sim_site=(ctypes.c_int32, TEXT, TEXT, POINTER))
        self._scope = f"TOP.{HARNESS}.{top}_under_test"
        self._places: dict[str, tuple[bytes, bytes, int]] = {}  # path -> scope, name, element
        self._found = list(self._sites(modules, top))

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
        """Responses of units."""
        return self._of(Kind.ANSWER)

    def site(self, path: str) -> Site:
        """The site with this path; BadInput if there is none."""
        for site in self._found:
            if site.path == path:
                return site
        raise BadInput(f"no register, table or answer {path!r}; `registers`, `tables` and `answers` have all")

    def _of(self, kind: Kind) -> list[Site]:
        return [site for site in self._found if site.kind is kind]

    def _sites(self, modules: "dict[str, Module]", top: str) -> Iterator[Site]:
        with self._running() as sim:
            for parts, scopes, module in _hierarchy(modules, modules[top], (), (self._scope,)):
                scope = ".".join(scopes).encode()
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

    def _new(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._lib.sim_new(None, POWER_UP_SEED))

    @contextmanager
    def _running(self) -> Iterator[ctypes.c_void_p]:
        """A model after power-up, which is freed at the end."""
        sim = self._new()
        try:
            yield sim
        finally:
            self._lib.sim_delete(sim)

    def _packed(self, requests: Sequence[Value]) -> bytes:
        """Requests as the library takes them."""
        return to_words(self.ports.request.pack_all(requests), self.ports.request.nbits)

    def _responses(self, count: int) -> ctypes.Array[ctypes.c_char]:
        """Space for as many responses."""
        return buffer_of(count, self.ports.response.nbits)

    def _unpacked(self, responses: ctypes.Array[ctypes.c_char]) -> Sequence[Value]:
        return self.ports.response.unpack_all(from_words(responses.raw, self.ports.response.nbits))


# ---- the text


FLIP = "_flipped"  # suffix of the signal that is XORed with a wire
_INSTANCE = line_pattern(r"^  (?!module )(\w+) (?:#\([^;]*?\) )?(\w+) \(\n(.*?)\n  \);$", re.DOTALL)
_CLOCKED = line_pattern(r"^  always_ff .*?^  end$", re.DOTALL)
_WRITTEN = line_pattern(r"^ *(\w+)(?:\[[^\n]*?\]|\.\w+)* <= ")
# a generate loop of translation/instance_loops.py
_LOOP = line_pattern(
    rf"^  for \(genvar i = 0; i < (\d+); i\+\+\) begin : (\w+)\n    (\w+) (?:#\([^;]*?\) )?{UNIT} \($"
)
_ENTRY = line_pattern(r"^  assign (\w+)\[\d+\] = (.*);$")
_ARRAY = line_pattern(r"^  logic(?: \[[^\]]*\])? (\w+) \[0:(\d+)\];$")
_NUMBER = re.compile(r"\d+'[dhb][0-9a-f]+")
_INST = line_pattern(r"^( +[\w'?, ]+: inst = )(\{ *//[^\n]*\n.*?\});$", re.DOTALL)
_ANSWER = re.compile(r"\.ostream__msg\((\w+)(?:\[i\])?\)")


@dataclass(frozen=True)
class Module:
    """A module: its instances (name -> module, and scope in Verilator), and its signals that can flip."""

    instances: dict[str, tuple[str, str]]
    sites: dict[str, Kind]


def prepare(verilog: str, *, flips: bool = True) -> tuple[str, dict[str, Module]]:
    """The Verilog of a design (from translate) with public registers and tables, and with flips after
    responses if requested; and its modules.
    """
    modules = {}

    def prepared(match: re.Match[str]) -> str:
        text, roms = _tabulated(match[0])
        instances = {item[2]: (item[1], item[2]) for item in _INSTANCE.finditer(text)}
        for count, row, kind in _LOOP.findall(text):
            instances |= {f"{row}__{i}": (kind, f"{row}[{i}].{UNIT}") for i in range(int(count))}
        written = {name for block in _CLOCKED.findall(text) for name in _WRITTEN.findall(block)}
        entries: dict[str, list[str]] = {}
        for name, value in _ENTRY.findall(text):
            entries.setdefault(name, []).append(value)
        sizes = {name: int(last) + 1 for name, last in _ARRAY.findall(text)}
        constant = [
            name
            for name, values in entries.items()
            if sizes.get(name) == len(values) and all(map(_NUMBER.fullmatch, values))
        ]
        sites = dict.fromkeys(sorted(written), Kind.REGISTER) | dict.fromkeys(roms + constant, Kind.TABLE)
        for name in sites:
            text = _public(text, name)
        for name in dict.fromkeys(_ANSWER.findall(text)) if flips else ():
            text, done = _xored(text, name)
            if done:
                sites[name + FLIP] = Kind.ANSWER
        modules[match[1]] = Module(instances, sites)
        return text

    return MODULE.sub(prepared, verilog), modules


def _tabulated(text: str) -> tuple[str, list[str]]:
    """A module whose case of microinstructions (MicroRom) is replaced by a table, and the names of such
    tables.
    """
    insts = []

    def entry(match: re.Match[str]) -> str:
        insts.append(match[2])
        return f"{match[1]}insts[{len(insts) - 1}];"

    text = _INST.sub(entry, text)
    if kind := insts and re.search(r"output +(\w+) inst\b", text):
        table = [f"  {kind[1]} insts [0:{len(insts) - 1}];"]
        table += [f"  assign insts[{at}] = {inst};" for at, inst in enumerate(insts)]
        text = text.replace("\n);\n", "\n);\n" + "\n".join(table) + "\n", 1)
    return text, ["insts"] if insts else []


def _public(text: str, name: str) -> str:
    """The text with the public attribute in the declaration of a signal, a port or an internal one."""
    declared = line_pattern(
        rf"^(  (?:\(\* latch \*\) )?(?:output +)?\w+(?: \[[^\n]*?\])* {name}(?: \[[^\n]*?\])*)(,?$|;$)"
    )
    text, count = declared.subn(lambda match: f"{match[1]} {PUBLIC}{match[2]}", text)
    assert count == 1, (name, count)
    return text


def _xored(text: str, name: str) -> tuple[str, bool]:
    """The text with a flip inserted in a wire that an instance drives, and whether the wire is declared
    inside the module.
    """
    declared = line_pattern(rf"^  (\w+(?: \[[^\n]*?\])*) {name}( \[0:(\d+)\])?[^\n]*;$").search(text)
    if declared is None:
        return text, False
    kind, true, dimension = declared[1], f"{name}_answered", declared[2] or ""
    lines = [declared[0], f"  {kind} {true}{dimension};", f"  {kind} {name}{FLIP}{dimension} {PUBLIC};"]
    for element in [f"[{i}]" for i in range(int(declared[3]) + 1)] if dimension else [""]:
        lines.append(f"  assign {name}{element} = {true}{element} ^ {name}{FLIP}{element};")
    text = re.sub(rf"(?<=\.ostream__msg\(){name}\b", true, text)
    return text.replace(declared[0], "\n".join(lines), 1), True


def _hierarchy(
    modules: dict[str, Module], module: Module, parts: tuple[str, ...], scope: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], Module]]:
    yield parts, scope, module
    for name, (kind, inner) in module.instances.items():
        yield from _hierarchy(modules, modules[kind], (*parts, name), (*scope, inner))
