"""Requests of RSA machines in attacks: base, exponent and modulus, or a message and a private key."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from ....fl.accelerator import Message
from ....fl.errors import BadInput, shown
from ....fl.status import Status
from ...designs.machine import Machine, PublicMachine
from ...designs.runnable import Runnable
from ...json_values import json_number
from .operands import Operands, Values
from .secrets import drawn_key

DRAWS = 1000  # attempts to find a request that is accepted
KEY = "key"


def drawn_request(machine: Runnable, draw: random.Random) -> Message:
    """A random request that is accepted; all operands of an RSA machine without a key are random."""
    if not isinstance(machine, Machine) or machine.keyed:
        return machine.accepted(draw)
    operands = RSAOperands(machine, "exp")
    return operands.request(operands.usual(draw, operands.held))


class RSAOperands(Operands):
    """Base, exponent and modulus of a machine without a key; the secret is the exponent or the base.

    A secret exponent has the full length, since many machines reveal the length by design.
    """

    machine: Machine

    def __init__(self, machine: Machine, secret: str) -> None:
        fields = {"base": machine.nbits, "exp": machine.nbits, "mod": machine.modulus_nbits}
        super().__init__(machine, fields, [secret])
        self._top = 1 << (machine.nbits - 1)
        if machine.modulus:
            self.held["mod"] = machine.modulus

    def usual(self, draw: random.Random, given: Values) -> Values:
        machine = self.machine
        for _ in range(DRAWS):
            if self.possible(values := self.free(draw, given)):
                return values
        machine.require(**values)  # BadInput with the remedy
        raise BadInput(f"exponent {shown(values['exp'])} is a public one; hold another exponent")

    def free(self, draw: random.Random, given: Values) -> Values:
        nbits, modulus_nbits = self.machine.nbits, self.machine.modulus_nbits
        mod = given.get("mod", draw.getrandbits(modulus_nbits) | 1 << (modulus_nbits - 1) | 1)
        exp = draw.getrandbits(nbits) | self._top
        return {"base": draw.randrange(mod or 1), "exp": exp, "mod": mod} | given

    def legal(self, values: Values) -> Values:
        base, exp, mod = values.values()
        promises = self.machine.promises
        mod = mod if "mod" in self.held else (mod | promises.odd_only) or 1
        base = base if "base" in self.held or not promises.reduced_only else base % (mod or 1)
        exp |= self._top if "exp" in self.secret else 0
        return {"base": base, "exp": exp, "mod": mod}

    def possible(self, values: Values) -> bool:
        base, exp, mod = values.values()
        machine = self.machine
        if "exp" in self.secret and (
            not exp & self._top or (isinstance(machine, PublicMachine) and machine.calls_public(exp))
        ):
            return False
        return machine.check(base, exp, mod) == Status.OK

    def request(self, values: Values) -> Message:
        base, exp, mod = values.values()
        return self.machine.carried(base, exp, mod)

    def golden(self, values: Values) -> Message | None:
        return 0, pow(values["base"], values["exp"], values["mod"])


class KeyOperands(Operands):
    """The message and the private key of a machine that holds one; the modulus and the primes stay."""

    machine: Machine

    def __init__(self, machine: Machine, secret: str, draw: random.Random) -> None:
        """draw: the source of the random numbers that a request carries."""
        super().__init__(machine, {"base": machine.nbits, KEY: 0}, [secret])
        self._draw = draw
        if secret != KEY:
            self.held[KEY] = drawn_key(machine.key, draw)

    def hold(self, values: Mapping[str, int]) -> None:
        if KEY in values:
            raise BadInput(
                f"--public {KEY}: the key of this machine is an option of its own; give --key FILE"
            )
        super().hold(values)

    def held_as_json(self) -> dict[str, Any]:
        """The modulus and other numbers; a held key has a private exponent, too."""
        key, numbers = self.machine.key, {name: value for name, value in self.held.items() if name != KEY}
        more = {"d": self.held[KEY].d} if KEY in self.held else {}
        return {name: json_number(value) for name, value in ({"n": key.n} | more | numbers).items()}

    def usual(self, draw: random.Random, given: Values) -> Values:
        key = given.get(KEY) or drawn_key(self.machine.key, draw)
        return {"base": draw.randrange(key.n), KEY: key, **given}

    def chosen(self, draw: random.Random, name: str, value: Any, seen: Sequence[int]) -> Any:
        return value if name == KEY else super().chosen(draw, name, value, seen)

    def legal(self, values: Values) -> Values:
        return values | {"base": values["base"] % self.machine.key.n}

    def request(self, values: Values) -> Message:
        return self.machine.programmed.operands(values[KEY], values["base"], self._draw.randrange)

    def golden(self, values: Values) -> Message | None:
        key = values[KEY]
        return 0, pow(values["base"], key.d, key.n)
