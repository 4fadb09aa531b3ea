"""What takes long to make, on disk: found by the hash of everything that went into it.

The cache is $MODEXLAB_CACHE, else $XDG_CACHE_HOME/modexlab, else ~/.cache/modexlab. An entry is one file
(`cached`: a compiled library) or a directory of files (`cached_tree`: a step of the flow). It is made in a
directory of its own inside the cache and moved into place in one step, so that no reader ever sees half an
entry, whoever else builds the same thing at that moment; a lock per entry only saves the second builder the
work. A file ends with a digest of its contents, a directory has a list of them: what is damaged is built
again.
"""

import errno
import fcntl
import hashlib
import json
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
DIGESTS = "digests.json"  # in a directory: the digest of each file, by its path
# what `cached` and `cached_tree` make: entries by name and key, and directories in which they are built
ENTRY = re.compile(r"\w+-[0-9a-f]{24}(\.gch|\.o|\.so)?")
TREE = re.compile(r"[\w-]+-[0-9a-f]{24}\.tree")
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


def tree_name(name: str, key: str) -> str:
    """The name of an entry that is a directory."""
    return f"{name}-{key}.tree"


def intact_tree(name: str) -> Path | None:
    """The directory of this name if it is in the cache, whole."""
    entry = root() / name
    try:
        digests = json.loads((entry / DIGESTS).read_text())
        whole = digests == _digests(entry)
    except (OSError, ValueError):
        return None
    return entry if whole else None


def cached_tree(name: str, build: Callable[[Path], None]) -> Path:
    """The directory of this name (see `tree_name`); `build(directory)` fills a new one if need be."""
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
                    shutil.rmtree(entry, ignore_errors=True)  # a damaged one
                    product.replace(entry)
                except OSError as error:
                    raise _unusable(error.strerror or str(error)) from None
    return entry


def digests_of(entry: Path) -> dict[str, str]:
    """The digest of each file of an intact directory of the cache."""
    return json.loads((entry / DIGESTS).read_text())


def file_digest(path: Path) -> str:
    """Of a file's contents."""
    digest = hashlib.blake2b(digest_size=DIGEST_SIZE)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _digests(directory: Path) -> dict[str, str]:
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != DIGESTS)
    return {path.relative_to(directory).as_posix(): file_digest(path) for path in files}


def clear() -> None:
    """Remove all that was made here, and the directory if nothing else is in it, which may be a user's own."""
    locks = root() / LOCKS
    for directory in (locks, root()):
        if directory.is_dir():
            for path in directory.iterdir():
                if path.is_file() and (ENTRY.fullmatch(path.name) or TREE.fullmatch(path.name)):
                    path.unlink(missing_ok=True)
                elif path.is_dir() and (BUILD.fullmatch(path.name) or TREE.fullmatch(path.name)):
                    shutil.rmtree(path, ignore_errors=True)
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
        file = (locks / entry.name).open("w")
    except OSError as error:
        raise _unusable(error.strerror or str(error)) from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
