"""Digest of a component before PyMTL3 elaborates it: its class, its arguments, and the code they depend on.

Components with equal recipes are equal. A recipe follows names: from the class and from the makers among the
arguments to the functions, classes and constants of this package that their code names, as they are in
memory. Replacing one of them, as tests do, therefore changes the recipe. Objects from outside this package's
files have no recipe: a class of a test, a function that replaces one of ours, an argument that is not a plain
value.
"""

import dis
import functools
import importlib.metadata
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from pymtl3 import Bits, Component

from .. import cache
from ..sources import PACKAGE

LIBRARIES = {*sys.stdlib_module_names, "pymtl3"}  # known by name, as their versions are in the recipe
LIBRARY = ("pymtl3", importlib.metadata.version("pymtl3"))
VERSIONS = (sys.version, LIBRARY[1])
DESCRIPTORS = (property, cached_property, staticmethod, classmethod)
PLAIN = frozenset({type(None), bool, float, str, bytes})


@dataclass(frozen=True)
class Recipe:
    """Its digest, the modules of this package that it leads to ("rtl.keyed.program_exp"), and the digest
    of the arguments alone, which is the same in every version of Python.
    """

    digest: str
    modules: tuple[str, ...]
    arguments: str


class _Unknown(Exception):
    """An object cannot be distinguished from similar ones."""


def recipe(component: Component, *more: Any) -> Recipe | None:
    """Return the recipe of a component with its settings; None if it has none, or if it is elaborated or
    configured already.
    """
    dsl = component._dsl
    if dsl.constructed or dsl.param_tree is not None or component._metadata:
        return None
    return recipe_of(type(component), dsl.args, dsl.kwargs, more)


def recipe_of(*values: Any, known: dict[tuple[Any, ...], Recipe] | None = None) -> Recipe | None:
    """Return the recipe of values and code; None if there is none.

    known: recipes of code by the roots of the code. It saves time if many values lead to the same code, none
    of which may be replaced meanwhile.
    """
    writer = _Writer()
    try:
        code = _followed(writer.write_given(values), known)
    except (_Unknown, ValueError):  # ValueError: of a variable of a maker that has no value yet
        return None
    # no item has a line feed in it: texts are written as Python writes them
    text = "\n".join(writer.text)
    modules = tuple(sorted({*writer.modules, *code.modules}))
    return Recipe(cache.key(*VERSIONS, text, code.digest), modules, cache.key(text))


def _followed(roots: list[FunctionType | type], known: dict[tuple[Any, ...], Recipe] | None) -> Recipe:
    """The recipe of code and all that it leads to."""
    # functions that are made anew, as lambdas are, share their code
    key = tuple(
        root.__code__
        if isinstance(root, FunctionType) and not (root.__defaults__ or root.__kwdefaults__)
        else root
        for root in roots
    )
    found = None if known is None else known.get(key)
    if found is None:
        writer = _Writer()
        writer.follow(roots)
        found = Recipe(cache.key("\n".join(writer.text)), tuple(writer.modules), "")
        if known is not None:
            known[key] = found
    return found


