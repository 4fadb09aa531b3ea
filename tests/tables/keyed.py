"""Machines that take the numbers of a private key: the settings with which interfaces are tested, and
requests that are wrong.
"""

from modexlab.eval.designs.protection import BY_CRT, WINDOWED

EIGHT = {**BY_CRT, "blind": "both", "verify": True}  # numbers: p, q, dp, dq, qinv, x, kp, kq
FOUR = {**WINDOWED, "blind": "both", "verify": True}  # e, phi, x, k


def good(machine, base=3):
    """The request for an operation of the key."""
    return machine.carried(base, machine.key.d, machine.key.n)


def wrong(machine, name):
    """The same with another value of a field."""
    at = machine.programmed.names.index(name)
    request = good(machine)
    return (*request[:at], request[at] ^ 2, *request[at + 1 :])


def result(machine, base=3):
    """Return the right result."""
    return pow(base, machine.key.d, machine.key.n)
