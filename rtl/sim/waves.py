"""Names of waveform files: which formats a stage can write."""

from pathlib import Path

from ...fl.errors import BadInput


def check_suffix(path: Path | None, stage: str, *suffixes: str) -> None:
    """Refuse a waveform file that this stage cannot write, before anything is built."""
    if path is None:
        return
    if path.suffix not in suffixes:
        raise BadInput(f"waveform file {path}: stage {stage} writes {' or '.join(suffixes)}")
    if not path.absolute().parent.is_dir():
        raise BadInput(f"waveform file {path}: the directory {path.parent} does not exist")