class _Writer:
    """Writes down values, and the code that they lead to; each object once."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.modules: set[str] = set()
        self._seen: dict[int, tuple[int, Any]] = {}  # with the object, so that no other gets its number
        self._ahead: list[FunctionType | type] = []  # code that is to be followed
        self._given = True  # arguments are being written, not objects that code names

    def write_given(self, arguments: Any) -> list[FunctionType | type]:
        """Append arguments, and the variables of makers among them; return the code that they lead to."""
        self.write(arguments)
        for code in self._ahead:  # grows meanwhile
            if isinstance(code, FunctionType):
                self._variables(code)
        return self._ahead

    def follow(self, roots: list[FunctionType | type]) -> None:
        """Append code and all that it leads to, but for the variables of `roots`."""
        self._given = False
        for root in roots:
            self._seen[id(root)] = len(self._seen), root
        self._ahead = list(roots)
        for place, code in enumerate(self._ahead):  # grows meanwhile
            if isinstance(code, FunctionType):
                if place >= len(roots):
                    self._variables(code)
                self._function(code)
            else:
                self._class(code)

    def _variables(self, function: FunctionType) -> None:
        self.write([cell.cell_contents for cell in function.__closure__ or ()])

    def write(self, value: Any) -> None:
        """Append a value."""
        kind = type(value)
        if kind in PLAIN:
            self.text.append(repr(value))
        elif kind is int:
            self.text.append(hex(value))  # repr refuses very long ones
        elif kind is FunctionType:
            self._once(value)
        elif isinstance(value, Enum):
            self.write(type(value))
            self.text.append(value.name)
        elif isinstance(value, float | str | bytes | range):
            self.text.append(repr(value))
        elif isinstance(value, Bits):
            self.text.append(f"Bits{value.nbits} {int(value):x}")
        elif isinstance(value, tuple | list | set | frozenset | Mapping):
            self._collection(value)
        else:
            self._once(value)

    def _once(self, value: Any) -> None:
        """Append an object; where it is met again a reference to it."""
        if id(value) in self._seen:
            self.text.append(f"see {self._seen[id(value)][0]}")
        else:
            self._seen[id(value)] = len(self._seen), value
            self._object(value)

    def _collection(self, value: Any) -> None:
        self.write(type(value))
        self.text.append(str(len(value)))
        if isinstance(value, Mapping):
            value = [part for pair in value.items() for part in pair]
        elif isinstance(value, set | frozenset):
            value = sorted(value, key=repr)
        for item in value:
            self.write(item)

    def _object(self, value: Any) -> None:
        if isinstance(value, partial):
            self.write((value.func, value.args, value.keywords))
        elif isinstance(value, MethodType):
            self.write((value.__self__, value.__func__))
        elif isinstance(value, staticmethod | classmethod) or hasattr(value, "cache_info"):
            self.write(value.__wrapped__)
        elif isinstance(value, property):
            self.write((value.fget, value.fset))
        elif isinstance(value, cached_property):
            self.write(value.func)
        elif isinstance(value, FunctionType | type):
            self._code_of(value)
        elif is_dataclass(value):
            self.write((type(value), [getattr(value, field.name) for field in fields(value)]))
        elif self._given:
            raise _Unknown(value)
        else:
            # a constant that code names and that is no plain value: its text counts with the sources
            self._name(value if hasattr(value, "__qualname__") else type(value))

    def _name(self, value: Any) -> str:
        """Append the name of a function or class, and return the module that it is from."""
        module = getattr(value, "__module__", None) or ""
        self.text.append(f"{module} {value.__qualname__}")
        return module

    def _code_of(self, value: FunctionType | type) -> None:
        room, _, module = self._name(value).partition(".")
        if room in LIBRARIES or room.startswith("namedtuple_"):
            self.write(getattr(value, "__bitstruct_fields__", None))
        elif room == PACKAGE:
            self.modules.add(module)
            self._ahead.append(value)
        else:
            raise _Unknown(value)

    def _function(self, function: FunctionType) -> None:
        text, names = _code(function.__code__)
        self.text.append(text)
        self.write(function.__defaults__)
        self.write(function.__kwdefaults__)
        for name in names:
            if name in function.__globals__:
                self._named(name, function.__globals__[name], names)

    def _named(self, name: str, value: Any, names: tuple[str, ...]) -> None:
        """Collect the names in code; for a module that it uses as a whole, all of them."""
        if not isinstance(value, ModuleType):
            self.text.append(name)
            self.write(value)
            return
        self.text.append(value.__name__)
        if value.__name__.startswith(f"{PACKAGE}."):
            inside = [(item, vars(value).get(item)) for item in names]
            self.write([pair for pair in inside if not isinstance(pair[1], ModuleType)])

    def _class(self, made: type) -> None:
        self.write(made.__bases__)
        if issubclass(made, Enum):
            self.write([(member.name, member.value) for member in made])
        # PyMTL3 generates the methods of a message from its fields
        for name, value in getattr(made, "__bitstruct_fields__", vars(made)).items():
            # PyMTL3 and dataclasses keep their own data in private attributes of a class. Since Python 3.14
            # a function computes annotations; it refers to all attributes, including those added by pickle.
            if name == "__annotate_func__":
                continue
            if name[0] != "_" or callable(value) or isinstance(value, DESCRIPTORS):
                self.text.append(name)
                self.write(value)


@functools.cache
def _code(code: CodeType) -> tuple[str, tuple[str, ...]]:
    """A digest of compiled code without its docstring, and the names in it."""
    inner = [_code(co_const) for co_const in code.co_consts if isinstance(co_const, CodeType)]
    loaded = {item.arg for item in dis.get_instructions(code) if item.opcode in dis.hasconst}
    plain = [
        sorted(map(repr, co_const)) if isinstance(co_const, frozenset) else repr(co_const)
        for place, co_const in enumerate(code.co_consts)
        if place in loaded and not isinstance(co_const, CodeType)
    ]
    text = [code.co_code.hex(), plain, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
    names = dict.fromkeys((*code.co_names, *(name for _, found in inner for name in found)))
    return cache.key(repr(text), *(item for item, _ in inner)), tuple(names)
