"""Accelerators outside the repository, as entries next to the designs of the catalogue.

An entry comes from a folder with a file accelerator.py, from an entry point of an installed package (group
modexlab.accelerators), or from `register`. Another process finds it again by its reference, NAME@FOLDER or
NAME@MODULE:CLASS.
"""

import contextlib
import functools
import inspect
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from ...fl.errors import BadInput
from ...fl.param import Param
from .. import own_code
from ..author_check import check_class
from ..mistakes import mistake
from ..own_code import Memory, Trace
from .runnable import Runnable
from .workload_names import compared_as

FILE = "accelerator.py"
GROUP = "modexlab.accelerators"
NAME = re.compile(r"[a-z][a-z0-9_-]*")
MOST_MADE = 256  # accelerators cached per process


@dataclass(frozen=True, eq=False)
class OwnDesign:
    """The entry of a user's accelerator class; `at` creates an instance."""

    paper: ClassVar[str] = ""  # not published

    name: str
    kind: type[Runnable]
    origin: str  # a folder, or MODULE:CLASS
    trace: Trace  # of the files that its code was imported from or has opened

    def identity_at(self, nbits: int, settings: Mapping[str, Any]) -> str:
        """The digest of all files that its code reads for one machine, whatever others it has made."""
        machine = self, nbits, tuple(sorted(settings.items()))
        known = _traces.known.get(machine)
        if known is None or not known.current:
            known = _traces.known[machine] = _trace_of(*machine)
        return known.digest

    @property
    def is_python(self) -> bool:
        """Whether its class is written in Python, and not made from a manifest."""
        return not hasattr(self.kind, "manifest")

    @property
    def family(self) -> str:
        """The group in tables and charts: accelerators of one class."""
        return self.name

    @property
    def summary(self) -> str:
        """The first line of its description."""
        return self.kind.summary or (inspect.getdoc(self.kind) or "").partition("\n")[0]

    @property
    def params(self) -> tuple[Param, ...]:
        """Its parameters, without the width."""
        return self.kind.params

    @property
    def usual_nbits(self) -> int:
        """The default width."""
        return self.kind.usual_nbits

    @property
    def reference(self) -> str:
        """The name that resolves in any process."""
        return f"{self.name}@{self.origin}"

    def at(self, nbits: int, **settings: Any) -> Runnable:
        """The accelerator of this width with these parameters, cached."""
        return _made(self, nbits, tuple(sorted(settings.items())))


@functools.lru_cache(MOST_MADE, typed=True)
def _made(design: OwnDesign, nbits: int, settings: tuple[tuple[str, Any], ...]) -> Runnable:
    made = design.kind(nbits, **dict(settings))
    made.design = design
    return made


_traces = Memory[tuple[OwnDesign, int, tuple[tuple[str, Any], ...]], Trace]()  # of machines


def _trace_of(design: OwnDesign, nbits: int, settings: tuple[tuple[str, Any], ...]) -> Trace:
    """The files that a copy of a design reads, which has made no other machine."""
    if design.kind.__module__ == own_code.MAIN or not design.is_python or not design.trace.current:
        return design.trace  # nothing like it can be loaded again
    copy = by_reference(design.origin, anew=True)
    machine = copy.at(nbits, **dict(settings))
    for level in ("rtl", "cl"):
        with contextlib.suppress(BadInput):  # of a level that it lacks, or that is wrong
            machine.require_ports(level)
    requests = [row.request for row in machine.rows()]
    requests += [request for workload in machine.workloads().values() for request in workload]
    machine.answers(requests)
    for request in requests:
        machine.cycles(*request)
    return copy.trace


_registered = Memory[str, OwnDesign]()


def register(kind: type[Runnable]) -> OwnDesign:
    """Add a class of accelerators; other processes import it from its module."""
    origin = f"{kind.__module__}:{kind.__qualname__}"
    trace = own_code.trace_of(sys.modules[kind.__module__])
    design = _entry(kind, origin, trace)
    _registered.known[design.name] = design
    return design


