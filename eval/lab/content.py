"""Content digest of a point: a digest of the hardware or model that it measures.

    flow, layout, fpga,               its Verilog, without comments
    native, verilog, python
    cl                                its cycle-level model: class, arguments and code of the component
    formula                           the formulas of its cycles, and its functional level

Together with `Point.key` it decides whether a figure is stale. It is computed only for points with figures in
the ledger.
"""

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import FunctionType
from typing import Any

from ...rtl.sim import cache, interrupt, sources
from ...rtl.sim.translation.component_digest import Recipe, recipe, recipe_of
from ...rtl.sim.verilog_digests import Digests
from ..designs.machine import Machine, PublicMachine
from ..designs.workload_names import cycles_of
from . import keys
from .stages import CL, FORMULA

Point = Any  # of point.py, which imports this module
MOST_REMEMBERED = 1024  # digests cached in a process
_KNOWN: dict[Any, Any] = {}
_FORMULAS: dict[tuple[Any, ...], Recipe] = {}  # the code of formulas, which many machines share
_USED = ("fl", "cycles", "carried")  # methods of a machine that compute figures by formula


@interrupt.kept()  # Ctrl-C waits until the hardware is built
def content_of(point: Point) -> str:
    """The content digest of a point at any stage."""
    if point.stage not in (FORMULA, CL):
        return verilog_digests(point).hardware
    if point.own:
        return str(point.machine.identity)
    return _remembered(_of_formula if point.stage == FORMULA else _of_model, point)


def origin_of(point: Point) -> str:
    """A digest of the code and the arguments that make the hardware or model of a point, without comments.

    Points of one origin have one content, which takes longer to find. It is empty for the code of users and
    of tests, and the same in every version of Python.
    """
    if point.stage not in (FORMULA, CL):
        return _remembered(_origin_of_verilog, point)
    if point.own:
        return ""
    return _remembered(_origin_of_formula if point.stage == FORMULA else _origin_of_model, point)


def verilog_digests(point: Point) -> Digests:
    """Digests of the Verilog that the flow uses; equal at all stages of the same hardware."""
    return _remembered(_of_verilog, point)


def _remembered(make: Callable[[Point], Any], point: Point) -> Any:
    """The cached result of `make`, shared by all points with the same hardware."""
    settings = tuple(sorted(point.all_settings.items()))
    hardware = (point.design, point.subject, point.nbits, settings, point.interface)
    if (make, hardware) not in _KNOWN:
        if len(_KNOWN) >= MOST_REMEMBERED:
            _KNOWN.clear()
        _KNOWN[make, hardware] = make(point)
    return _KNOWN[make, hardware]


def _of_verilog(point: Point) -> Digests:
    return point.chip().digests()


def _origin_of_verilog(point: Point) -> str:
    return point.chip().origin() or ""


def _of_model(point: Point) -> str:
    return _digest(point.machine, _model(point))


def _origin_of_model(point: Point) -> str:
    return _origin(_model(point))


def _model(point: Point) -> Recipe | None:
    machine, interface = point.machine, point.machine.interface(point.interface)
    # `machine.cl` would include the whole machine, with its RTL, in the digest
    return recipe(interface.wrap(machine.shape, machine.build.cl, machine.traits))


def _of_formula(point: Point) -> str:
    return f"{_methods(point).digest} {_digest(point.machine, _formula(point))}"


def _origin_of_formula(point: Point) -> str:
    return _origin(_formula(point), _methods(point))


def _formula(point: Point) -> Recipe | None:
    build = point.machine.build
    bare = replace(build, rtl=None, cl=None, unit=replace(build.unit, rtl=None, cl=None))
    return recipe_of(point.machine.design.domain, bare, known=_FORMULAS)


def _origin(*recipes: Recipe | None) -> str:
    """The digest of recipes with the code that they lead to; empty if one has none."""
    if None in recipes:
        return ""
    found = [item for item in recipes if item is not None]
    modules = sorted({module for item in found for module in item.modules})
    return cache.key(*(item.arguments for item in found), sources.code_digest(*modules))


def _methods(point: Point) -> Recipe:
    """The recipe of the methods that compute all figures by formula."""
    return _methods_of(*([PublicMachine] if isinstance(point.machine, PublicMachine) else []))


@functools.cache
def _methods_of(*kinds: type[Machine]) -> Recipe:
    names = [*_USED, *cycles_of.__code__.co_names]
    found = recipe_of(_reached(Machine, names), cycles_of, *(_reached(kind, names) for kind in kinds))
    assert found is not None, "they are code of this package"
    return found


def _digest(machine: Machine, found: Recipe | None) -> str:
    """The digest of a recipe; without one, as for code of a test, the digest of all sources."""
    return found.digest if found is not None else f"{machine.design.identity} {keys.sources_of_answers()}"


def _reached(owner: type, names: Iterable[str]) -> list[tuple[str, Any]]:
    """The members of a class with these names, and the members that their code uses."""
    found = {}
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name in found or not hasattr(owner, name):
            continue
        member = found[name] = vars(owner).get(name)
        code = getattr(member, "fget", None) or getattr(member, "func", None) or member
        ahead += code.__code__.co_names if isinstance(code, FunctionType) else ()
    return sorted((name, member) for name, member in found.items() if member is not None)
