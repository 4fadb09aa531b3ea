"""Programs of exponentiation: keys, requests and recipes that their tests share."""

import itertools
import math
import random
from dataclasses import dataclass

from modexlab.eval.designs.catalogue import find
from modexlab.fl.mod_exp import operand_status
from modexlab.fl.program.builder import program_of
from modexlab.fl.program.interpreter import Arithmetic, run
from modexlab.fl.program.recipe import Recipe
from modexlab.fl.program.schedules import SCHEDULES
from modexlab.fl.rsa_keys import RSAKey
from modexlab.fl.status import Status
from modexlab.proc.software.seeded_keys import seeded_key

DOMAINS = ("identity", "residue", "montgomery")
SECRET = ("fixed-window", "always")  # the schedules of programs with a private key
BLINDS = ("no", "message", "exponent", "both")
# all combinations of CRT, blinding and check that take a key
PROTECTIONS = [
    {"crt": crt, "blind": blind, "verify": verify}
    for crt, blind, verify in itertools.product((False, True), BLINDS, (False, True))
    if crt or verify or blind != "no"
]
EVERYTHING = {"schedule": "fixed-window", "crt": True, "blind": "both", "verify": True}


def recipe_of(nbits, domain, schedule, *, crt, blind, verify, fits=False, scaled=None):
    """Return a recipe for this width, domain, schedule and protection."""
    return Recipe(
        nbits,
        domain,
        schedule,
        block_nbits=nbits // 4 if fits else 0,
        fits=fits,
        crt=crt,
        blind_message=blind in ("message", "both"),
        blind_exponent=blind in ("exponent", "both"),
        verify=verify,
        scaled=scaled,
    )


# the ways into any domain, and those into Montgomery's alone
CONVERSIONS = ({"conversion": "double"}, {"conversion": "square"}, {"conversion": "square", "squarings": 2})


def plain_recipes(nbits):
    """Return recipes for every schedule, domain, conversion and window, and where the schedule allows it also
    for a scan of all exponent bits.
    """
    found = []
    for domain, (name, schedule) in itertools.product(DOMAINS, SCHEDULES.items()):
        scans = (False, True) if "nbits" in schedule.options and not schedule.windows else (False,)
        windows = (0, 1, 3) if schedule.windows else (0,)
        ways = CONVERSIONS if domain == "montgomery" else CONVERSIONS[:1]
        for how, full_scan, window in itertools.product(ways, scans, windows):
            found.append(Recipe(nbits, domain, name, full_scan=full_scan, window=window, **how))
    return found


def label(recipe):
    """A recipe as the name of a case."""
    words = [recipe.schedule, recipe.domain, str(recipe.nbits)]
    words += [recipe.conversion] if recipe.montgomery else []
    words += [f"{recipe.squarings} squarings"] if recipe.squarings else []
    words += [f"window {recipe.window}"] if recipe.window else []
    flags = ("full_scan", "fits", "crt", "blind_message", "blind_exponent", "verify")
    return " ".join([*words, *(name for name in flags if getattr(recipe, name))])


def status_of(recipe, base, mod):
    """The status with which a machine answers such operands."""
    reduced_only = recipe.domain != "identity"
    return operand_status(base, mod, odd_only=recipe.odd_only, reduced_only=reduced_only)


def computed(recipe, fields):
    """The outcome of the program by the interpreter."""
    arithmetic = Arithmetic(recipe.domain, recipe.nbits, recipe.block_nbits, recipe.fits, recipe.scaled)
    return run(program_of(recipe), fields, arithmetic, status_of(recipe, fields["base"], fields["mod"]))


def check_plain(recipe, base, exp, mod):
    """Check the outcome of a program without a key by `pow`."""
    status = status_of(recipe, base, mod)
    outcome = computed(recipe, {"base": base, "exp": exp, "mod": mod})
    assert outcome == (status, 0 if status else pow(base, exp, mod)), (recipe, base, exp, mod)


def numbers(key):
    """All numbers of a private key."""
    crt = key.crt()
    return {"n": key.n, "d": key.d, "e": key.e, "phi": (crt.p - 1) * (crt.q - 1), **crt._asdict()}


def private_fields(recipe, key, message, rng):
    """The request for message^d; `key` has the numbers by their names, and may have wrong ones."""
    n = key["n"]
    drawn = {"base": message, "exp": key["e" if recipe.crt else "d"], "mod": n}
    for name, nbits in program_of(recipe).fields:
        top = 1 << nbits
        if name in ("k", "kp", "kq"):
            drawn[name] = rng.choice((0, top - 1, rng.randrange(top), rng.randrange(top)))
        elif name == "x":
            some = (rng.randrange(2, min(n, top)) for _ in itertools.count())
            drawn[name] = next(x for x in some if math.gcd(x, n) == 1)
        else:
            drawn[name] = key[name]
    return drawn


def check_private(recipe, key, message, rng):
    """Check the outcome of a program with a key by `pow`."""
    fields = private_fields(recipe, numbers(key), message, rng)
    assert computed(recipe, fields) == (Status.OK, pow(message, key.d, key.n)), (recipe, fields)


def messages(key, rng):
    """Corners, a multiple of a prime, and one that is drawn."""
    return [0, 1, key.n - 1, key.p, rng.randrange(key.n)]


# ---- machines


@dataclass(frozen=True)
class Operation:
    """A request to a machine with a key, and the expected response."""

    name: str
    request: tuple[int, ...]
    key: RSAKey | None  # None: the machine must reject the request
    golden: tuple[int, int]  # status and result


def operations(machine, count):
    """Operations with several keys, and between them requests that are refused."""
    rng = random.Random(0)
    found = []
    for at in range(count):
        key = seeded_key(machine.nbits, at + 1)
        held = machine.with_key(key, rng.randrange)
        message = rng.choice(messages(key, rng))
        request = held.carried(message, key.d, key.n)
        found.append(Operation(f"key {at}", request, key, (Status.OK, pow(message, key.d, key.n))))
        wrong = ({"mod": 0}, {"mod": key.n - 1, "base": 1}, {"base": key.n})[at % 3]
        refused = changed(machine, request, **wrong)
        design = machine.design
        status = operand_status(
            refused[0], refused[2], odd_only=design.odd_only, reduced_only=design.reduced_only
        )
        if status is not Status.OK:
            found.append(Operation(f"refused {at}", refused, None, (status, 0)))
        if "p" in machine.programmed.names:
            even = changed(machine, request, p=4)
            found.append(Operation(f"even prime {at}", even, None, (Status.BAD_KEY, 0)))
    return found


def machine_of(name, nbits, **settings):
    """A machine of the catalogue."""
    return find(name).at(nbits, **settings)


def changed(machine, request, **numbers):
    """The request with other numbers in these fields."""
    return tuple((machine.programmed.named(request) | numbers).values())
