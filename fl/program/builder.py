"""Builder of exponentiation programs: schedules, domain conversions, CRT, blinding, verification, wiping.

`plain` builds the program of a machine {base, exp, mod}: a conversion, the loop of a schedule
(schedule_loops.py), and the conversion back. `keyed` builds the program of a machine that takes a key: with
CRT (two exponentiations modulo the primes, Garner's recombination), message and exponent blinding, and the
check s^e = m before the result is released. Both are composed of the same pieces.

Sources: schedules as in schedules.py. Garner: Handbook of Applied Cryptography, 14.71 and note 14.75. Result
check: Boneh, DeMillo and Lipton, EUROCRYPT 1997. Exponent blinding: Coron, CHES 1999, 5.1. Message blinding
without an inverse: with a random x, (m x^e)^(d-1) * m x^(e-1) = m^d, after Ebeid and Lambert (2010), so that
nothing is kept from one operation to the next.
"""

from functools import lru_cache

from ..errors import BadInput
from ..status import Status
from .crt_builder import Pieces, asking
from .ir import (
    SKIPPED,
    Action,
    Add,
    Check,
    Clear,
    Fetch,
    Flow,
    Item,
    Move,
    Product,
    Program,
    Repeat,
    SetExponent,
    SetModulus,
    Setup,
    Skip,
    assemble,
    word,
)
from .recipe import Recipe
from .scaled_builder import ScaledKeyed, into, out_of
from .schedule_loops import BIT_BY_BIT, SQUARE


@lru_cache(maxsize=64)
def program_of(recipe: Recipe) -> Program:
    """The program of a recipe."""
    if not recipe.keyed:
        return plain(recipe)
    if recipe.schedule in ("left-to-right", "sliding-window") or (
        recipe.shape.right and (recipe.blind_exponent or recipe.crt)
    ):
        raise BadInput(
            f"schedule {recipe.schedule!r} in a program with a private key shows the exponent; "
            "give fixed-window or always"
        )
    if recipe.scaled is None:
        return _Keyed(recipe).program()
    return ScaledKeyed(recipe, recipe.scaled).program(of_public(recipe))


def _entering_constant(recipe: Recipe) -> list[Item]:
    """Items that set r to 2^(nbits + R) modulo the modulus; a wide product with it converts numbers into the
    domain.
    """
    if recipe.fits:
        return [word(Setup("double", "r", "1", recipe.nbits, recipe.block), note="R^2")]
    doublings = recipe.nbits + (recipe.nbits >> recipe.squarings)
    squares = [Repeat(word(SQUARE), 1, recipe.squarings)] if recipe.squarings else []
    return [word(Setup("double", "r", "1", doublings), note="R^2"), *squares]


# ---- machines without a key


def plain(recipe: Recipe) -> Program:
    """The program of a machine without a key: {base, exp, mod}."""
    wipes = recipe.entries > 0
    items = exponentiation(recipe, wipes)
    public = exponentiation(recipe.of_public, wipes) if recipe.public else []
    shape = recipe.shape
    return assemble(
        [*asking(recipe), *items, *public],
        failure=items[-1],
        public=next(iter(public), None),
        digit_nbits=recipe.digit_nbits,
        scanned_nbits=max(recipe.nbits, recipe.ndigits * recipe.digit_nbits if shape.digit else 0),
        block_nbits=recipe.block if recipe.skips else 0,
        sliding=shape.sliding,
        table=recipe.entries,
        slots=("one",) if shape.sliding else (),
        fields=recipe.asked,
    )


def exponentiation(recipe: Recipe, wipes: bool, released: bool = False) -> list[Item]:
    """Items from a request to its answer: conversion into the domain, the loop, and conversion back. wipes:
    all traces of the base are erased. released: the result is compared with itself, as a verified machine
    releases none without a check.
    """
    shape = recipe.shape
    one = "1" if recipe.scaled is None else "0"
    take = word(
        Move("r", one),
        Move("b", "in.base"),
        SetModulus("in.mod"),
        SetExponent("in.exp", 0 if shape.right else recipe.ndigits, top=shape.digit),
        takes=True,
        accepts=True,
    )
    items: list[Item] = [take]
    if recipe.skips:
        items.append(Repeat(word(Skip()), 0, SKIPPED))
    items += _into(recipe)
    aligns = not (shape.right or shape.digit or recipe.full_scan)
    enters = recipe.montgomery or recipe.scaled is not None
    items += BIT_BY_BIT if recipe.apart else shape.items(recipe.digit_nbits, aligns, not enters)
    if recipe.montgomery and not recipe.starts_plain:
        items.append(word(Product("r", "r", "1"), note="out of the domain"))
    if recipe.scaled is not None:
        items += out_of(recipe)
    last = []
    if wipes:
        items += [
            word(Move("s", "0"), Move("b", "0"), SetExponent("0"), note="wiping"),
            word(Product("", "b", "s")),
        ]
        doubled = Setup("double", "b", "b", recipe.doublings_per_cycle)
        items += [word(doubled)] if recipe.doubles_base_last else []
        items += [Repeat(word(Clear()), 0, recipe.entries - 1)] if recipe.entries else []
        items += [word(Setup("clear", "b", "b", 0))] if recipe.scaled is not None else []
        last = [Move("r", "0")]
    if released:
        items += [word(Move("b", "r")), word(Check("r", "b", Status.FAULT, final=True))]
        last.append(Move("b", "0"))
    return [*items, word(*last, flow=Flow("answer"))]


