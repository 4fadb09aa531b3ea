"""Bellcore attack: one wrong CRT signature reveals a prime of the key.

Boneh, DeMillo, Lipton (1997), with Lenstra's remark: if a CRT signature s' is wrong modulo one prime alone,
gcd(s'^e - m, n) is the other prime.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ....fl.rsa_keys import RSAKey
from ...designs.machine import Machine
from ...designs.runnable import Runnable


class Factored(NamedTuple):
    """A prime of the key that a wrong result reveals."""

    fault: str
    message: int
    wrong: int
    factor: int


def key_by_crt(accelerator: Runnable) -> RSAKey | None:
    """The key of a machine that uses CRT, so that a wrong result may reveal a prime; else None."""
    by_crt = isinstance(accelerator, Machine) and accelerator.keyed and accelerator.programmed.recipe.crt
    return accelerator.key if by_crt else None


def factored(key: RSAKey, fault: str, message: int, wrong: int) -> Factored | None:
    """The prime that a wrong result reveals."""
    factor = math.gcd(pow(wrong, key.e, key.n) - message, key.n)
    return Factored(fault, message, wrong, factor) if 1 < factor < key.n else None


def report(key: RSAKey, found: Sequence[Factored]) -> dict[str, Any]:
    """The number of wrong results that reveal a prime, and the first of them."""
    told: dict[str, Any] = {"wrong_results_that_factor": len(found)}
    for fault, message, wrong, factor in found[:1]:
        told |= {
            "fault": fault,
            "n": key.n,
            "e": key.e,
            "message": message,
            "signature": pow(message, key.d or 0, key.n),
            "faulty_signature": wrong,
            "factor": factor,
            "other_factor": key.n // factor,
        }
    return told
