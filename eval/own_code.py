"""Loads Python code of users, and records every file that this code is imported from or opens.

A trace holds the digests of these files as they were read. If all of them still have these digests, the
loaded code is current; otherwise it is imported again, with all its helpers. A file belongs to the code that
reads it: an audit hook looks for the user's code among the callers of every `open`.

Bytecode is neither read nor written, because it stays valid after an edit within a second that keeps the
size.
"""

import ast
import contextlib
import importlib
import importlib.util
import inspect
import itertools
import linecache
import os
import re
import sys
import sysconfig
import threading
import uuid
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, Generic, TypeVar

from pymtl3 import Component

from ..fl.accelerator import Accelerator
from ..rtl.sim import cache

PREFIX = "accelerator_"  # of the names of packages that are folders of users
MAIN = "__main__"  # the running script, which cannot be imported again
MISSING = ""  # digest of a file that does not exist
WRITES = os.O_WRONLY | os.O_RDWR
_PACKAGE = __name__.partition(".")[0]
# folders of Python, of installed packages, and of the system, whose files are not the user's
_INSTALLED = tuple(
    {Path(folder).resolve() for folder in (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())}
)
_SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev")))
# modexlab's own code; its examples and labs are used like folders of users
_ROOMS = tuple(Path(__file__).parents[1] / room for room in ("fl", "rtl", "cl", "proc", "flow", "eval"))
_counter = itertools.count(1)
_lock = threading.RLock()
Key = TypeVar("Key")
Value = TypeVar("Value")


class Memory(Generic[Key, Value]):
    """Values that a process remembers. Digests of code include the dictionaries that code names, but not
    this object, whose content is no part of the code.
    """

    def __init__(self) -> None:
        self.known: dict[Key, Value] = {}


class Trace:
    """The files that some code of a user was imported from or has opened.

    `folder` is the code's own folder. Outside of it, files of Python, of installed packages and of modexlab
    do not count.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.modules: set[str] = set()  # names in sys.modules
        self._digests: dict[Path, str] = {}
        self._written: set[Path] = set()
        self.others: list[Trace] = []  # of other code that belongs to it

    def read(self, path: Path, module: bool = False) -> None:
        """Record a file with its present content; data files count only if they are the user's."""
        path = path.absolute()
        if path not in self._digests and (module or self._counts(path)):
            self._digests[path] = _digest(path)

    def wrote(self, path: Path) -> None:
        """Record a file that the code has made itself by its present content, whenever that is asked for."""
        path = path.absolute()
        if self._counts(path):
            self._written.add(path)

    def _counts(self, path: Path) -> bool:
        """Whether a file is the user's."""
        path = path.resolve()
        if path.is_dir() or path.suffix == ".pyc":
            return False
        inside = path.is_relative_to(self.folder)
        return not any(
            path.is_relative_to(other)
            and not (inside and self.folder.is_relative_to(other) and self.folder != other)
            for other in (*_INSTALLED, *_SYSTEM, cache.root(), *_ROOMS)
        )

    @property
    def current(self) -> bool:
        """Whether all files still have the content that was read."""
        return all(_digest(path) == digest for path, digest in self._known.items()) and all(
            other.current for other in self.others
        )

    @property
    def _known(self) -> dict[Path, str]:
        """The digests of all files; the present ones of files that the code has written itself."""
        for path in self._written & self._digests.keys():
            self._digests[path] = _digest(path)
        self._written.clear()
        return dict(self._digests)

    @property
    def digest(self) -> str:
        """The digest of all files, by their paths from the folder."""
        named = sorted((os.path.relpath(path, self.folder), digest) for path, digest in self._known.items())
        return cache.key(*(f"{path}\n{digest}" for path, digest in named), *(o.digest for o in self.others))

    @property
    def files(self) -> list[Path]:
        """All files."""
        return sorted({*self._digests, *(path for other in self.others for path in other.files)})

    def add_module(self, module: ModuleType) -> None:
        """Record a module that is imported already, and all that it imports from files of the user's."""
        ahead, seen = [module], set[str]()
        while ahead:
            found = ahead.pop()
            file = getattr(found, "__file__", None)
            if not file or found.__name__ in seen or not self.is_users(found.__name__, Path(file)):
                continue
            seen.add(found.__name__)
            self.modules.add(found.__name__)
            self.read(Path(file), module=True)
            if file not in _files.known:
                _methods.known.update(dict.fromkeys(_code_of_classes(found), self))
            ahead += [sys.modules[name] for name in _imports(found) if name in sys.modules]

    def is_users(self, name: str, file: Path) -> bool:
        """Whether a module is the user's: its file is, or it belongs to the package of the user's module."""
        top = name.partition(".")[0]
        if top == _PACKAGE:
            return False
        return self._counts(file) or top in {module.partition(".")[0] for module in self.modules}


