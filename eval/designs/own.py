"""Accelerators outside the repository, as entries next to the designs of the catalogue.

An entry comes from a folder with a file accelerator.py, from an entry point of an installed package (group
modexlab.accelerators), or from `register`. Another process finds it again by its reference, NAME@FOLDER or
NAME@MODULE:CLASS.
"""

import contextlib
import functools
import importlib
import importlib.util
import inspect
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from ...fl.errors import BadInput
from ...fl.param import Param
from ...rtl.sim import cache
from .runnable import Runnable, place_of

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
    identity: str  # a digest of its sources

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


_registered: dict[str, OwnDesign] = {}


def register(kind: type[Runnable]) -> OwnDesign:
    """Add a class of accelerators; other processes import it from its module."""
    design = _entry_of(kind, f"{kind.__module__}:{kind.__qualname__}")
    _registered[design.name] = design
    return design


def entries() -> dict[str, OwnDesign]:
    """The registered accelerators and those of installed packages, by name."""
    return {**_installed(), **_registered}


@functools.cache
def _installed() -> dict[str, OwnDesign]:
    found = (by_reference(point.value) for point in metadata.entry_points(group=GROUP))
    return {design.name: design for design in found}


def by_reference(origin: str) -> OwnDesign:
    """The entry of a folder, of its accelerator.py, or of MODULE:CLASS; BadInput if there is none."""
    module, colon, name = origin.partition(":")
    if colon and "/" not in origin:
        try:
            kind = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise BadInput(
                f"{origin} cannot be imported: {error}; name a class of an installed package"
            ) from None
        return _entry_of(kind, origin)
    path = Path(origin)
    folder = (path.parent if path.name == FILE else path).absolute()
    if not (folder / FILE).is_file():
        raise BadInput(
            f"{origin}: there is no {FILE} in this folder; `modexlab new accelerator NAME` writes a folder "
            "to begin with"
        )
    return _loaded(folder, folder_digest(folder))


def is_folder(path: Path) -> bool:
    """Whether a path is an accelerator's folder, or its accelerator.py."""
    return path.name == FILE or (path / FILE).is_file()


def folder_digest(folder: Path) -> str:
    """A digest of the sources in a folder, excluding tests."""
    files = sorted(path for path in folder.glob("*.py") if not path.name.startswith("test_"))
    return cache.key(*(f"{path.name}\n{path.read_text()}" for path in files))


def _entry_of(kind: type[Runnable], origin: str) -> OwnDesign:
    """The entry of an imported class, with the digest of its module's folder."""
    module = sys.modules[kind.__module__]
    file = module.__file__
    digest = cache.key(module.__name__) if file is None else folder_digest(Path(file).parent)
    return _entry(kind, origin, digest)


@functools.lru_cache(MOST_MADE)
def imported(file: Path, digest: str) -> ModuleType:
    """Import a module with its folder as a package; import it again if the digest has changed."""
    folder = file.parent
    package = ModuleType(f"accelerator_{re.sub(r'[^a-zA-Z0-9]', '_', folder.name)}_{digest[:12]}")
    package.__path__ = [str(folder)]
    sys.modules[package.__name__] = package
    for path in folder.glob("*.py"):  # bytecode stays valid after an edit within a second that keeps the size
        with contextlib.suppress(OSError):
            Path(importlib.util.cache_from_source(str(path))).unlink()
    try:
        return importlib.import_module(f"{package.__name__}.{file.stem}")
    except Exception as error:  # anything that the user's code raises
        raise BadInput(f"{place_of(error, file)}: {type(error).__name__}: {error}") from None


@functools.lru_cache(MOST_MADE)
def _loaded(folder: Path, digest: str) -> OwnDesign:
    file = folder / FILE
    module = imported(file, digest)
    classes = [kind for kind in vars(module).values() if isinstance(kind, type)]
    kinds = [kind for kind in classes if issubclass(kind, Runnable) and kind.__module__ == module.__name__]
    if len(kinds) != 1:
        names = ", ".join(kind.__name__ for kind in kinds) or "none"
        raise BadInput(
            f"{file} defines {len(kinds)} subclasses of modexlab.Accelerator ({names}); define one"
        )
    return _entry(kinds[0], str(folder), digest)


def _entry(kind: Any, origin: str, identity: str) -> OwnDesign:
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
    return OwnDesign(name, kind, origin, identity)
