"""Manifest: the TOML description of a third-party core.

    name = "tiny"                          # of the design, in tables
    files = ["rtl/tiny.v", "wrapper.v"]    # relative to the manifest; packages before their users
    include = ["rtl"]                      # where `include looks; define = ["FAST", "W=8"] gives macros
    top = "tiny_wrapper"                   # the module with our streams
    nbits = [32, 64]                       # widths that it exists at; left out: all from 8 to 4096
    timeout = 100000                       # cycles after which a request counts as hung; may be an expression

    function = "oracle.py:gcd"             # the oracle of a core that is not for RSA (see below)
    [request]                              # its fields with their bits; without a function they are base,
    a = "nbits"                            # exp and mod, and the response is a status and their power
    b = "nbits"
    [response]
    g = "nbits"

    [parameters]                           # of the module: numbers, text in quotes, or expressions of nbits
    WIDTH = "nbits"
    RADIX = {default = 2, choices = [2, 4], help = "bits of a digit"}    # left open: --set RADIX=4

    [limits]                               # what the core accepts; nothing else is sent to it
    odd_modulus = true                     # also: reduced_base, full_modulus (its highest bit is 1),
                                           least_exponent,
    reduced_base = true                    # least_modulus, exponent_nbits, modulus_nbits (numbers or
                                           expressions of nbits),
    require = ["exp % 2 == 1"]             # and any other condition

    [prepare]                              # numbers that software computes; they follow the fields
    r2 = "2 ** (2 * nbits) % mod"          # as wide as the machine, or {value = "...", nbits = "nbits + 2"}
    m_prime = {value = "-inverse(mod, 2 ** 32) % 2 ** 32", nbits = 32}

    [answer]                               # if the core does not return base ** exp % mod itself:
    expected = "pow(base, exp, mod) * 2 ** nbits % mod"        # its correct answer,
    result = "answer * inverse(2 ** nbits, mod) % mod"         # and the power, from the answer

The module has these ports and no others, at the rising edge of clk, with a synchronous reset:

    clk, reset
    istream__val, istream__rdy, istream__msg    the fields of a request, the first in the highest bits
    ostream__val, ostream__rdy, ostream__msg    those of the response: {status[3:0], result} of an
                                                exponentiation, status 0

A message moves in every cycle in which val and rdy are both 1. A core with other ports needs a wrapper of
about 30 lines. If its instance there is named `core`, area and energy exclude the wrapper; cycles include it.
`modexlab new wrapper design.toml` prints a wrapper to begin with.

The function receives the fields of a request in order, and nbits and parameters of the module by name if it
has parameters of these names. It returns the response, as a tuple if there are several fields. The [limits]
of such a core may only have `require`.

Expressions are Python's, with pow, inverse(a, m), bits(a), words(a, nbits), min, max, ceil.
"""

import keyword
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from ....fl.errors import BadInput, shown
from ....fl.input_file import read_text
from ....fl.param import PAPER_NBITS, Param
from ....flow import typed_toml
from ....flow.source import one_text
from ...own_code import Trace
from ...papers.expression import Expression
from ..widths import MAX_NBITS, MIN_NBITS

OPERANDS = ("base", "exp", "mod")  # the fields of a manifest without a function
FILE = "design.toml"

KeyPath = tuple[str | int, ...]  # keys, and indices of lists
Number = int | str  # a number, or an expression


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    """A table that rejects unknown keys."""


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


class Preparation(_Table):
    """A number that software computes, with its width."""

    value: str
    nbits: Number = "nbits"


class Answer(_Table):
    expected: str
    result: str


class _File(_Table):
    """The keys of the whole file."""

    name: str
    files: list[str]
    top: str
    title: str = ""
    origin: str = ""
    function: str = ""
    request: dict[str, Number] = {}
    response: dict[str, Number] = {}
    include: list[str] = []
    define: list[str] = []
    nbits: list[int] = []
    timeout: Number = "1000 + 64 * nbits ** 2"
    parameters: dict[str, int | str | Choice] = {}
    limits: Limits = msgspec.field(default_factory=Limits)
    prepare: dict[str, str | Preparation] = {}
    answer: Answer | None = None


