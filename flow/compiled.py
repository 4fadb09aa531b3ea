"""C++ programs and libraries of the flow, compiled once and cached by content."""

from collections.abc import Mapping
from pathlib import Path

from ..rtl.sim import cache, toolchain


def compiled(name: str, texts: Mapping[str, str], *arguments: str) -> Path:
    """Compile files of these names and texts, or take the product from the cache; in `name`, its key replaces
    the asterisk.
    """
    command = [*arguments, "-o", "product"]

    def make(directory: Path) -> Path:
        for file, text in texts.items():
            (directory / file).write_text(text)
        toolchain.cxx(command, cwd=directory)
        return directory / "product"

    key = cache.key(*texts.values(), *command, toolchain.fingerprint())
    return cache.cached(name.replace("*", key), make)
