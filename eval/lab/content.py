"""Content digest of a point: a digest of the hardware or model that it measures.

    flow, layout, fpga,               its Verilog, without comments
    native, verilog, python
    cl                                its cycle-level model: class, arguments and code of the component
    formula                           the formulas of its cycles, and its functional level

Together with `Point.key` it decides whether a figure is stale. It is computed only for points with figures in
the store. Elaborating wide hardware takes minutes, so a file next to the reference results has the digests of
their hardware by origin: the digest of the code and the arguments that make it.
"""

import functools
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any, Protocol

from ...fl.accelerator import Accelerator
from ...fl.errors import BadInput
from ...flow.files import replacing
from ...rtl.sim import interrupt, sources
from ...rtl.sim.translation.component_digest import Recipe, recipe, recipe_of
from ...rtl.sim.verilog_digests import Digests
from ..designs.chip import AcceleratorChip
from ..designs.machine import Machine, PublicMachine
from ..designs.workload_names import cycles_of
from ..json_values import Json
from . import keys
from .stages import CL, FORMULA

MOST_REMEMBERED = 1024  # digests cached in a process
_BEGUN = time.time()  # of this process, before it elaborates hardware
_KNOWN: dict[Any, Any] = {}
_FORMULAS: dict[tuple[Any, ...], Recipe] = {}  # the code of formulas, which many machines share
CONTENTS = Path(__file__).parents[1] / "results" / "contents.json"  # `modexlab store renew` writes it
_USED = ("fl", "cycles", "carried")  # methods of a machine that compute figures by formula


class Point(Protocol):
    """The parts of a point (point.py) that decide about its hardware or model."""

    @property
    def subject(self) -> str: ...
    @property
    def nbits(self) -> int: ...
    @property
    def interface(self) -> str: ...
    @property
    def stage(self) -> str: ...
    @property
    def own(self) -> bool: ...
    @property
    def design(self) -> Any: ...
    @property
    def machine(self) -> Any: ...
    @property
    def all_settings(self) -> Json: ...
    def chip(self) -> AcceleratorChip: ...


def content_of(point: Point) -> str:
    """The content digest of a point at any stage."""
    if point.stage not in (FORMULA, CL):
        return recorded_contents().get(origin_of(point)) or _hardware_of(point)
    if point.own:
        return str(point.machine.identity)
    return _remembered(_of_formula if point.stage == FORMULA else _of_model, point)


@interrupt.kept()  # Ctrl-C waits until the hardware is built
def _hardware_of(point: Point) -> str:
    return verilog_digests(point).hardware


def origin_of(point: Point) -> str:
    """A digest of the code and the arguments that make the Verilog of a point, without comments. It is empty
    for the code of users and of tests, and the same in every version of Python.
    """
    return str(_remembered(_origin_of_verilog, point))


@functools.cache
def recorded_contents() -> Mapping[str, str]:
    """The content digests of the hardware of reference results, by origin."""
    found: dict[str, str] = json.loads(CONTENTS.read_text(encoding="utf-8"))
    return found


def record_contents(points: Iterable[Point]) -> None:
    """Write the file of content digests for these points, in place of its present one. BadInput if a source
    has changed since this process began: an origin is that of the files, the hardware that of the process.
    """
    hardware = [point for point in points if point.stage not in (FORMULA, CL)]
    found = {origin: _hardware_of(point) for point in hardware if (origin := origin_of(point))}
    ours = [module.__file__ for name, module in sys.modules.items() if name.startswith(f"{sources.PACKAGE}.")]
    for path in map(Path, filter(None, ours)):
        if path.stat().st_mtime > _BEGUN:
            raise BadInput(
                f"{path} changed meanwhile, so {CONTENTS} stays as it is; run the same command again"
            )
    with replacing(CONTENTS) as part:
        part.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    recorded_contents.cache_clear()


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


def _model(point: Point) -> Recipe | None:
    machine, interface = point.machine, point.machine.interface(point.interface)
    # `machine.cl` would include the whole machine, with its RTL, in the digest
    return recipe(interface.wrap(machine.shape, machine.build.cl, machine.traits))


def _of_formula(point: Point) -> str:
    return f"{_methods(point).digest} {_digest(point.machine, _formula(point))}"


def _formula(point: Point) -> Recipe | None:
    build = point.machine.build
    bare = replace(build, rtl=None, cl=None, unit=replace(build.unit, rtl=None, cl=None))
    return recipe_of(point.machine.design.domain, bare, known=_FORMULAS)


def _methods(point: Point) -> Recipe:
    """The recipe of the methods that compute all figures by formula."""
    return _methods_of(*([PublicMachine] if isinstance(point.machine, PublicMachine) else []))


@functools.cache
def _methods_of(*kinds: type[Machine]) -> Recipe:
    names = [*_USED, *cycles_of.__code__.co_names]
    series = _reached(Accelerator, ["total_cycles"])
    found = recipe_of(series, _reached(Machine, names), cycles_of, *(_reached(kind, names) for kind in kinds))
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