_files = Memory[str, Trace]()  # of every loaded file of a user, by its name in frames
_methods = Memory[CodeType, Trace]()  # of classes in modules that others have imported
_loading: list[Trace] = []  # traces of imports in progress, the innermost last


def _code_of_classes(module: ModuleType) -> Iterator[CodeType]:
    """The code of the methods of the accelerators and components that a module defines."""
    for kind in list(vars(module).values()):
        ours = isinstance(kind, type) and issubclass(kind, (Accelerator, Component))
        if ours and kind.__module__ == module.__name__:
            for member in vars(kind).values():
                function = getattr(member, "fget", None) or getattr(member, "func", None) or member
                code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
                if isinstance(code, CodeType):
                    yield code


def _digest(path: Path) -> str:
    try:
        return cache.file_digest(path)
    except OSError:
        return MISSING


def _imports(module: ModuleType) -> Iterator[str]:
    """The names of the modules that a module imports, according to its source."""
    try:
        tree = ast.parse(Path(module.__file__ or "").read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    package = module.__package__ or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                yield from (".".join(parts[: end + 1]) for end in range(len(parts)))
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                with contextlib.suppress(ImportError, ValueError):
                    base = importlib.util.resolve_name("." * node.level + base, package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


# ---- recording


def _owner(frame: FrameType | None) -> Trace | None:
    """The trace of the user's code or of the import that is nearest among these callers."""
    while frame is not None:
        if _loading and frame.f_code in _LOADERS:
            return _loading[-1]
        found = _files.known.get(frame.f_code.co_filename) or _methods.known.get(frame.f_code)
        if found is not None:
            return found
        frame = frame.f_back
    return None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Record the files that a user's code opens."""
    if event != "open" or _hook.busy or not (_files.known or _methods.known or _loading):
        return
    path, mode, flags = arguments
    if not isinstance(path, (str, bytes, os.PathLike)):
        return
    _hook.busy = True  # digests open files too
    try:
        owner = _owner(sys._getframe(1))
        if owner is not None:
            writes = set(mode or "") & set("wax+") or (mode is None and flags & WRITES)
            if not writes or "r" in (mode or ""):
                owner.read(Path(os.fsdecode(path)))
            if writes:
                owner.wrote(Path(os.fsdecode(path)))
    finally:
        _hook.busy = False


class _Hook(threading.local):
    """Whether this thread is recording."""

    busy = False


_hook = _Hook()


class _Loader(SourceFileLoader):
    """Imports a module from its source, and records the file."""

    def __init__(self, trace: Trace, name: str, path: str) -> None:
        super().__init__(name, path)
        self._trace = trace

    def get_code(self, fullname: str) -> Any:
        data = self.get_data(self.path)
        self._trace.modules.add(fullname)
        self._trace.read(Path(self.path), module=True)
        _files.known[self.path] = self._trace
        linecache.cache.pop(self.path, None)  # PyMTL3 reads update blocks through it
        return self.source_to_code(data, self.path)


class _Finder:
    """Finds the modules that a user's code imports."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] == _PACKAGE:
            return None
        owner = _owner(sys._getframe(1))
        spec = None if owner is None else PathFinder.find_spec(name, path, target)
        if owner is None or spec is None or spec.origin is None or type(spec.loader) is not SourceFileLoader:
            return None
        if not owner.is_users(name, Path(spec.origin)):
            return None
        spec.loader = _Loader(owner, name, spec.origin)
        return spec


@contextlib.contextmanager
def _recording(trace: Trace) -> Iterator[None]:
    """Imports inside belong to this trace. Modules of users that the process has are not taken on trust, as
    their files may have changed since: they are imported again, and put back afterwards.
    """
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
        sys.addaudithook(_audit)
    tops = {name.partition(".")[0] for name in trace.modules}
    kept = {
        name: module
        for name, module in list(sys.modules.items())
        if _is_replaceable(name, module) or name.partition(".")[0] in tops
    }
    for name in kept:
        del sys.modules[name]
    path = list(sys.path)
    _loading.append(trace)
    try:
        importlib.invalidate_caches()
        yield
    finally:
        _loading.pop()
        sys.modules.update(kept)
        sys.path[:] = dict.fromkeys((*sys.path, *path))


def _is_replaceable(name: str, module: ModuleType) -> bool:
    """Whether a module comes from a file of a user's, and others may use its name too."""
    file = getattr(module, "__file__", None)
    if not file or name in (MAIN, _PACKAGE) or name.startswith((PREFIX, f"{_PACKAGE}.")):
        return False
    path = Path(file).resolve()
    return not any(path.is_relative_to(other) for other in (*_INSTALLED, *_SYSTEM, *_ROOMS))


# ---- loading

Loaded = tuple[ModuleType, Trace]
_loaded = Memory[Path, Loaded]()
_imported = Memory[str, Loaded]()


def load(file: Path, anew: bool = False) -> Loaded:
    """The module in a file, whose folder is its package, and the trace of its files; imported again if one of
    them has changed, or `anew`, in a copy of its own.
    """
    file = file.absolute()
    with _lock:
        known = None if anew else _loaded.known.get(file)
        if known is not None and known[1].current:
            return known
        trace = Trace(file.parent)
        # a name for each import: code that was loaded before keeps its own helpers
        name = f"{PREFIX}{re.sub(r'[^a-zA-Z0-9]', '_', file.parent.name)}_{next(_counter)}"
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(file.parent)]
        with _recording(trace):
            try:
                module = importlib.import_module(f"{name}.{file.stem}")
            except BaseException:
                for helper in [item for item in sys.modules if item.startswith(name)]:
                    del sys.modules[helper]
                raise
            found = module, trace
        if not anew:
            _loaded.known[file] = found
        return found


def load_module(name: str, anew: bool = False) -> Loaded:
    """An importable module and the trace of its files; imported again if one of them has changed, or `anew`,
    in a copy of its own.
    """
    with _lock:
        known = _imported.known.get(name)
        if known is not None and (name == MAIN or (not anew and known[1].current)):
            return known
        top = name.partition(".")[0]
        package = sys.modules.get(top) or importlib.util.find_spec(top)
        places = getattr(package, "__path__", None) or getattr(package, "submodule_search_locations", None)
        file = getattr(package, "__file__", None) or getattr(package, "origin", None) or "."
        trace = Trace(Path(next(iter(places)) if places else Path(file).parent))
        trace.modules.add(top)
        with _recording(trace):
            module = importlib.import_module(name)
            trace.add_module(module)
        if not anew:
            _imported.known[name] = module, trace
        return module, trace


def is_users(file: str) -> bool:
    """Whether a source file belongs to code that was loaded here."""
    return file in _files.known or any(Path(file) in trace.files for trace in _traces())


def newest() -> Trace | None:
    """The trace of the code that was loaded last."""
    return next(reversed([*_files.known.values(), *_traces()]), None)


def _traces() -> list[Trace]:
    return [trace for _, trace in (*_imported.known.values(), *_loaded.known.values())]


_LOADERS = (load.__code__, load_module.__code__)


def trace_of(module: ModuleType) -> Trace:
    """The trace of a module that somebody has imported. Code without a file, as of a notebook, equals no
    other.
    """
    file = getattr(module, "__file__", None)
    trace = Trace(Path(file).parent if file else Path())
    if file:
        trace.add_module(module)
    else:
        trace.read(trace.folder / f"{module.__name__} {uuid.uuid4()}", module=True)
    _imported.known[module.__name__] = module, trace
    return trace
