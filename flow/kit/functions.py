"""The Boolean functions of Liberty: parsed once, then evaluated or tabulated.

The operators of the Liberty user guide, from the tightest: `!` before or `'` after its operand; `^`; `&`, `*`
or a blank; `|` or `+`. A function becomes a Python expression. As `&` binds tighter than `^` in Python, an
operator closes and reopens more parentheses the looser it binds; `'` is an exclusive or with all ones.
"""

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...fl.errors import BadInput

# a name that begins with a digit is quoted
TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*(?:\[\d+\])?)"
    r'|\\?"(?P<quoted>\w*[A-Za-z_]\w*(?:\[\d+\])?)\\?"'
    r"|(?P<constant>[01])(?!\w)"
    r"|(?P<operator>[!'^&*|+()]))"
)
AND, OR = ")&(", "))|(("
PYTHON = {"0": "0", "1": "-1", "!": "~", "'": "^-1", "^": "^", "&": AND, "*": AND, "|": OR, "+": OR}
PYTHON |= {"(": "(((", ")": ")))"}


def columns(count: int) -> list[int]:
    """The truth tables of this many inputs: 1010... for the first one, 1100... for the second one."""
    return [sum(1 << row for row in range(1 << count) if row >> k & 1) for k in range(count)]


@dataclass(frozen=True)
class Function:
    """A function of the pins (or states) `inputs`, in the order of their first use."""

    inputs: tuple[str, ...]
    words: Callable[[Sequence[int]], int]  # bitwise on words, one per input; may be negative

    def of(self, words: Mapping[str, int]) -> int:
        """The function of words by input; inputs that are not given are 0."""
        return self.words([words.get(name, 0) for name in self.inputs])

    def value(self, /, **at: int) -> int:
        """The value at one point; inputs that are not given are 0."""
        return self.of(at) & 1

    def table(self, inputs: tuple[str, ...]) -> int:
        """The truth table over these inputs: bit i is the value where input k is bit k of i."""
        if unknown := set(self.inputs) - set(inputs):
            raise BadInput(
                f"a function of {', '.join(sorted(unknown))}, which is no pin beside {', '.join(inputs)}"
            )
        words = dict(zip(inputs, columns(len(inputs)), strict=True))
        return self.of(words) & (1 << (1 << len(inputs))) - 1

    @functools.cached_property
    def cubes(self) -> tuple[str, ...]:
        """The rows of the truth table that are 1, with one digit per input."""
        rows = itertools.product((0, 1), repeat=len(self.inputs))
        return tuple("".join(map(str, row)) for row in rows if self.words(row) & 1)

    @property
    def literal(self) -> tuple[str, bool] | None:
        """(input, whether the function is the input and not its complement) if there is only one; None for
        other functions.
        """
        if self.cubes not in (("0",), ("1",)):
            return None
        return self.inputs[0], self.cubes == ("1",)


@functools.cache
def parse(text: str) -> Function:
    """The function of a Liberty expression; BadInput if it is invalid."""
    code = "(("
    places = dict[str, int]()
    position = 0
    ended = False
    while match := TOKEN.match(text, position):
        token = match[match.lastgroup or 0]
        position = match.end()
        if ended and token not in "^&*|+)'":  # "&" between adjacent operands may be omitted
            code += AND
        code += PYTHON.get(token) or f"words[{places.setdefault(token, len(places))}]"
        ended = token not in "!^&*|+("
    code += "))"
    try:
        if text[position:].strip() or "()" in code:
            raise SyntaxError
        return Function(tuple(places), eval(f"lambda words: {code}"))  # contains only names and operators
    except (SyntaxError, MemoryError, RecursionError):
        raise BadInput(
            f"{text!r} is no Boolean function in Liberty's way of writing: this Liberty file is damaged"
        ) from None
