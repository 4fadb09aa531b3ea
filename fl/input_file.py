"""Reader of input files named by a user, with a limit on their size."""

from pathlib import Path

from .errors import BadInput

MOST_BYTES = 1 << 28  # 256 MiB: several times the largest set of test vectors or Liberty file


def read_bytes(path: str | Path, remedy: str) -> bytes:
    """The content of a file or a pipe; BadInput, ending with the remedy, if it cannot be read or is longer
    than MOST_BYTES.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; {remedy}") from None
    if len(data) > MOST_BYTES:
        raise BadInput(f"{path} has more than {MOST_BYTES >> 20} MiB, or does not end; {remedy}")
    return data


def read_text(path: str | Path, remedy: str) -> str:
    """The content of a UTF-8 file with normalised newlines; BadInput, ending with the remedy, if it cannot be
    read.
    """
    try:
        return read_bytes(path, remedy).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path}, line {line}: this is no text; {remedy}") from None
