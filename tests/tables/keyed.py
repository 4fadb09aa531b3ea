"""Machines that take the numbers of a private key: the settings with which interfaces are tested, and
requests that are wrong.
"""

import itertools

from modexlab.eval.designs.protection import BY_CRT, WINDOWED

from tests.harness import accessed, later
from tests.programs import changed

EIGHT = {**BY_CRT, "blind": "both", "verify": True}  # numbers: p, q, dp, dq, qinv, x, kp, kq
FOUR = {**WINDOWED, "blind": "both", "verify": True}  # e, phi, x, k
KEYED = [
    ("mont-keyed", 16, EIGHT),
    *later(("mont-keyed", 40, EIGHT), ("mont-keyed", 72, EIGHT), ("mont-keyed", 40, FOUR)),
    *later(("mont-keyed", 72, FOUR), ("heap", 16, FOUR)),
]


def good(machine, base=3):
    """The request for an operation of the key."""
    return machine.carried(base, machine.key.d, machine.key.n)


def wrong(machine, name):
    """The same with another value of a field."""
    request = good(machine)
    return changed(machine, request, **{name: machine.programmed.named(request)[name] ^ 2})


def outcomes(interface, machine, requests):
    """Statuses and results behind an interface, natively; every access is answered as by the model."""
    rows = [interface.requests(machine.shape, request) for request in requests]
    sent = [access for row in rows for access in row]
    answers = accessed(machine.wrapped(interface), sent, max_cycles=200_000)
    assert answers == interface.respond(machine.shape, machine.fl, sent)
    left = iter(answers)
    return [interface.outcome(machine.shape, list(itertools.islice(left, len(row)))) for row in rows]


def result(machine, base=3):
    """Return the right result."""
    return pow(base, machine.key.d, machine.key.n)
