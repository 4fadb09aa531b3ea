"""Raw requests: random bits in every field, corners, keys of small primes, and such keys with a wrong number.

`Machine.carried` refuses most of them, but software may write any numbers to a bus. `expected` is the answer
by `pow` and by the documented rules of refusal.
"""

import itertools
import math
from random import Random

from modexlab.fl.status import Status
from modexlab.proc.software.seeded_keys import primes_below

TRIES = 1000  # draws of a number with a property
MOST_PRIME_NBITS = 12


def drawn(draw, wanted):
    """The first number of `draw()` that has the property."""
    return next(number for number in (draw() for _ in range(TRIES)) if wanted(number))


def small_key(nbits, rng):
    """The numbers of a consistent key: e of any length, and a d and a phi that need not be the least."""
    primes = [p for p in primes_below(1 << min(MOST_PRIME_NBITS, (nbits + 1) // 2)) if p > 2]
    p, q = drawn(lambda: rng.sample(primes, 2), lambda pair: math.prod(pair).bit_length() <= nbits)
    order = math.lcm(p - 1, q - 1)
    e = drawn(lambda: rng.getrandbits(rng.randint(1, nbits)), lambda e: math.gcd(e, order) == 1)
    d = rng.choice(range(pow(e, -1, order), 1 << nbits, order))
    phi = rng.choice(range(order, 1 << nbits, order))
    crt = {"p": p, "q": q, "dp": d % (p - 1), "dq": d % (q - 1), "qinv": pow(q, -1, p)}
    return crt | {"mod": p * q, "e": e, "d": d, "phi": phi}


def corner(nbits, rng):
    """A number of so many bits: 0, 1, the largest, either half of it, a single one, or any."""
    ones, half = (1 << nbits) - 1, (1 << nbits // 2) - 1
    return rng.choice((0, 1, ones, half, ones ^ half, 1 << rng.randrange(nbits), rng.getrandbits(nbits)))


class RawRequests:
    """Generator of random requests to a machine, each kind in turn."""

    def __init__(self, machine, seed=0):
        self.machine = machine
        self.widths = dict(machine.shape.request)
        self.rng = Random(f"{machine} {seed}")
        self.kinds = (self.bits, self.corners, self.accepted)
        if machine.keyed:
            self.kinds += (self.of_key, self.one_bit, self.one_number, self.factor)

    def some(self, count):
        """So many requests. Numbers that software computes from the modulus are never raw: the functional
        level computes them, too.
        """
        given = bool(self.machine.given)

        def request(kind):
            fields = tuple(kind().values())
            return self.machine.carried(*fields[:3]) if given else fields

        return [request(kind) for kind in itertools.islice(itertools.cycle(self.kinds), count)]

    def bits(self):
        """Random bits in every field."""
        return {name: self.rng.getrandbits(nbits) for name, nbits in self.widths.items()}

    def corners(self):
        """Corners in every field."""
        return {name: corner(nbits, self.rng) for name, nbits in self.widths.items()}

    def accepted(self):
        """A request that passes the checks on arrival. Most moduli are p q, with the qinv of the factors."""
        fields = self.bits()
        only = 0 if self.machine.keyed else self.machine.modulus
        fields["mod"] = only or fields["mod"] | 1
        if "p" in fields:
            p, q = fields["p"], fields["q"] = fields["p"] | 1, fields["q"] | 1
            fits = (p * q).bit_length() <= self.machine.nbits
            if self.rng.random() < 0.7 and fits and math.gcd(p, q) == 1:
                fields["mod"], fields["qinv"] = p * q, pow(q, -1, p)
        fields["base"] %= fields["mod"]
        return fields | {name: 0 for name in ("public",) if name in fields}

    def of_key(self):
        """A private operation of a small key."""
        key = small_key(self.machine.nbits, self.rng)
        fields, n = self.bits() | {"public": 0}, key["mod"]
        key["exp"] = key["e" if "p" in fields else "d"]
        key["base"] = self.rng.choice((0, 1, n - 1, key["p"], *(self.rng.randrange(n) for _ in range(8))))
        if "x" in fields:
            key["x"] = drawn(lambda: self.rng.getrandbits(self.widths["x"]), lambda x: math.gcd(x, n) == 1)
        return {name: key.get(name, fields[name]) for name in self.widths}

    def one_bit(self):
        """A private operation with one bit inverted."""
        fields, name = self.of_key(), self.rng.choice([*self.widths])
        return fields | {name: fields[name] ^ 1 << self.rng.randrange(self.widths[name])}

    def one_number(self):
        """A private operation with a corner in one field."""
        name = self.rng.choice([*self.widths])
        return self.of_key() | {name: corner(self.widths[name], self.rng)}

    def factor(self):
        """A request whose p q is a multiple of the modulus."""
        fields = self.accepted()
        if "p" in fields:
            product = fields["p"] * fields["q"]
            divisors = [n for n in range(1, 1 << min(8, self.machine.nbits)) if product % n == 0]
            fields["mod"] = self.rng.choice(divisors)
            fields["base"] %= self.rng.choice((fields["mod"], 1 << self.machine.nbits))
        return fields


def refusal(machine, fields):
    """The status with which a request is refused when it arrives."""
    base, mod, design = fields["base"], fields["mod"], machine.design
    private = [value for name, value in fields.items() if name not in ("base", "exp", "mod", "public")]
    even = not fields.get("p", 1) & fields.get("q", 1) & 1
    rules = {
        Status.WRONG_MODULUS: not machine.keyed and machine.modulus not in (0, mod),
        Status.ZERO_MODULUS: mod == 0,
        Status.EVEN_MODULUS: design.odd_only and mod % 2 == 0,
        Status.BASE_TOO_LARGE: design.reduced_only and base >= mod,
        Status.BAD_KEY: any(private) if fields.get("public") else even,
    }
    return next((status for status, broken in rules.items() if broken), Status.OK)


def power(fields, exponent, mod, order, random):
    """Return base^exponent with the documented blinding: (base x^e)^(d-1) base x^(e-1), and a random multiple
    of the order added to the exponent.
    """
    base, unblind = fields["base"], 1
    exponent = fields[exponent]
    if "x" in fields:
        even = fields["e" if "e" in fields else "exp"] & ~1
        unblind = base * pow(fields["x"], even, mod)
        base, exponent = base * pow(fields["x"], even + 1, mod), exponent & ~1
    if random in fields:
        exponent += fields[random] * (fields[order] & ~1)
    return pow(base, exponent, mod) * unblind % mod


def expected(machine, request):
    """Status and result; None if p q is another multiple of the modulus, which a key may not have."""
    fields = dict(zip(dict(machine.shape.request), request, strict=True))
    base, exp, mod, *_ = request
    if status := refusal(machine, fields):
        return status, 0
    if fields.get("public") or not machine.keyed:
        return Status.OK, pow(base, exp, mod)
    joins = machine.programmed.recipe.joins
    if "p" not in fields:
        result = power(fields, "exp", mod, "phi", "k")
    else:
        p, q = fields["p"], fields["q"]
        if (q * fields["qinv"] - 1) % p or p * q % mod or (joins and (p == 1 or p * q != mod)):
            return Status.BAD_KEY, 0
        if p * q != mod:
            return None
        at_p, at_q = power(fields, "dp", p, "p", "kp"), power(fields, "dq", q, "q", "kq")
        result = at_q + q * ((at_p - at_q) * fields["qinv"] % p)
    if machine.programmed.recipe.verify and pow(result, fields.get("e", exp), mod) != base:
        return Status.FAULT, 0
    return Status.OK, result
