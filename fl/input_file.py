"""Reads input files named by a user, with a limit on their size."""

import errno
from pathlib import Path

MOST_BYTES = 1 << 26  # 64 MiB: several times the largest set of test vectors


def read_bytes(path: str | Path) -> bytes:
    """The content of a file or a pipe; OSError if it is longer than MOST_BYTES."""
    with Path(path).open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES >> 20} MiB, or does not end", str(path))
    return data


def read_text(path: str | Path) -> str:
    """The same in UTF-8, with newlines as Python has them."""
    return read_bytes(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