@dataclass(frozen=True, eq=False)
class Manifest:
    """A manifest that has been read; `of` holds its keys."""

    path: Path
    text: str
    of: _File
    trace: Trace  # of its files and the Python code that it names

    @classmethod
    def load(cls, path: Path) -> "Manifest":
        """The manifest in a file, or in a folder; BadInput with the line of an error in it."""
        path = (path / FILE if path.is_dir() else path).absolute()
        text = read_text(
            path,
            f"give the folder of an accelerator.py (`modexlab new accelerator` writes one), a {FILE} or its "
            "folder (`modexlab new manifest` prints one to begin with)",
        )
        trace = Trace(path.parent)
        trace.read(path)
        manifest = cls(path, text, _parsed(path, text), trace)
        manifest._check()
        return manifest

    # ---- errors

    def error(self, path: KeyPath, message: str, kind: type[BadInput] = BadInput) -> BadInput:
        """The error for the value of a key, with its line."""
        file = f"{self.path.name} of {self.of.name}, line "
        if message.startswith(file):
            return kind(message)  # it already has its line
        return kind(f"{file}{line_of(self.text, path)}: {message}")

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Errors raised inside get the line of this key."""
        try:
            yield
        except BadInput as error:
            raise self.error(path, str(error)) from None

    # ---- expressions

    def expression(self, path: KeyPath, text: str, names: Collection[str]) -> Expression:
        """An expression over these names."""
        with self.at(*path):
            found = Expression(text)
            found.require(names)
        return found

    def value(self, path: KeyPath, given: str | Expression, values: Mapping[str, Any]) -> Any:
        """The value of an expression."""
        expression = self.expression(path, given, values) if isinstance(given, str) else given
        with self.at(*path):
            return expression.value(values)

    def number(
        self,
        path: KeyPath,
        given: Number | Expression,
        values: Mapping[str, Any],
        nbits: int | None = None,
    ) -> int:
        """A number, or the value of an expression; BadInput if it is not an integer, or has more bits than
        nbits.
        """
        value = given if isinstance(given, int) else self.value(path, given, values)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int):
            raise self.error(path, f'expression "{given}" is {value!r}, and no whole number; correct it')
        if nbits is not None and not 0 <= value < 1 << nbits:
            raise self.error(
                path,
                f'"{given}" is {shown(value)}, which is no number of {nbits} bits; '
                "correct the expression, or the width",
            )
        return int(value)

    @property
    def current(self) -> bool:
        """Whether all files are as they were when they were read; patterns may match other files now."""
        return self.trace.current and ("files" not in vars(self) or self.files == self._listed())

    # ---- its Verilog

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The Verilog files; BadInput, with the line, for a file that does not exist."""
        return self._listed()

    def _listed(self) -> tuple[Path, ...]:
        found = []
        for index, name in enumerate(self.of.files):
            folder, at = self.path.parent, ("files", index)
            pattern = any(letter in name for letter in "*?[")
            paths = list(filter(Path.is_file, sorted(folder.glob(name)) if pattern else [folder / name]))
            if not paths:
                raise self.error(
                    at,
                    f"there is no file {folder / name}: files are relative to the manifest; put them there, "
                    "or correct the name",
                )
            for path in paths:
                if path.suffix.lower() in (".vhd", ".vhdl"):
                    raise self.error(
                        at,
                        f"{path.name} is VHDL, and only Verilog and SystemVerilog can be read: "
                        "translate it first, as by `ghdl synth --out=verilog`",
                    )
            found += paths
        return tuple(dict.fromkeys(found))

    @cached_property
    def verilog(self) -> str:
        """All files in one text, with their names and lines."""
        include = [self.path.parent / name for name in self.of.include]
        for index, directory in enumerate(include):
            if not directory.is_dir():
                raise self.error(("include", index), f"there is no directory {directory}; correct the name")
        opened: set[Path] = set()
        with self.at("files"):
            text = one_text(self.files, include, self.of.define, opened)
        for path in opened:
            self.trace.read(path, module=True)
        return f"{text}\n`default_nettype wire\n"

    # ---- properties of its design

    @property
    def summary(self) -> str:
        """Its title, or the name of its module."""
        return self.of.title or f"a core by a manifest: module {self.of.top}"

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a request."""
        return tuple(self.of.request) or OPERANDS

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters of the module that the manifest leaves open."""
        return tuple(
            Param(name, item.default, tuple(item.choices), item.help or f"parameter {name} of the module")
            for name, item in self.of.parameters.items()
            if isinstance(item, Choice)
        )

    @cached_property
    def prepare(self) -> dict[str, Preparation]:
        """The numbers that software computes, which follow the fields."""
        return {
            name: Preparation(number) if isinstance(number, str) else number
            for name, number in self.of.prepare.items()
        }

    @property
    def usual_nbits(self) -> int:
        """The width of the papers' machines, or the nearest available one."""
        return min(self.of.nbits or [PAPER_NBITS], key=lambda nbits: abs(nbits - PAPER_NBITS))

    def check_width(self, nbits: int) -> None:
        """BadInput for a width at which the core does not exist."""
        widths = self.of.nbits
        if widths and nbits not in widths:
            nearest = min(widths, key=lambda width: abs(width - nbits))
            raise BadInput(
                f"{self.of.name} exists at {', '.join(map(str, widths))} bits, according to its manifest; "
                f"give --nbits {nearest}"
            )

    # ---- checks that need no Verilog

    def _check(self) -> None:
        of = self.of
        if not re.fullmatch(r"[A-Za-z][\w.-]*", of.name):
            raise self.error(
                ("name",), f"name {of.name!r}: give letters, digits, - and _, a letter first, as in rsa-512"
            )
        if not of.files:
            raise self.error(("files",), "no files; list those of the core")
        self._check_fields()
        for index, nbits in enumerate(of.nbits):
            if not MIN_NBITS <= nbits <= MAX_NBITS:
                raise self.error(
                    ("nbits", index), f"nbits {nbits} is out of range; give {MIN_NBITS} to {MAX_NBITS}"
                )
        for name, value in of.parameters.items():
            if isinstance(value, Choice) and value.default not in value.choices:
                raise self.error(
                    ("parameters", name),
                    f"{name}: the default {value.default} is none of the choices; add it to them",
                )

    def _check_fields(self) -> None:
        """BadInput for a function without fields, fields without a function, and names that are invalid or
        not unique.
        """
        of = self.of
        for table, fields in (("request", of.request), ("response", of.response)):
            if of.function and not fields:
                raise self.error(
                    ("function",), f'a function without [{table}]: name its fields, as in a = "nbits"'
                )
            if fields and not of.function:
                raise self.error(
                    (table,), f'[{table}] without a function; give one, as in function = "oracle.py:{of.top}"'
                )
        names = {"nbits", *of.parameters, *([] if of.function else OPERANDS)}
        for table in ("request", "response", "prepare"):
            for name in getattr(of, table):
                if not re.fullmatch(r"[A-Za-z]\w*", name) or keyword.iskeyword(name):
                    raise self.error((table, name), f"{name} cannot be the name of a field; give another")
                if name in names:
                    raise self.error((table, name), f"there are two of the name {name}; rename one of them")
                names.add(name)
        if of.function and (of.answer is not None or of.limits != Limits(require=of.limits.require)):
            table = "limits" if of.answer is None else "answer"
            raise self.error(
                (table,),
                f"[{table}] has keys of an exponentiation, and this core has a function; "
                "give limits.require alone",
            )


