"""The Boolean functions of Liberty: parsed once, then evaluated or tabulated.

Operators by the Liberty user guide, binding tightest first: `!` before or `'` after its operand; `^`; `&`,
`*` or a blank; `|` or `+`. A function becomes an expression of Python, where `&` binds tighter than `^`: so
each operator closes and opens as many parentheses as it is loose, and `'` is an exclusive or with all ones.
"""

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...fl.errors import BadInput

# a name that begins with a digit stands in quotes
TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*(?:\[\d+\])?)"
    r'|\\?"(?P<quoted>\w*[A-Za-z_]\w*(?:\[\d+\])?)\\?"'
    r"|(?P<constant>[01])(?!\w)"
    r"|(?P<operator>[!'^&*|+()]))"
)
AND, OR = ")&(", "))|(("
PYTHON = {"0": "0", "1": "-1", "!": "~", "'": "^-1", "^": "^", "&": AND, "*": AND, "|": OR, "+": OR}
PYTHON |= {"(": "(((", ")": ")))"}


@dataclass(frozen=True)
class Function:
    """A function of the pins (or states) `inputs`, in the order of their first use."""

    inputs: tuple[str, ...]
    words: Callable[[Sequence[int]], int]  # of all bits of words, one for each input; may be negative

    def value(self, /, **at: int) -> int:
        """At one point; inputs without a value are 0."""
        return self.words([at.get(name, 0) for name in self.inputs]) & 1

    def table(self, inputs: tuple[str, ...]) -> int:
        """The truth table over these inputs: bit i is the value where input k is bit k of i."""
        if unknown := set(self.inputs) - set(inputs):
            raise BadInput(
                f"a function of {', '.join(sorted(unknown))}, which is no pin beside {', '.join(inputs)}"
            )
        size = 1 << len(inputs)
        # k = 0: 1010...; k = 1: 1100...
        columns = {name: sum(1 << i for i in range(size) if i >> k & 1) for k, name in enumerate(inputs)}
        return self.words([columns[name] for name in self.inputs]) & (1 << size) - 1

    @functools.cached_property
    def cubes(self) -> tuple[str, ...]:
        """The rows of the truth table that are 1, with a digit for each input."""
        rows = itertools.product((0, 1), repeat=len(self.inputs))
        return tuple("".join(map(str, row)) for row in rows if self.words(row) & 1)

    @property
    def literal(self) -> tuple[str, bool] | None:
        """The only input, and whether the function is that input or its complement; None for others."""
        if self.cubes not in (("0",), ("1",)):
            return None
        return self.inputs[0], self.cubes == ("1",)


@functools.cache
def parse(text: str) -> Function:
    """The function that this text stands for; BadInput if it is none."""
    code, places, position, ended = "((", dict[str, int](), 0, False
    while match := TOKEN.match(text, position):
        token, position = match[match.lastgroup or 0], match.end()
        if ended and token not in "^&*|+)'":  # operands of "&" may stand side by side
            code += AND
        code += PYTHON.get(token) or f"words[{places.setdefault(token, len(places))}]"
        ended = token not in "!^&*|+("
    code += "))"
    try:
        if text[position:].strip() or "()" in code:
            raise SyntaxError
        return Function(tuple(places), eval(f"lambda words: {code}"))  # of names, signs and nothing else
    except (SyntaxError, MemoryError, RecursionError):
        raise BadInput(
            f"{text!r} is no Boolean function in Liberty's way of writing: this Liberty file is damaged"
        ) from None
