"""Reader for EIP-198 modexp vectors in the form of go-ethereum (core/vm/testdata/precompiles/modexp.json).

A list (or an object of named entries) of {"Input", "Expected", "Name"}. Input is three 32-byte lengths, then
base, exponent and modulus, and is padded with zeros at the end; Expected has as many bytes as the modulus.
Entries with "ExpectedError" test a refusal instead.

The same vectors spelled out as {"base", "exponent", "modulus", "expected"} are read too, as hexadecimal text
or JSON integers. Such an entry, or the document next to "tests", may have a "key" {"n", "e", "d", "p", "q"},
whose d and n then replace a missing exponent and modulus.
"""

import itertools
from typing import Any

from ....fl.errors import BadInput
from ...designs.widths import MAX_NBITS
from .items import Item, ModExp, NotApplicable
from .numbers import Key, hex_bytes, hex_int, shorten

FORMAT = "EIP-198 modexp JSON"
DESCRIPTION = "EIP-198 modexp JSON (a list of Input/Expected/Name, or of base/exponent/modulus/expected)"

_PLAIN = {
    "base": ("base", "b", "a"),
    "exp": ("exponent", "exp", "e"),
    "mod": ("modulus", "mod", "m", "n"),
    "expected": ("expected", "result", "output", "modexp", "r"),
}


_KEY = ("n", "e", "d", "p", "q")


def _entries(document: Any) -> list[tuple[str, Any]] | None:
    """(name, entry) of everything in the document that may be a vector, or None if it has no list."""
    key = None
    if isinstance(document, dict):
        lists = [
            document[name] for name in ("tests", "vectors", "cases") if isinstance(document.get(name), list)
        ]
        if not lists:
            return list(document.items())
        key, document = document.get("key"), lists[0]
    if not isinstance(document, list):
        return None
    if isinstance(key, dict):  # the default for entries without a key
        document = [{"key": key, **entry} if isinstance(entry, dict) else entry for entry in document]
    return [(f"entry {number}", entry) for number, entry in enumerate(document)]


def _lower(entry: dict[str, Any]) -> dict[str, Any]:
    return {str(key).lower(): value for key, value in entry.items()}


def plain_fields(entry: Any) -> dict[str, Any] | None:
    """base, exp, mod and expected of an entry that spells them out under their usual names, or None."""
    if not isinstance(entry, dict):
        return None
    low = _lower(entry)
    if isinstance(key := low.get("key"), dict):
        for role, number in (("exp", "d"), ("mod", "n")):
            if low.keys().isdisjoint(_PLAIN[role]):
                low[_PLAIN[role][0]] = key.get(number)
    found = {role: next((low[name] for name in names if name in low), None) for role, names in _PLAIN.items()}
    return None if None in found.values() else found


def recognise(document: Any) -> bool:
    """Whether the document has at least one entry with an Input, or with base, exponent and modulus."""
    return any(
        (isinstance(entry, dict) and "input" in _lower(entry)) or plain_fields(entry)
        for _, entry in _entries(document) or ()
    )


def read(document: Any, source: str) -> list[Item]:
    """Every entry as one item."""
    items = []
    for name, entry in _entries(document) or []:
        if not isinstance(entry, dict):
            raise BadInput(f"{source}: {name} is not an object with Input and Expected")
        low = _lower(entry)
        title = str(low.get("name", name))
        where = f"{source}: {name}" + (f" ({title})" if title != name else "")
        plain = None if "input" in low else plain_fields(entry)
        items.append(plain_item(title, plain, where, low.get("key")) if plain else _item(title, low, where))
    return items


def plain_item(title: str, plain: dict[str, Any], where: str, key: Any = None) -> Item:
    """The item of an entry that spells out base, exponent, modulus and result. It is a private operation if
    the modulus and the exponent are n and d of the key.
    """
    numbers = _numbers(plain, where)
    of_key = None
    if isinstance(key, dict):
        given = _numbers({name: key[name] for name in _KEY if key.get(name) is not None}, f"{where}: key")
        if (given.get("n"), given.get("d")) == (numbers["mod"], numbers["exp"]):
            of_key = Key(**given)
    return ModExp(title, numbers["base"], numbers["exp"], numbers["mod"], numbers["expected"], key=of_key)


def _numbers(written: dict[str, Any], where: str) -> dict[str, int]:
    numbers = {}
    for role, value in written.items():
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise BadInput(
                f"{where}: {role} is neither hexadecimal text nor an integer: {shorten(repr(value))}"
            )
        numbers[role] = hex_int(value, f"{where}: {role}") if isinstance(value, str) else value
    return numbers


def _item(title: str, low: dict[str, Any], where: str) -> Item:
    text = low.get("input")
    if not isinstance(text, str):
        raise BadInput(f"{where} has no Input of hexadecimal text")
    data = hex_bytes(text, f"{where}: Input")
    if "expectederror" in low:
        return NotApplicable(title, "the vector expects the call to be refused, not a number")
    expected = low.get("expected", low.get("output"))
    if not isinstance(expected, str):
        raise BadInput(f"{where} has no Expected of hexadecimal text")
    result = hex_bytes(expected, f"{where}: Expected")
    sizes = [int.from_bytes(data[at : at + 32].ljust(32, b"\0"), "big") for at in (0, 32, 64)]
    if sizes[2] == 0:
        return NotApplicable(title, "the modulus has length 0")
    if max(sizes) > MAX_NBITS // 8:
        return NotApplicable(title, f"an operand is announced as wider than {MAX_NBITS} bits")
    if len(result) != sizes[2]:
        raise BadInput(f"{where}: Expected has {len(result)} bytes, but the modulus has {sizes[2]}")
    body = data[96:].ljust(sum(sizes), b"\0")
    cuts = itertools.pairwise(itertools.accumulate(sizes, initial=0))
    base, exp, mod = (int.from_bytes(body[start:end], "big") for start, end in cuts)
    return ModExp(title, base, exp, mod, int.from_bytes(result, "big"))
