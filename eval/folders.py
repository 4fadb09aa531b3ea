"""Files and folders that a command writes."""

from collections.abc import Mapping
from pathlib import Path

from ..fl.errors import BadInput
from ..flow.files import replace_text


def check_file(option: str, path: str) -> None:
    """Raise BadInput at once if a file that a long run writes at its end cannot be created there."""
    if Path(path).name in ("", "..") or path.endswith("/"):
        raise BadInput(f"{option} {path!r}: this is not the name of a file; give one, as in {option} result")
    if Path(path).is_dir():
        raise BadInput(f"{option} {path}: this is a directory; give a file, as in {option} {path}/result")
    _check_parent(option, path)


def new_directory(option: str, path: str, force: bool = False) -> Path:
    """The output directory, checked before a long run: BadInput if it cannot be created, or if it holds files
    and `force` is not set.
    """
    directory = Path(path)
    if not path:
        raise BadInput(f"{option} {path!r}: this is not the name of a directory; give one")
    if directory.exists() and not directory.is_dir():
        raise BadInput(f"{option} {path}: this is a file; give a directory")
    _check_parent(option, path)
    if directory.is_dir() and any(directory.iterdir()) and not force:
        raise BadInput(f"{option} {path}: there are files in it; give an empty directory, or --force")
    return directory


def _check_parent(option: str, path: str) -> None:
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise BadInput(f"{option} {path}: there is no such directory; make it first: mkdir -p {parent}")


def write_file(path: str, text: str) -> None:
    """Write a text file atomically. Devices and pipes are written directly; a symbolic link is kept."""
    target = Path(path).resolve()
    try:
        target.parent.stat()  # a missing directory is not created
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
        else:
            replace_text(target, text)
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be written: {error.strerror}; give a file in a directory of yours"
        ) from None


def write_folder(directory: Path, files: Mapping[str, str]) -> None:
    """Write these files into the directory, which is created if necessary."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
