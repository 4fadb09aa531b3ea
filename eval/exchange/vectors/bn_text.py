"""Reader for the bignum tests of BoringSSL and OpenSSL (bn_tests.txt, bnmod.txt): stanzas of `Name = hex`.

A stanza ends at a blank line; its first name is the operation and holds the result:

    ModExp = ...   A^E mod M        ModMul = ...   A*B mod M        ModSqr / ModSquare = ...   A^2 mod M

`#` starts a comment, `Title = ...` is a heading, numbers may be negative, and `:` may replace `=`. All other
operations (Sum, LShift1, Quotient, ModSqrt, ...) become vectors that are not applicable to a modular
exponentiator.
"""

import re

from ....fl.errors import BadInput
from .items import Item, ModExp, ModMul, NotApplicable
from .numbers import hex_int, shorten

FORMAT = "BoringSSL/OpenSSL bn text"
DESCRIPTION = "BoringSSL/OpenSSL bn text (stanzas of ModExp/A/E/M, ModMul/A/B/M)"

_USED = {"ModExp": ("A", "E", "M"), "ModMul": ("A", "B", "M"), "ModSqr": ("A", "M"), "ModSquare": ("A", "M")}
_OTHERS = {
    "Sum",
    "LShift1",
    "LShift",
    "RShift",
    "RShift1",
    "Square",
    "Product",
    "Quotient",
    "Exp",
    "ModSqrt",
    "NotModSquare",
    "ModInv",
    "GCD",
    "LCM",
    "Inverse",
}


def _split(line: str) -> tuple[str, str] | None:
    """(name, value) of a line `name = value` or `name: value`; None if it is neither."""
    found = re.fullmatch("([^=:]+)[=:](.*)", line)
    return (found[1].strip(), found[2].strip()) if found else None


def recognise(text: str) -> bool:
    """Whether any line of the text is the first line of a stanza of these files."""
    heads = (_split(line) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return any(head is not None and (head[0] in _USED or head[0] in _OTHERS) for head in heads)


def read(text: str, source: str) -> list[Item]:
    """Every stanza of the file as one item."""
    items = []
    stanza: dict[str, str] = {}
    start = 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        blank = not line.strip()
        line = line.split("#", 1)[0].strip()
        if not line and not blank:
            continue  # a comment alone on its line, also within a stanza
        pair = _split(line) if line else None
        if line and pair is None:
            raise BadInput(
                f"{source}: line {number} is neither `name = value`, a comment nor blank: {shorten(line)!r}; "
                f"restore the file from its origin"
            )
        # a repeated name or an operation starts the next stanza, even if the blank line before it is missing
        if stanza and (pair is None or pair[0] in stanza or pair[0] in _USED):
            items += _item(stanza, source, start)
            stanza = {}
        if pair is not None:
            start = start if stanza else number
            stanza[pair[0]] = pair[1]
    return items


def _item(stanza: dict[str, str], source: str, line: int) -> list[Item]:
    operation = next(iter(stanza))
    if operation == "Title":
        return []
    name = f"line {line} {operation}"
    if operation not in _USED:
        return [NotApplicable(name, f"{operation} is not a modular exponentiation or product")]
    numbers = {}
    for field in (operation, *_USED[operation]):
        if field not in stanza:
            raise BadInput(
                f"{source}: the {operation} stanza at line {line} has no {field}; is the file cut off?"
            )
        numbers[field] = hex_int(stanza[field], f"{source}: {field} of the {operation} stanza at line {line}")
    if operation == "ModExp":
        return [ModExp(name, numbers["A"], numbers["E"], numbers["M"], numbers[operation])]
    b = numbers.get("B", numbers["A"])
    return [ModMul(name, numbers["A"], b, numbers["M"], numbers[operation])]
