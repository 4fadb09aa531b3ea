"""Makes PyMTL3 3.1.17 run on Python 3.14 and later.

Python 3.14 removed two things that PyMTL3 reads:

- The classes `ast.Num` and `ast.Str`, the attribute `n` of a number in a syntax tree, and the calls of
  `visit_Num` and `visit_Str` by `ast.NodeVisitor`. The modules of PyMTL3 that parse update blocks use a
  substitute for `ast`, whose `parse` returns trees with these classes. The module `ast` itself, which other
  packages use, does not change.
- The annotations of a class in its `__dict__`, from which `@bitstruct` takes the fields. The function behind
  `@bitstruct` is compiled again and reads `cls.__annotations__`.

Importing `modexlab.rtl` applies both on every version of Python, so that all versions run the same code.
On Python 3.14, PyMTL3 refuses a bitstruct that a program defines before that import ("No field is declared").
docs/explanation/new-python.md has the same change as a patch of PyMTL3.
"""

import ast
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from pymtl3.datatypes import bitstructs
from pymtl3.dsl import AstHelper, ComponentLevel2, ComponentLevel3

from .pymtl3_release import check

# modules of PyMTL3 that this module changes, with the digests of their sources
PINNED = {
    AstHelper: "92ba673d77bdb5795e04381571cac6879321d72f4b7d4b908a9b050e7e74a429",
    ComponentLevel2: "c75146d0dc606dc73b774b9a5a60146c87822a4dca88943ce0f0e930ce5d295a",
    ComponentLevel3: "47bc42074179023ad14f6888fe5b40b5cd39fd6641b18fa68d5d67d305a18a41",
    bitstructs: "5514840aea0c7cfed1fe7d109aed733c6d38aac1b1e17ac434f15d677240b978",
}
FIELDS_BEFORE = "cls.__dict__.get('__annotations__', {})"
FIELDS_AFTER = "cls.__annotations__"


class Num(ast.Constant):
    """A number in a syntax tree; `n` is its value."""

    n: Any = property(lambda node: node.value)

    def __init__(self, *values: Any, **attributes: Any) -> None:
        if "n" in attributes:
            attributes["value"] = attributes.pop("n")
        super().__init__(*values, **attributes)


class Str(ast.Constant):
    """A string in a syntax tree."""


CLASSES = {int: Num, float: Num, complex: Num, str: Str}


class _OldConstants(ast.NodeTransformer):
    """Replaces the constants that are numbers and strings by `Num` and `Str`."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if kind := CLASSES.get(type(node.value)):
            return ast.copy_location(kind(value=node.value, kind=node.kind), node)
        return node


def _parse(*arguments: Any, **options: Any) -> Any:
    """`ast.parse`, with the old classes of constants."""
    return _OldConstants().visit(ast.parse(*arguments, **options))


def stand_in() -> ModuleType:
    """A substitute for `ast` with the constants of Python 3.13."""
    module = ModuleType("ast", "Stand-in for ast with the constants of Python 3.13.")
    vars(module).update({name: value for name, value in vars(ast).items() if not name.startswith("__")})
    vars(module).update(Num=Num, Str=Str, parse=_parse)
    return module


def bitstruct_function() -> Callable[..., type]:
    """PyMTL3's function behind `@bitstruct`, changed to read annotations on Python 3.14."""
    source = inspect.getsource(bitstructs._process_class)
    changed = source.replace(FIELDS_BEFORE, FIELDS_AFTER)
    if changed == source:
        raise RuntimeError(f"`{FIELDS_BEFORE}` is not in PyMTL3's _process_class: revise rtl/new_python.py")
    found: dict[str, Any] = {}
    exec(compile(changed, str(bitstructs.__file__), "exec"), vars(bitstructs), found)
    function: Callable[..., type] = found["_process_class"]
    return function


def adapt() -> None:
    """Change the running PyMTL3; a second call changes nothing."""
    if AstHelper.ast is not ast:
        return
    for module, sha256 in PINNED.items():
        check(module, sha256)
    AstHelper.ast = ComponentLevel2.ast = ComponentLevel3.ast = stand_in()
    bitstructs._process_class = bitstruct_function()


adapt()
