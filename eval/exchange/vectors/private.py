"""Private operations of vector files: their keys, and their protections.

Vector files give keys in various forms. A program with CRT, blinding or the check needs e and d, and for CRT
or a blinded exponent two primes. Missing primes are computed from d and e.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....fl.errors import BadInput
from ....fl.param import PAPER_NBITS, values_of
from ....fl.rsa_keys import RSAKey
from ...designs.control import BLIND, CRT, VERIFY
from ...designs.machine import Design
from ...designs.protection import private_settings
from ...json_values import attributes
from .encoding import Inapplicable
from .items import ModExp, ModMul
from .numbers import Key

MOST_KEYS = 4096  # keys that are cached with their primes


@dataclass(frozen=True)
class Protection:
    """Requested protections of a private exponentiation."""

    crt: bool
    blind: str
    verify: bool
    asked: bool = False  # by an option, which also selects a fixed window and fit=modulus

    def settings(self, design: Design, nbits: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of the machine of this width."""
        if not self.asked:
            return dict(settings)
        how = attributes(self, "crt", "blind", "verify")
        return private_settings(design, nbits, settings, **how)

    @classmethod
    def of(cls, settings: Mapping[str, Any], crt: bool, blind: str, verify: bool) -> "Protection | None":
        """Combine options with settings, which take precedence; None if no protection is requested."""
        asked = {CRT.name: crt, BLIND.name: blind} | ({VERIFY.name: True} if verify else {})
        known = {param.name: param for param in (CRT, BLIND, VERIFY)}
        asked |= {name: value for name, value in settings.items() if name in known}
        values = values_of(known.values(), PAPER_NBITS, asked, "a private operation")
        made = cls(**values, asked=crt or blind != BLIND.default or verify)
        return made if made.crt or made.blind != BLIND.default or made.verify else None

    @property
    def words(self) -> list[str]:
        """The protections in words, for readers."""
        blind = {"no": [], "both": ["message and exponent blinded"]}
        checked = ["result checked"] * self.verify
        return [*["CRT"] * self.crt, *blind.get(self.blind, [f"{self.blind} blinded"]), *checked]


def private_key(item: ModExp | ModMul, protection: Protection) -> RSAKey:
    """The key of a private operation, with its primes if the protection needs them; raises Inapplicable if
    there is none.
    """
    if isinstance(item, ModMul):
        raise Inapplicable("no private key: it is a product")
    if item.key is None:
        raise Inapplicable("no private key: the vector has none, or asks for the public exponent")
    # blinding adds a multiple of (p - 1)(q - 1) to the exponent
    made = _made(item.key, protection.crt or protection.blind in ("exponent", "both"))
    if isinstance(made, str):
        raise Inapplicable(f"no private key{made}")
    return made


@functools.lru_cache(MOST_KEYS)
def _made(key: Key, primes: bool) -> RSAKey | str:
    """The key, or the reason why there is none."""
    n, e, d, p, q = vars(key).values()
    if d is None:
        return ": the vector has no private exponent"
    if e is None:
        return ": the vector has no public exponent beside it"
    try:
        made = RSAKey(n, e, d, p, q) if (p or 0) * (q or 0) == n else RSAKey(n, e, d)
    except BadInput:
        return ": its numbers do not belong together"
    try:
        return made.with_primes() if primes else made
    except BadInput:
        return " of two primes"
