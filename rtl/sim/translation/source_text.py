"""Update blocks with their place in the source, and the comments that stand there."""

import linecache
from types import FunctionType


class Block(list[str]):
    """The Verilog lines of an update block."""

    def __init__(self, function: FunctionType, lines: list[str]) -> None:
        super().__init__(lines)
        code = function.__code__
        self.place = code.co_filename, code.co_firstlineno
        self.comment = comment_above(*self.place)


def comment_above(file: str, line: int) -> list[str]:
    """The comment lines directly above a line of a file, without rulers of dashes."""
    found: list[str] = []
    while (text := linecache.getline(file, line := line - 1).strip()).startswith("#"):
        found.insert(0, f"// {text.lstrip('# ')}")
    return [text for text in found if "---" not in text]
