"""Content digest of a point: the hardware or the model that it measures.

    flow, layout, fpga,               its Verilog, without comments
    native, verilog, python
    cl                                its cycle-level model: class, arguments and code of the component
    formula                           the formulas of its cycles, and its functional level

With `Point.key` it decides whether a figure is stale. Only points with figures in the ledger need it.
"""

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import FunctionType
from typing import Any

from ...rtl.sim.translation.component_digest import Recipe, recipe, recipe_of
from ...rtl.sim.translation.translated import Digests
from ..designs.machine import Machine, PublicMachine
from ..designs.workload_names import cycles_of
from . import keys
from .stages import CL, FORMULA

Point = Any  # of point.py, which imports this module
MOST_REMEMBERED = 1024  # digests that a process keeps
_KNOWN: dict[Any, Any] = {}
_FORMULAS: dict[tuple[Any, ...], Recipe] = {}  # the code of formulas, which many machines share
_USED = ("fl", "cycles", "carried")  # the methods of a machine that a figure by formula comes from


def content_of(point: Point) -> str:
    """The digest for any stage."""
    if point.stage not in (FORMULA, CL):
        return verilog_digests(point).hardware
    if point.own:
        return str(point.design.identity)
    return _remembered(_of_formula if point.stage == FORMULA else _of_model, point)


def verilog_digests(point: Point) -> Digests:
    """Digests of its Verilog, as the flow takes it: the same at all stages of the same hardware."""
    return _remembered(_of_verilog, point)


def _remembered(make: Callable[[Point], Any], point: Point) -> Any:
    """The result of `make`, which many points share."""
    hardware = (point.subject, point.nbits, tuple(sorted(point.all_settings.items())), point.interface)
    if (make, hardware) not in _KNOWN:
        if len(_KNOWN) >= MOST_REMEMBERED:
            _KNOWN.clear()
        _KNOWN[make, hardware] = make(point)
    return _KNOWN[make, hardware]


def _of_verilog(point: Point) -> Digests:
    return point.chip().digests()


def _of_model(point: Point) -> str:
    machine, interface = point.machine, point.machine.interface(point.interface)
    # `machine.cl` would bring the whole machine into the digest, with its RTL
    return _digest(machine, recipe(interface.wrap(machine.shape, machine.build.cl, machine.traits)))


def _of_formula(point: Point) -> str:
    machine = point.machine
    build = machine.build
    none = None
    bare = replace(build, rtl=none, cl=none, unit=replace(build.unit, rtl=none, cl=none))
    kinds = [PublicMachine] if isinstance(machine, PublicMachine) else []
    return f"{_methods(*kinds)} {_digest(machine, recipe_of(machine.design.domain, bare, known=_FORMULAS))}"


@functools.cache
def _methods(*kinds: type[Machine]) -> str:
    """The digest of the methods that all figures by formula come from."""
    names = [*_USED, *cycles_of.__code__.co_names]
    found = recipe_of(_reached(Machine, names), cycles_of, *(_reached(kind, names) for kind in kinds))
    assert found is not None, "they are code of this package"
    return found.digest


def _digest(machine: Machine, found: Recipe | None) -> str:
    """The digest of a recipe; without one, as for code of a test, that of all sources."""
    return found.digest if found is not None else f"{machine.design.identity} {keys.sources_of_answers()}"


def _reached(owner: type, names: Iterable[str]) -> list[tuple[str, Any]]:
    """The members of a class with these names, and those that their code names."""
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
