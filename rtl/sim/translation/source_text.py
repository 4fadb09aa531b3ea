"""Locates update blocks in the Python source, and defines the patterns by which all passes find parts of
Verilog text.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from types import FunctionType


def line_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression whose ^ and $ match at the ends of all lines."""
    return re.compile(pattern, re.MULTILINE | flags)


MODULE = line_pattern(r"^module (\w+)\b.*?^endmodule$", re.DOTALL)
WIRE = line_pattern(r"^  (\w+(?: (?:\[[^\]\n]*\])+)?) (?P<name>\w+);\n")  # its type first
INSTANCE = line_pattern(  # its module and pins
    r"^ +(\w+)(?: #\(.*\))? \w+\n +\(\n((?: +\..*\n)*) +\);$"
)
NAME = re.compile(r"(?<![.\w'])[A-Za-z_]\w*")


def words_in(text: str) -> Counter[str]:
    """The names, keywords and numbers in a text."""
    return Counter(re.findall(r"\w+", text))


def with_end(text: str, lines: Iterable[str]) -> str:
    """The text of a module that ends with these lines."""
    return line_pattern(r"^endmodule$").sub(lambda end: "\n".join([*lines, end[0]]), text)


def without(pattern: re.Pattern[str], names: Container[str], text: str) -> str:
    """The text without the matches of a pattern for these names."""
    return pattern.sub(lambda found: "" if found["name"] in names else found[0], text)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with other names, or expressions, in the place of these names."""
    return NAME.sub(lambda name: names.get(name[0], name[0]), text)


class Block(list[str]):
    """The Verilog lines of an update block."""

    def __init__(self, function: FunctionType, lines: list[str]) -> None:
        super().__init__(lines)
        code = function.__code__
        self.place = code.co_filename, code.co_firstlineno
