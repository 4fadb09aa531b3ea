"""Pictures of layouts: files in a folder next to a store, named after their digests."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from ....fl.errors import BadInput
from ....flow.files import replacing
from .lines import DIGITS, sync_folder

PICTURES = "layouts"  # the folder


def folder(store: Path) -> Path:
    """The folder of a store's pictures."""
    return store.parent / PICTURES


def _path(store: Path, file: str) -> Path:
    """The path of a file of the folder; BadInput for a file elsewhere."""
    if file in ("", "..") or Path(file).name != file:
        raise BadInput(f"{store}: {file!r} is no name of a picture")
    return folder(store) / file


def write(store: Path, artifacts: Mapping[str, bytes]) -> dict[str, str]:
    """Write artifacts, durably, and return their files by name."""
    files = {}
    for name, content in artifacts.items():
        digest = hashlib.blake2b(content, digest_size=DIGITS // 2).hexdigest()
        files[name] = f"{digest}{Path(name).suffix}"
        place(store, files[name], content)
    return files


def place(store: Path, file: str, content: bytes) -> None:
    """Write a file of the folder, durably, unless it is there."""
    path = _path(store, file)
    if path.is_file() and path.read_bytes() == content:
        return
    with replacing(path) as part, part.open("wb") as written:
        written.write(content)
        written.flush()
        os.fsync(written.fileno())
    sync_folder(path.parent)


def read(store: Path, files: Mapping[str, str]) -> dict[str, bytes]:
    """The artifacts whose files are there, by name."""
    paths = {name: _path(store, file) for name, file in files.items()}
    return {name: path.read_bytes() for name, path in paths.items() if path.is_file()}
