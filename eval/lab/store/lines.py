"""A file of sealed lines that only grows: one line of JSON an entry.

    {"digest": "0123456789abcdef01234567", "entry": "measurement", ...}

The digest is that of the rest of the line. A writer holds a lock for one write and one fsync. If it is
killed, its last line may be torn; the next writer ends that line first. A line that is not what was written
is named once on stderr and skipped. If a disk is full, the file gets back its former length. Readers take no
lock: they read complete lines only, and later only what was appended.
"""

import errno
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_UN, flock
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ....fl.errors import BadInput

HEAD, MIDDLE = b'{"digest": "', b'", '
DIGITS = 24
BEGIN = len(HEAD) + DIGITS + len(MIDDLE)  # of the entry in a line
SQLITE = b"SQLite format 3\0"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ANOTHER = "give another place by --store FILE or MODEXLAB_STORE"
SAFE = "nothing that was recorded before is lost"
_NAMED: set[tuple[Path, int]] = set()  # damaged lines that this process has named


class Line(NamedTuple):
    """An intact line."""

    number: int  # from 1
    digest: bytes
    text: bytes  # the entry, without the digest


def digest_of(text: bytes) -> bytes:
    """The digest of an entry, as in its line."""
    return hashlib.blake2b(text, digest_size=DIGITS // 2).hexdigest().encode()


def sealed(text: bytes) -> bytes:
    """The line of an entry."""
    return HEAD + digest_of(text) + MIDDLE + text[1:] + b"\n"


def unsealed(line: bytes) -> bytes | None:
    """The entry of a line without its end; None if the line is not what was written."""
    text = b"{" + line[BEGIN:]
    return text if line[:BEGIN] == HEAD + digest_of(text) + MIDDLE else None


def require_file(path: Path) -> None:
    """BadInput for a directory, a device or a pipe: it is no store, and reading it might never end."""
    if path.is_dir():
        raise BadInput(f"the store {path} is a directory; give the name of a file")
    if path.exists() and not path.is_file():
        raise BadInput(f"the store {path} is not a regular file; {ANOTHER}")


class Lines:
    """The lines of a file; a file that does not exist has none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged: list[int] = []
        self.count = 0  # lines read, damaged ones included
        self.renewals = 0  # how often another file was found in the place of the one that was read
        self._end = 0  # of the bytes read
        self._last = b""  # the last line read

    def skip(self, number: int, why: str = "is damaged") -> None:
        """Leave out a line, and name it once."""
        self.damaged.append(number)
        if (self.path, number) not in _NAMED:
            _NAMED.add((self.path, number))
            print(f"modexlab: warning: {self.path}, line {number} {why}; skipped", file=sys.stderr)

    @property
    def torn(self) -> bool:
        """Whether the file ends within a line: it is being written, or its writer was killed."""
        try:
            return self.path.stat().st_size > self._end
        except FileNotFoundError:
            return False

    # ---- reading

    def news(self) -> list[Line]:
        """The intact lines that were appended since the last call."""
        require_file(self.path)
        try:
            with self.path.open("rb") as file:
                return self._news(file)
        except FileNotFoundError:
            self._renew()
            return []
        except OSError as error:
            raise BadInput(f"the store {self.path} cannot be read: {error.strerror}; {ANOTHER}") from None

    def _renew(self) -> None:
        """Forget what was read."""
        if self.count:
            self.damaged, self.count, self._end, self._last = [], 0, 0, b""
            self.renewals += 1

    def _news(self, file: BinaryIO) -> list[Line]:
        file.seek(self._end - len(self._last))
        if file.read(len(self._last)) != self._last:  # another file has taken its place
            self._renew()
            file.seek(0)
        data = file.read()
        self._check(data)
        end = data.rfind(b"\n") + 1
        if not end:
            if not self._end and not (data.startswith(HEAD) or HEAD.startswith(data)):
                raise BadInput(f"{self.path} is no store of modexlab; {ANOTHER}")
            return []
        lines = data[: end - 1].split(b"\n")
        first = self.count + 1
        self.count += len(lines)
        self._end += end
        self._last = lines[-1] + b"\n"
        found, damaged = [], []
        for number, line in enumerate(lines, first):
            if (text := unsealed(line)) is not None:
                found.append(Line(number, line[len(HEAD) : len(HEAD) + DIGITS], text))
            elif line:
                damaged.append(number)
        if first == 1 and not found and not data.startswith(HEAD):
            self._renew()
            raise BadInput(f"{self.path} is no store of modexlab; {ANOTHER}")
        for number in damaged:
            self.skip(number)
        return found

    def _check(self, data: bytes) -> None:
        """BadInput for a file of an older modexlab."""
        if not self._end and data.startswith(SQLITE):
            raise BadInput(
                f"{self.path} is an SQLite file of an older modexlab, which alone can export it as CSV; "
                "measure again into a new store"
            )

    # ---- writing

    @contextmanager
    def locked(self) -> Iterator[int]:
        """Hold the lock of all writers, and yield the file, opened to append."""
        require_file(self.path)
        new = not self.path.exists()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise self.refused(error) from None
        try:
            try:
                if new:
                    sync_folder(self.path.parent)
                flock(file, LOCK_EX)
            except OSError as error:
                raise self.refused(error) from None
            if not self._is(file):
                raise BadInput(f"the store {self.path} was replaced meanwhile; repeat the command")
            yield file
        finally:
            flock(file, LOCK_UN)  # a forked process may have the file, too
            os.close(file)

    def _is(self, file: int) -> bool:
        """Whether an open file is still the one at the path."""
        try:
            return os.path.samestat(os.fstat(file), self.path.stat())
        except FileNotFoundError:
            return False

    def append(self, file: int, texts: Sequence[bytes]) -> None:
        """Append entries to the locked file. They are on the disk when this returns; BadInput if they cannot
        be written, and then none of them is.
        """
        data = b"".join(map(sealed, texts))
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":  # a writer was killed
            data = b"\n" + data
        try:
            if os.write(file, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(file, size)
            raise self.refused(error) from None

    def refused(self, error: OSError) -> BadInput:
        """The error for a file that cannot be written."""
        remedy = f"make room, or {ANOTHER}" if error.errno in FULL else ANOTHER
        return BadInput(f"the store {self.path} cannot be written: {error.strerror}; {remedy}; {SAFE}")


def sync_folder(folder: Path) -> None:
    """Make the names of new files in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
