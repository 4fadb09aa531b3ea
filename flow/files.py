"""Temporary directories, and files written atomically: to a temporary name first, then moved into place."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file in the same directory, with the same suffix; it replaces `path` if the block
    succeeds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=".", dir=path.parent)
    os.close(handle)
    part = Path(name)
    part.chmod(0o644)
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def scratch(inside: Path | None = None) -> Iterator[Path]:
    """Yield a temporary directory; `inside`: on the file system of this one."""
    with tempfile.TemporaryDirectory(prefix="modexlab-", dir=inside) as name:
        yield Path(name)


def replace_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def replace_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically, indented."""
    replace_text(path, json.dumps(value, indent=1) + "\n")
