"""On-disk cache of builds, keyed by the hash of all their inputs.

The cache is $MODEXLAB_CACHE, else $XDG_CACHE_HOME/modexlab, else ~/.cache/modexlab. An entry is one file
(`cached`: a compiled library) or a directory of files (`cached_tree`: a step of the flow). It is built in a
separate directory inside the cache and moved into place atomically, so that no reader sees a partial entry,
even if several processes build the same one; a lock per entry only saves the second builder the work. A file
ends with a digest of its contents, a directory has a list of digests; a damaged entry is rebuilt. A process
that built something makes room when it ends: above MODEXLAB_CACHE_GB (10) it removes the least recently used
entries. While other processes use the cache, it does so once an hour and keeps entries of the last hour.
"""

import atexit
import errno
import functools
import hashlib
import json
import math
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
from pathlib import Path

from ...fl.errors import BadInput
from .toolchain import ToolError

DIGEST_SIZE = 16
LOCKS = "locks"
DIGESTS = "digests.json"  # in a directory: the digest of each file, by its path
# names of entries, with their keys
ENTRY = re.compile(r"[\w-]+-[0-9a-f]{24}(\.gch|\.o|\.so|\.tree)?")
LIMIT = "MODEXLAB_CACHE_GB"
DEFAULT_GB = 10.0
HOUR = 3600.0
USERS = "users"  # among the locks: held by every process that uses the cache; written when room is made
OURS = re.compile(rf"{ENTRY.pattern}|build-\w{{8}}|{USERS}")  # also the directories of builds


def root() -> Path:
    """The directory of the cache."""
    if explicit := os.environ.get("MODEXLAB_CACHE"):
        return Path(explicit).absolute()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home).absolute() / "modexlab"


def key(*parts: str) -> str:
    """A short name derived from these inputs."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def cached(name: str, build: Callable[[Path], Path]) -> Path:
    """The entry with this name. If it is missing, `build(directory)` creates it and returns the file it made
    there.

    A trailing digest does not harm an ELF file, whose headers define the extent of its sections.
    """
    entry = root() / name
    if _intact(entry):
        _used(entry)
        return entry
    with _lock(entry):
        if not _intact(entry):
            try:
                with tempfile.TemporaryDirectory(prefix="build-", dir=root()) as directory:
                    product = build(Path(directory))
                    with product.open("ab") as file:
                        file.write(_digest(product.read_bytes()))
                    product.replace(entry)
            except OSError as error:
                raise _unusable(error.strerror or str(error)) from None
            except ToolError as error:
                full = os.strerror(errno.ENOSPC)
                if full in str(error):
                    raise _unusable(full) from None
                raise
    return entry


def stored(name: str, make: Callable[[], bytes]) -> bytes:
    """The contents of the entry with this name; if it is missing, `make` returns them."""

    def build(directory: Path) -> Path:
        product = directory / "product"
        product.write_bytes(make())
        return product

    return cached(name, build).read_bytes()[:-DIGEST_SIZE]


def tree_name(name: str, key: str) -> str:
    """The name of an entry that is a directory."""
    return f"{name}-{key}.tree"


def intact_tree(name: str) -> Path | None:
    """The directory with this name if it is in the cache and undamaged, or None."""
    entry = root() / name
    try:
        digests = json.loads((entry / DIGESTS).read_text())
        whole = digests == _digests(entry)
    except (OSError, ValueError):
        return None
    if whole:
        _used(entry)
    return entry if whole else None


def cached_tree(name: str, build: Callable[[Path], None]) -> Path:
    """The directory with this name (see `tree_name`); `build(directory)` fills a new one if it is missing."""
    if (entry := intact_tree(name)) is not None:
        return entry
    entry = root() / name
    with _lock(entry):
        if intact_tree(name) is None:
            with tempfile.TemporaryDirectory(prefix="build-", dir=root()) as directory:
                product = Path(directory) / "product"
                product.mkdir()
                build(product)
                try:
                    (product / DIGESTS).write_text(json.dumps(_digests(product), indent=1))
                    shutil.rmtree(entry, ignore_errors=True)  # damaged
                    product.replace(entry)
                except OSError as error:
                    raise _unusable(error.strerror or str(error)) from None
    return entry


def digests_of(entry: Path) -> dict[str, str]:
    """The digest of each file of an intact directory of the cache."""
    return json.loads((entry / DIGESTS).read_text())


def file_digest(path: Path) -> str:
    """The digest of a file's contents."""
    digest = hashlib.blake2b(digest_size=DIGEST_SIZE)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _digests(directory: Path) -> dict[str, str]:
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != DIGESTS)
    return {path.relative_to(directory).as_posix(): file_digest(path) for path in files}


