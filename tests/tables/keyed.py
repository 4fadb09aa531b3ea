"""Machines that take the numbers of a private key: the settings with which interfaces are tested, and
requests that are wrong.
"""

from modexlab.eval.designs.machine import Machine
from modexlab.eval.designs.protection import BY_CRT, WINDOWED

EIGHT = {**BY_CRT, "blind": "both", "verify": True}  # numbers: p, q, dp, dq, qinv, x, kp, kq
FOUR = {**WINDOWED, "blind": "both", "verify": True}  # e, phi, x, k


def good(machine: Machine, base: int = 3) -> tuple[int, ...]:
    """The request for an operation of the key."""
    assert machine.key.d is not None
    return machine.carried(base, machine.key.d, machine.key.n)


def wrong(machine: Machine, name: str) -> tuple[int, ...]:
    """The same with another value of a field."""
    at = machine.programmed.names.index(name)
    request = good(machine)
    return (*request[:at], request[at] ^ 2, *request[at + 1 :])


def result(machine: Machine, base: int = 3) -> int:
    """Return the right result."""
    assert machine.key.d is not None
    return pow(base, machine.key.d, machine.key.n)