def of_public(recipe: Recipe) -> list[Item]:
    """The items for requests with a public exponent on a machine with a key; empty if it has no such
    operation.
    """
    return exponentiation(recipe.of_public, True, recipe.verify) if recipe.public else []


def _into(recipe: Recipe) -> list[Item]:
    """Items that convert b and r, the base and 1, into the domain."""
    if recipe.scaled is not None:
        return into(recipe, recipe.scaled)
    if not recipe.montgomery:
        # an entry of the table may be the result, so it must be below the modulus
        reduces = recipe.domain == "identity" and recipe.entries > 0
        base = word(Product("b", "r", "b"), note="the base below the modulus")
        return [base] if reduces else []
    if recipe.conversion == "double":
        per_block = recipe.block if recipe.fits else 0
        fixed = 0 if recipe.fits else recipe.nbits
        base = word(Setup("double", "b", "b", fixed, per_block), note="the base into the domain")
        one = word(Setup("double", "r", "1", fixed, per_block), note="and 1")
        return [base] if recipe.starts_plain else [base, one]
    enter = Product("b", "r", "b", wide=recipe.fits)
    note = "the base into the domain"
    if recipe.starts_plain:
        return [*_entering_constant(recipe), word(enter, Move("r", "1"), note=note)]
    also = Product("r", "r", "1", wide=recipe.fits)
    return [*_entering_constant(recipe), word(enter, also, note=f"{note}, and 1")]


# ---- machines with a key


