"""Writes folders of text files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..fl.errors import BadInput


def new_directory(option: str, path: str, force: bool = False) -> Path:
    """Where a folder goes; BadInput before long work, if it cannot, or if there are files in it and nobody
    has said `force`.
    """
    directory = Path(path)
    if not path:
        raise BadInput(f"{option} {path!r}: this is not the name of a directory; give one")
    if directory.exists() and not directory.is_dir():
        raise BadInput(f"{option} {path}: this is a file; give a directory")
    parent = directory.absolute().parent
    if not parent.is_dir():
        raise BadInput(f"{option} {path}: there is no such directory; make it first: mkdir -p {parent}")
    if directory.is_dir() and any(directory.iterdir()) and not force:
        raise BadInput(f"{option} {path}: there are files in it; give an empty directory, or --force")
    return directory


def write_folder(directory: Path, files: Mapping[str, str]) -> None:
    """Make the directory if need be, and write these files into it."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
