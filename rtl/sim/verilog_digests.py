"""Digests of a Verilog text: of the file, and of the hardware that it describes."""

import hashlib
import re
from typing import NamedTuple

from . import cache

# or a string or an escaped name, which may contain what looks like one; places in files are comments too
COMMENT = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\\\S+|(?P<comment>//[^\n]*|/\*.*?\*/|^`line [^\n]*$)', re.DOTALL | re.MULTILINE
)


class Digests(NamedTuple):
    """Digests of a Verilog text."""

    text: str  # SHA-256 of the file
    hardware: str  # of the text without comments and layout, which change no figure

    @classmethod
    def of(cls, verilog: str) -> "Digests":
        """The digests of this text."""
        lines = (" ".join(line.split()) for line in without_comments(verilog).splitlines())
        return cls(hashlib.sha256(verilog.encode()).hexdigest(), cache.key(*filter(None, lines)))


def without_comments(verilog: str) -> str:
    """The text with a space in place of each comment, and without spaces at the ends of lines."""
    text = COMMENT.sub(lambda found: " " if found["comment"] else found[0], verilog)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