class _Keyed(Pieces):
    """The pieces of a program with a key, in the order of their use."""

    # ---- products of a factor that may be any word and one that must be below the modulus

    def product(self, dst: str, any_word: str, reduced: str, *, wide: bool = False) -> Product:
        """A product of a factor that may be any word and one that is below the modulus, in the order that the
        domain requires: Montgomery's first factor may be any word, and the second factor of the other
        domains.
        """
        x, y = (any_word, reduced) if self.recipe.montgomery else (reduced, any_word)
        return Product(dst, x, y, wide=wide and self.recipe.fits)

    def enter(self, *also: Action) -> None:
        """Convert s, which may be any word, into the domain as b. In a Montgomery domain, b holds the
        entering constant before.
        """
        self.word(self.product("b", "s", "b" if self.recipe.montgomery else "1", wide=True), *also)

    def constant(self, slot: str) -> None:
        """Load the stored entering constant of the modulus into b."""
        if self.recipe.montgomery:
            self.word(Fetch("b", slot))

    def make_constant(self, slot: str, *also: Action) -> None:
        """Compute the entering constant of the modulus into its slot and into b; that of n is computed only
        once.
        """
        if slot == "cn" and slot in self.slots:
            self.constant(slot)
        elif self.recipe.montgomery:
            self.items += _entering_constant(self.recipe)
            also = (self.keep(slot, "r"), Move("b", "r"), *also)
        self.word(*also)

    # ---- parts

    def blind(self) -> None:
        """Replace m by m x^e and u by m x^(e-1), for the random x."""
        # countermeasure MESSAGE_BLINDING: the message is multiplied by x^e for a random x
        self.word(SetModulus("n"), note="the message is blinded by x^e")
        self.make_constant("cn", Fetch("s", "x"))
        self.enter()
        self.word(self.keep("xr", "b"))
        self.public_power(Move("r", "1"), even=True)
        # r = x^(e-1), which enters the domain through s
        self.word(Move("s", "r"), *([Fetch("b", "cn")] if self.recipe.montgomery else []))
        self.enter(Fetch("s", "m"))
        self.word(self.product("r", "s", "b"))
        self.word(self.keep("u", "r"), Fetch("b", "xr"))
        self.word(self.product("r", "r", "b"))
        self.word(self.keep("m", "r"))

    def power(self, modulus: str, exponent: str, order: str, random: str, constant: str, what: str) -> None:
        """Set r to m^exponent modulo a slot, in the domain. `order` is a multiple of the group order, or
        adjacent to one.
        """
        recipe = self.recipe
        self.word(SetModulus(modulus), note=what)
        self.make_constant(constant, Fetch("s", "m"))
        if recipe.montgomery and not recipe.shape.plain_result:
            self.word(Product("r", "1", "b", wide=recipe.fits))
            self.enter()
        else:
            self.enter(Move("r", "1"))
        self.loop(exponent, order, random)

    def leave(self) -> None:
        """Convert r out of the domain."""
        if self.recipe.montgomery:
            self.word(Product("r", "r", "1"))

    def crt(self) -> None:
        """Set r to m^d, computed modulo p and modulo q and recombined by Garner's formula."""
        self.power("q", "dq", "q", "kq", "c", "modulo q")
        self.leave()
        self.word(self.keep("sq", "r"))
        self.power("p", "dp", "p", "kp", "c", "modulo p")
        # h = (sp - sq) / q modulo p, on spR and sqR
        self.constant("c")
        self.word(Fetch("s", "sq"), note="Garner: h = (sp - sq) qinv mod p")
        self.enter()
        self.word(Add("b", "r", "b", subtract=True), Fetch("s", "qinv"))
        self.word(self.product("r", "s", "b"))
        self.word(self.keep("h", "r"))
        self.constant("c")
        self.word(Fetch("s", "q"), note="is qinv that of q?")
        self.enter(Fetch("s", "qinv"))
        self.word(self.product("r", "s", "b"))
        self.word(Check("r", "1", Status.BAD_KEY), Move("r", "0"))
        # s = sq + h q modulo n, where no reduction takes place
        self.word(SetModulus("n"), note="sq + h q")
        self.make_constant("cn", Fetch("s", "q"))
        self.enter(Fetch("s", "p"))
        self.word(self.product("r", "s", "b"), note="is p q = n?")
        self.word(Check("r", "0", Status.BAD_KEY), Move("r", "0"), Fetch("s", "h"))
        self.word(self.product("r", "s", "b"))
        self.word(Fetch("b", "sq"))
        self.word(Add("r", "r", "b"))

    def unblind(self) -> None:
        """Multiply r by u."""
        self.constant("cn")
        self.word(Move("s", "r"))
        self.enter(Fetch("s", "u"))
        self.word(self.product("r", "s", "b"), note="the blinding is taken away")

    def verify(self) -> None:
        """Check that the result to the power e is the message. The result is stored twice, and the answer
        requires equal copies.

        The second copy replaces the message, so that a fault that skips both stores leaves two different
        numbers. It is the number from which the check starts, unless that is in a Montgomery domain. The
        modulus is fetched again, because a result under a wrong modulus might pass a check under the same
        one. The check that releases the result is the last, and leaves r and b different: the answer finds
        them equal only if both stored copies are fetched.
        """
        domain = self.recipe.montgomery
        # countermeasure RESULT_CHECK: the result to the public exponent must be the message
        note = "does the result to the e give the message?"
        self.word(self.keep("s1", "r"), SetModulus("n"), note=note)
        if domain:
            self.word(self.keep("m", "r"))
        self.word(Fetch("r", "n"))
        self.word(Fetch("b", "n2"))
        self.word(Check("r", "b", Status.FAULT))
        self.constant("cn")
        self.word(Fetch("s", "s1"))
        self.enter()
        if not domain:
            self.word(self.keep("m", "b"))
        self.public_power(Move("r", "1"))
        self.word(Fetch("b", "m2"))
        self.word(Check("r", "b", Status.FAULT, final=True), Move("r", "0"), Move("b", "1"))

    def program(self) -> Program:
        """The complete program."""
        recipe = self.recipe
        self.take()
        if recipe.blind_message:
            self.blind()
        if recipe.crt:
            self.crt()
        else:
            self.power("n", "d", "phi", "k", "cn", "modulo n")
            if not recipe.shape.plain_result:
                self.leave()
        if recipe.blind_message:
            self.unblind()
        if recipe.verify:
            self.verify()
        doubled = [Setup("double", "r", "r", recipe.doublings_per_cycle)] if recipe.montgomery else []
        failure = self.end("m", ["n2", "m"], Product("", "b", "s", wide=recipe.fits), *doubled)
        return self.assembled(failure, recipe.nbits, of_public(recipe))
