"""Manifest: a core that we did not write, described by a TOML file, so that it is a design beside ours.

    name = "tiny"                          # of the design, as tables have it
    files = ["rtl/tiny.v", "rtl/mul*.v"]   # beside the manifest; packages before their users
    include = ["rtl"]                      # where `include looks; define = ["FAST", "W=8"] gives macros
    top = "tiny"                           # the module
    protocol = "start-done"                # stream, start-done, words, axi4lite, or steps
    nbits = [32, 64]                       # widths that it exists at; left out: all from 8 to 4096
    word_nbits = 32                        # of a word, where operands travel in words (w in expressions)
    order = "least"                        # which of them comes first, "least" or "most" significant
    timeout = 100000                       # cycles after which an operation is given up; may be an expression

    [parameters]                           # of the module: numbers, text in quotes, or expressions of nbits
    WIDTH = "nbits"
    RADIX = {default = 2, choices = [2, 4], help = "bits of a digit"}    # left open: --set RADIX=4

    [clock]                                # port (clk) and edge (rising, falling)
    port = "clk"
    [reset]                                # left out: none. active high or low, kind synchronous or asynchronous,
    port = "rst_n"                         # cycles: how long at first
    active = "low"
    kind = "asynchronous"

    [limits]                               # what the core takes; everything else is not asked of it
    odd_modulus = true                     # also: reduced_base, full_modulus (its highest bit is 1), least_exponent,
    reduced_base = true                    # least_modulus, exponent_nbits, modulus_nbits (numbers or expressions of nbits),
    require = ["exp % 2 == 1"]             # and any other condition

    [prepare]                              # numbers that software makes for the core, once more each operation
    r2 = "2 ** (2 * nbits) % mod"          # as wide as the machine, or {value = "...", nbits = "nbits + 2"}
    m_prime = {value = "-inverse(mod, 2 ** w) % 2 ** w", nbits = "w"}

    [answer]                               # where the core does not answer base ** exp % mod itself:
    expected = "pow(base, exp, mod) * 2 ** nbits % mod"        # what it should answer,
    result = "answer * inverse(2 ** nbits, mod) % mod"         # and the power from that

    [ports]                                # what inputs get whenever no step says otherwise: a number, a name, an expression of
    base_in = "base"                       # base, exp, mod, nbits, w, parameters, or a list: side by side, the first on top
    exp_len = "bits(exp)"

Expressions are Python's, with pow, inverse(a, m), bits(a), words(a, w), min, max, ceil. An operation is a list of steps:

    [[step]]               # each lasts a cycle at least; keys of one step happen together
    set = {a = "base"}     # inputs that keep this value in the steps that follow in the text
    pulse = "start"        # inputs that have it in this step alone: "start" is 1, "!start_n" 0, or {mode = 2}
    wait = "done"          # the step ends when this holds: "done", "!busy", "count == 3", or a list of them
    cycles = 3             # and not before it has lasted so long
    take = "result"        # an output, or some of its bits ("q[7:0]"), is the answer; sampled as the step ends
    send = [{valid = "a_valid", ready = "a_ready"}]    # handshakes, each for itself; the step ends after the last one
    each = "base"          # the step once for each word of base (exp, mod, r2, ..., result): `word` is the word, `index` its turn from
    count = "words(mod, w)" # 0, `last` 1 with the last; count: how many; order: "least" or "most" first
    step = [{...}, ...]    # several steps in the place of one, for each or repeat
    repeat = 4             # the step so often
    reset = true           # the core's reset is active in this step
    mark = "start"         # the core's own work begins when this step ends; "done": it ends
    note = "..."           # for messages

Protocol steps has these and nothing else. The others know more:

    words      [words] select, write_enable, read_enable, address, write_data, read_data, acknowledge (ports; those that there are),
               read_latency (cycles until read_data follows the address). Steps may be, beside those above:
               {write = 0x20, value = "r2"}, {read = 0x60}, {poll = 9, mask = 1, equals = 1}; with each, the address grows by
               `stride` with each word (0: a data register behind a pointer)
    axi4lite   [axi4lite] prefix (s_axi_), and the same steps; addresses are of bytes, so stride is 4 as a rule
    start-done [start_done] start, done, result, and: before (a condition for the start), level (start stays until done), gap
               (cycles after the start before done counts, 1), done_falls (done is high until a start takes it away)
    stream     [[stream.send]] valid, ready, ports (what goes with them) - side by side, or by words with each, data port = "word";
               [stream.receive] valid, ready, take, and each = "result"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec

from ....fl.errors import BadInput, unknown
from ....flow import typed_toml
from ....flow.source import one_text
from ..widths import MAX_NBITS, MIN_NBITS
from .toml_lines import Path as KeyPath
from .toml_lines import TomlLines

FILE = "design.toml"
PROTOCOLS = ("stream", "start-done", "words", "axi4lite", "steps")
TABLES = {"stream": "stream", "start-done": "start_done", "words": "words", "axi4lite": "axi4lite"}

Number = int | str  # a number, or an expression
Value = int | str | list[int | str]  # of a port
Condition = str | list[str]
Order = Literal["least", "most"]


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    """A table in which no other keys may stand."""


class Clock(_Table):
    port: str = "clk"
    edge: Literal["rising", "falling"] = "rising"


class Reset(_Table):
    port: str
    active: Literal["high", "low"] = "high"
    kind: Literal["synchronous", "asynchronous"] = "synchronous"
    cycles: int = 2


class Limits(_Table):
    odd_modulus: bool = False
    reduced_base: bool = False
    full_modulus: bool = False
    least_exponent: int = 0
    least_modulus: int = 1
    exponent_nbits: Number = "nbits"
    modulus_nbits: Number = "nbits"
    require: list[str] = []


class Choice(_Table):
    """A parameter that is left open."""

    default: int
    choices: list[int]
    help: str = ""


class Prepared(_Table):
    """A number that software makes, with its width."""

    value: str
    nbits: Number = "nbits"


class Answer(_Table):
    expected: str
    result: str


class Handshake(_Table):
    valid: str
    ready: str = ""


class Step(_Table):
    set: dict[str, Value] = {}
    pulse: str | list[str] | dict[str, Value] = []
    wait: Condition = []
    cycles: int = 1
    take: str = ""
    send: list[Handshake] = []
    each: str = ""
    count: Number = ""
    order: Order | None = None
    step: list[Step] = []
    repeat: Number = ""
    reset: bool = False
    mark: Literal["", "start", "done"] = ""
    note: str = ""
    # of a bus
    write: Number | None = None
    value: Value | None = None
    read: Number | None = None
    poll: Number | None = None
    mask: int | None = None
    equals: int | None = None
    stride: int | None = None


class StartDone(_Table):
    start: str
    done: Condition
    result: str
    before: Condition = []
    level: bool = False
    gap: int = 1
    done_falls: bool = False


class Send(_Table):
    valid: str
    ready: str = ""
    ports: dict[str, Value] = {}
    each: str = ""
    count: Number = ""
    order: Order | None = None


class Receive(_Table):
    valid: str
    take: str
    ready: str = ""
    each: Literal["", "result"] = ""
    count: Number = ""
    order: Order | None = None


class Stream(_Table):
    send: list[Send]
    receive: Receive


class Words(_Table):
    address: str
    write_data: str
    read_data: str
    select: str = ""
    write_enable: str = ""
    read_enable: str = ""
    acknowledge: str = ""
    read_latency: int = 0


class Axi4LitePorts(_Table):
    prefix: str = "s_axi_"


class _File(_Table):
    """The keys of the whole file."""

    name: str
    files: list[str]
    top: str
    protocol: str
    title: str = ""
    origin: str = ""
    include: list[str] = []
    define: list[str] = []
    nbits: list[int] = []
    word_nbits: Number = 32
    order: Order = "least"
    timeout: Number = "1000 + 64 * nbits ** 2"
    parameters: dict[str, int | str | Choice] = {}
    clock: Clock = msgspec.field(default_factory=Clock)
    reset: Reset | None = None
    limits: Limits = msgspec.field(default_factory=Limits)
    prepare: dict[str, str | Prepared] = {}
    answer: Answer | None = None
    ports: dict[str, Value] = {}
    step: list[Step] = []
    start_done: StartDone | None = None
    stream: Stream | None = None
    words: Words | None = None
    axi4lite: Axi4LitePorts | None = None


@dataclass(frozen=True, eq=False)
class Manifest:
    """A manifest that has been read; `of` has its keys."""

    path: Path
    text: str
    of: _File

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """The manifest in a file, or in a folder; BadInput with the line of what is wrong in it."""
        path = (path / FILE if path.is_dir() else path).absolute()
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise BadInput(
                f"{path} cannot be read: {error.strerror}; give a manifest, or the folder of a {FILE} "
                "(`modexlab design new` prints one to begin with)"
            ) from None
        except UnicodeDecodeError:
            raise BadInput(f"{path} is no text; give a manifest in TOML") from None
        manifest = cls(path, text, _parsed(path, text))
        manifest._check()
        return manifest

    # ---- what it says of itself

    @cached_property
    def _lines(self) -> TomlLines:
        return TomlLines(self.text)

    def error(self, path: KeyPath, message: str) -> BadInput:
        """The error for what stands at a path."""
        place = f"{self.path.name} of {self.of.name}"
        if message.startswith(f"{place}, line "):
            return BadInput(message)  # it says already where
        return BadInput(f"{place}, line {self._lines.of(path)}: {message.removeprefix(f'{place}: ')}")

    def line(self, path: KeyPath) -> int:
        """Where it stands."""
        return self._lines.of(path)

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The Verilog; BadInput, with the line, for a file that is not there."""
        found: list[Path] = []
        for index, name in enumerate(self.of.files):
            pattern = any(each in name for each in "*?[")
            paths = sorted(self.path.parent.glob(name)) if pattern else [self.path.parent / name]
            paths = [path for path in paths if path.is_file()]
            if not paths:
                raise self.error(
                    ("files", index),
                    f"there is no file {self.path.parent / name}: files stand relative to the manifest; put them there, or mend the name",
                )
            if vhdl := next((path for path in paths if path.suffix.lower() in (".vhd", ".vhdl")), None):
                raise self.error(
                    ("files", index),
                    f"{vhdl.name} is VHDL, and only Verilog and SystemVerilog can be read: "
                    "translate it first, as by `ghdl synth --out=verilog`",
                )
            found += [path for path in paths if path not in found]
        return tuple(found)

    @cached_property
    def verilog(self) -> str:
        """All files in one text, with their names and lines."""
        include = []
        for index, name in enumerate(self.of.include):
            directory = self.path.parent / name
            if not directory.is_dir():
                raise self.error(("include", index), f"there is no directory {directory}; mend the name")
            include.append(directory)
        try:
            files = self.files
            text = one_text(files, include, self.of.define)
        except BadInput as error:
            raise self.error(("files",), str(error)) from None
        return f"{text}\n`default_nettype wire\n"

    # ---- checks that need no Verilog

    def _check(self) -> None:
        of = self.of
        if not re.fullmatch(r"[A-Za-z][\w.-]*", of.name):
            raise self.error(
                ("name",), f"name {of.name!r}: give letters, digits, - and _, a letter first, as in rsa-512"
            )
        if not of.files:
            raise self.error(("files",), "no files; list those of the core")
        if of.protocol not in PROTOCOLS:
            raise self.error(("protocol",), str(unknown("protocol", of.protocol, PROTOCOLS)))
        for protocol, table in TABLES.items():
            there = getattr(of, table) is not None
            if there and protocol != of.protocol:
                raise self.error(
                    (table,),
                    f"[{table}] is for protocol {protocol}, and this is {of.protocol}; drop one of them",
                )
            if not there and protocol == of.protocol:
                raise self.error(
                    ("protocol",),
                    f'protocol "{protocol}" needs a table [{table}]; `modexlab design new --protocol {protocol}` shows one',
                )
        by_steps = of.protocol in ("steps", "words", "axi4lite")
        if by_steps and not of.step:
            raise self.error(
                ("protocol",),
                f'protocol "{of.protocol}" needs steps: [[step]] tables that load, start, wait and read',
            )
        if not by_steps and of.step:
            raise self.error(
                ("step",), f'protocol "{of.protocol}" has its own steps; drop these, or take protocol "steps"'
            )
        for index, nbits in enumerate(of.nbits):
            if not MIN_NBITS <= nbits <= MAX_NBITS:
                raise self.error(
                    ("nbits", index), f"nbits {nbits} is out of range; give {MIN_NBITS} to {MAX_NBITS}"
                )
        for name, each in of.parameters.items():
            if isinstance(each, Choice) and each.default not in each.choices:
                raise self.error(
                    ("parameters", name, "default"),
                    f"{name}: the default {each.default} is none of the choices; add it to them",
                )
        if of.reset is not None and of.reset.cycles < 1:
            raise self.error(("reset", "cycles"), f"{of.reset.cycles} cycles of reset; give 1 or more")


def _parsed(path: Path, text: str) -> _File:
    """The keys, each of the right kind; BadInput with the line."""
    try:
        return msgspec.toml.decode(text, type=_File)
    except msgspec.ValidationError as error:
        message = str(error)
        place = message.partition(" - at `$")[2].rstrip("`")
        at: KeyPath = tuple(
            int(index) if index else key
            for key, index in re.findall(r"\.?([\w-]+)|\[(\d+)\]", place.replace("[...]", ""))
        )
        surplus = re.search(r"unknown field `([^`]*)`", message)
        line = TomlLines(text).of((*at, surplus[1]) if surplus else at)
        said = typed_toml.explained(message, _File)
    except msgspec.DecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line, said = int(found[1]) if found else 1, f"this is no TOML: {error}"
    except (ValueError, RecursionError):
        line, said = 1, "a number with thousands of digits, or lists in lists"
    raise BadInput(f"{path}, line {line}: {said}")


def mapping(pulse: str | list[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Inputs and their values: "a" is 1, "!a" is 0."""
    if isinstance(pulse, Mapping):
        return dict(pulse)
    names = [pulse] if isinstance(pulse, str) else pulse
    return {name.removeprefix("!"): int(not name.startswith("!")) for name in names}