def line_of(text: str, path: KeyPath) -> int:
    """The line of a key, or else of the table that lacks it; 1 without either."""
    keys = [key for key in path if isinstance(key, str)]
    table: list[str] = []
    depth, found = 0, 1
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[?([\w.-]+)\]", line):
            table = here = header[1].split(".")
        elif pair := re.match(r"\s*([\w.-]+)\s*=", line):
            here = [*table, *pair[1].split(".")]
        else:
            continue
        if len(here) > depth and here == keys[: len(here)]:
            depth, found = len(here), number
    return found


def _parsed(path: Path, text: str) -> _File:
    """The keys, checked for their types; BadInput with the line."""
    try:
        return msgspec.convert(msgspec.toml.decode(text), _File)
    except msgspec.ValidationError as error:
        message = str(error)
        at = tuple(re.findall(r"[\w-]+", message.partition(" - at `$")[2].replace("[...]", "")))
        surplus = re.search(r"unknown field `([^`]*)`", message)
        line = line_of(text, (*at, surplus[1]) if surplus else at)
        said = typed_toml.explained(message, _File)
    except msgspec.DecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        line, said = int(place[1]) if place else 1, f"this is no TOML: {error}"
    except (ValueError, RecursionError):
        line, said = 1, "a number with thousands of digits, or lists in lists"
    raise BadInput(f"{path}, line {line}: {said}")