def entries() -> dict[str, OwnDesign]:
    """The registered accelerators and those of installed packages, by name; of an edited module, its new
    class.
    """
    installed = (by_reference(point.value) for point in metadata.entry_points(group=GROUP))
    for name, design in _registered.known.items():
        if not design.trace.current:
            _registered.known[name] = by_reference(design.origin)
    return {**{design.name: design for design in installed}, **_registered.known}


def by_reference(origin: str, anew: bool = False) -> OwnDesign:
    """The entry of a folder, of its accelerator.py, or of MODULE:CLASS; BadInput if there is none. With
    `anew`, of a copy of its code.
    """
    module, colon, name = origin.partition(":")
    if colon and "/" not in origin:
        try:
            imported, trace = own_code.load_module(module, anew)
            kind = getattr(imported, name)
        except (ImportError, AttributeError) as error:
            raise BadInput(
                f"{origin} cannot be imported: {error}; name a class of an installed package"
            ) from None
        return _entry(kind, origin, trace)
    path = Path(origin)
    folder = (path.parent if path.name == FILE else path).absolute()
    if not (folder / FILE).is_file():
        raise BadInput(
            f"{origin}: there is no {FILE} in this folder; `modexlab new accelerator NAME` writes a folder "
            "to begin with"
        )
    file = folder / FILE
    loaded, trace = load(file, anew)
    classes = [kind for kind in vars(loaded).values() if isinstance(kind, type)]
    kinds = [kind for kind in classes if issubclass(kind, Runnable) and kind.__module__ == loaded.__name__]
    if len(kinds) != 1:
        names = ", ".join(kind.__name__ for kind in kinds) or "none"
        raise BadInput(
            f"{file} defines {len(kinds)} subclasses of modexlab.Accelerator ({names}); define one"
        )
    return _entry(kinds[0], str(folder), trace)


def require_comparable(one: Runnable, other: Runnable) -> None:
    """BadInput if two accelerators of one function have different fields or workloads."""
    if one is other:
        return
    fields = [(machine.shape.request, machine.shape.results) for machine in (one, other)]
    what = "fields" if fields[0] != fields[1] else "workloads"
    if fields[0] != fields[1] or dict(one.workloads()) != dict(other.workloads()):
        raise BadInput(
            f"{one.name} and {other.name} have the same function {compared_as(one)!r}, but different {what} "
            f"at {one.nbits} bits, so their results cannot be compared; make the {what} equal, or rename one "
            "function"
        )


def is_folder(path: Path) -> bool:
    """Whether a path is an accelerator's folder, or its accelerator.py."""
    return path.name == FILE or (path / FILE).is_file()


def load(file: Path, anew: bool = False) -> own_code.Loaded:
    """The module in a user's file, and the trace of the files that it reads; BadInput if it cannot be
    imported.
    """
    try:
        return own_code.load(file, anew)
    except (Exception, SystemExit) as error:  # anything that the user's code raises
        raise mistake(error) or error from None


@functools.lru_cache(MOST_MADE)
def _entry(kind: Any, origin: str, trace: Trace) -> OwnDesign:
    """The entry of a class; BadInput if the class is not a complete accelerator."""
    if not (isinstance(kind, type) and issubclass(kind, Runnable)):
        raise BadInput(
            f"{origin} is not a subclass of modexlab.Accelerator: derive your class from modexlab.Accelerator"
        )
    name = kind.name if isinstance(kind.name, str) else ""
    if not NAME.fullmatch(name):
        raise BadInput(
            f"{origin}: name = {name!r} of class {kind.__name__} is not a valid name; "
            'give lower-case letters, digits and dashes, as in name = "gcd"'
        )
    if missing := sorted(kind.__abstractmethods__):
        raise BadInput(f"{origin}: class {kind.__name__} lacks {', '.join(missing)}; define it")
    check_class(kind)
    return OwnDesign(name, kind, origin, trace)