def limit() -> int:
    """The maximum size of the cache in bytes, from MODEXLAB_CACHE_GB."""
    text = os.environ.get(LIMIT) or str(DEFAULT_GB)
    try:
        gigabytes = float(text)
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < math.inf:
        raise BadInput(
            f"{LIMIT} = {text!r}: give a number of gigabytes above 0, as in {LIMIT}={DEFAULT_GB:g}"
        )
    return int(gigabytes * 1e9)


def sizes() -> dict[Path, int]:
    """The size of every entry in bytes."""
    found = {}
    for entry in root().glob("*-*"):
        if ENTRY.fullmatch(entry.name):
            with suppress(OSError):  # another process has just removed it
                files = entry.rglob("*") if entry.is_dir() else (entry,)
                found[entry] = sum(file.stat().st_size for file in files)
    return found


def _used(entry: Path) -> None:
    with suppress(OSError):  # the cache may be read-only
        os.utime(entry, ns=(time.time_ns(), entry.stat().st_mtime_ns))
        _use(entry.parent / LOCKS)


@functools.cache
def _use(locks: Path) -> int:
    """Return the lock that this process shares with the other users of the cache until it ends."""
    limit()  # BadInput now rather than at the end
    user = os.open(locks / USERS, os.O_CREAT)
    flock(user, LOCK_SH)
    atexit.register(_make_room, locks, user)
    return user


def _make_room(locks: Path, user: int) -> None:
    """Remove the least recently used entries if the cache was written since the last time and exceeds its
    limit.
    """
    kept = HOUR
    with suppress(OSError):
        flock(user, LOCK_UN)
        with suppress(BlockingIOError):  # other processes use the cache
            flock(user, LOCK_EX | LOCK_NB)
            kept = 0.0
        if locks.parent == root() and root().stat().st_mtime > os.fstat(user).st_mtime + kept:
            os.utime(user)
            held = sizes()
            left = sum(held.values())
            for entry in sorted(held, key=lambda entry: entry.stat().st_atime):
                if left <= limit() or time.time() - entry.stat().st_atime < kept:
                    break
                left -= held[entry]
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    flock(user, LOCK_UN)


def clear() -> None:
    """Remove all entries, and the directory if it is then empty; other files in it belong to the user and are
    kept.
    """
    locks = root() / LOCKS
    for directory in (locks, root()):
        if directory.is_dir():
            for path in directory.iterdir():
                if OURS.fullmatch(path.name):
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            if not any(directory.iterdir()):
                directory.rmdir()


def _unusable(reason: str) -> BadInput:
    return BadInput(
        f"the cache {root()} cannot be written ({reason}): set MODEXLAB_CACHE to another directory, or make "
        "room"
    )


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST_SIZE).digest()


def _intact(entry: Path) -> bool:
    try:
        data = entry.read_bytes()
    except OSError:
        return False
    return _digest(data[:-DIGEST_SIZE]) == data[-DIGEST_SIZE:]


@contextmanager
def _lock(entry: Path) -> Iterator[None]:
    locks = entry.parent / LOCKS
    try:
        locks.mkdir(parents=True, exist_ok=True)
        _use(locks)
        file = (locks / entry.name).open("w")
    except OSError as error:
        raise _unusable(error.strerror or str(error)) from None
    with file:
        flock(file, LOCK_EX)
        yield
