"""Compiled libraries on disk, found by the hash of everything that went into them.

The cache is $MODEXLAB_CACHE, else $XDG_CACHE_HOME/modexlab, else ~/.cache/modexlab. An entry is one file. It is
made in a directory of its own inside the cache and moved into place in one step, so that no reader ever
sees half an entry, whoever else builds the same thing at that moment; a lock per entry only saves the second
builder the work. Each file ends with a digest of its contents: a damaged one is built again.
"""

import errno
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...fl.errors import BadInput
from .toolchain import ToolError

DIGEST_SIZE = 16
LOCKS = "locks"
# what `cached` makes: entries by name and key, and directories in which they are built
ENTRY = re.compile(r"\w+-[0-9a-f]{24}(\.o|\.so)?")
BUILD = re.compile(r"build-\w{8}")


def root() -> Path:
    """The directory of the cache."""
    if explicit := os.environ.get("MODEXLAB_CACHE"):
        return Path(explicit).absolute()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home).absolute() / "modexlab"


def key(*parts: str) -> str:
    """A short name for these inputs."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def cached(name: str, build: Callable[[Path], Path]) -> Path:
    """The entry of this name; `build(directory)` makes it if need be and returns the file it made there.

    A trailing digest does no harm to an ELF file, which knows the extent of its own sections.
    """
    entry = root() / name
    if _intact(entry):
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


def clear() -> None:
    """Remove all that `cached` made, and the directory if nothing else is in it, which may be a user's own."""
    locks = root() / LOCKS
    for directory in (locks, root()):
        if directory.is_dir():
            for path in directory.iterdir():
                if path.is_file() and ENTRY.fullmatch(path.name):
                    path.unlink(missing_ok=True)
                elif path.is_dir() and BUILD.fullmatch(path.name):
                    shutil.rmtree(path, ignore_errors=True)
            if not any(directory.iterdir()):
                directory.rmdir()


def _unusable(reason: str) -> BadInput:
    return BadInput(
        f"the cache {root()} cannot be written ({reason}): set MODEXLAB_CACHE to another directory, or make room"
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
        file = (locks / entry.name).open("w")
    except OSError as error:
        raise _unusable(error.strerror or str(error)) from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
