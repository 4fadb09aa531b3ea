"""Builder of exponentiation programs: schedules, domain conversions, CRT, blinding, verification, wiping.

`plain` makes the program of a machine {base, exp, mod}: a conversion, the loop of a schedule, and the way
back. `keyed` makes that of a machine that takes a key: with CRT (two exponentiations modulo the primes,
Garner's recombination), message and exponent blinding, and the check s^e = m before the result leaves. Both
are compositions of the same few pieces.

The loops are those of schedule_loops.py.

Sources: the schedules are those of schedules.py. Garner: Handbook of Applied Cryptography, 14.71 and note
14.75. The check: Boneh, DeMillo and Lipton, EUROCRYPT 1997. Blinding of the exponent: Coron, CHES 1999, 5.1;
of the message without an inverse: with a random x, (m x^e)^(d-1) * m x^(e-1) = m^d, after Ebeid and Lambert
(2010), so that nothing is kept from one operation to the next.
"""

from dataclasses import replace
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
    Loop,
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
            "give fixed-window, always or ladder"
        )
    if recipe.scaled is None:
        return _Keyed(recipe).program()
    return ScaledKeyed(recipe, recipe.scaled).program(of_public(recipe))


def _entering_constant(recipe: Recipe) -> list[Item]:
    """r becomes 2^(nbits + R) modulo the modulus, which by a wide product takes numbers into the domain."""
    if recipe.fits:
        return [word(Setup("double", "r", "1", recipe.nbits, recipe.block), note="R^2")]
    doublings = recipe.nbits + (recipe.nbits >> recipe.squarings)
    squares = [Repeat(word(SQUARE), 1, recipe.squarings)] if recipe.squarings else []
    return [word(Setup("double", "r", "1", doublings), note="R^2"), *squares]


# ---- machines without a key


def plain(recipe: Recipe) -> Program:
    """{base, exp, mod}."""
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
        given=recipe.given,
        sliding=shape.sliding,
        table=recipe.entries,
        slots=("one",) if shape.sliding else (),
        fields=recipe.asked,
    )


def exponentiation(recipe: Recipe, wipes: bool, released: bool = False) -> list[Item]:
    """From a request to the answer: into the domain, the loop, and out of it. wipes: nothing of the base is
    left. released: the result is compared with itself, as none leaves without a check.
    """
    shape = recipe.shape
    take = word(
        Move("r", "in.one" if recipe.given else "1" if recipe.scaled is None else "0"),
        Move("b", "in.base"),
        SetModulus("in.mod"),
        SetExponent("in.exp", 0 if shape.right else recipe.ndigits, top=shape.digit),
        takes=True,
        accepts=True,
    )
    items: list[Item] = [take]
    if recipe.skips:
        items.append(Repeat(word(Skip()), 0, SKIPPED))
    entering = _into(recipe)
    items += entering
    aligns = not (shape.right or shape.digit or recipe.full_scan)
    enters = recipe.given or recipe.montgomery or recipe.scaled is not None
    loop = BIT_BY_BIT if recipe.apart else shape.items(recipe.digit_nbits, aligns, not enters)
    if recipe.skips and not entering and isinstance(loop[0], Loop):
        items.append(word())  # the loop is entered from here
    items += [replace(item, once=recipe.once) if isinstance(item, Loop) else item for item in loop]
    if recipe.montgomery and not recipe.starts_plain:
        items.append(word(Product("r", "r", "1"), note="out of the domain"))
    if recipe.scaled is not None:
        items += out_of(recipe)
    last = []
    if wipes:
        items += [
            word(Move("s", "0"), Move("b", "0"), SetExponent("0"), note="wiping"),
            word(*(Product("", "b", "s") for _ in range(recipe.nunits))),
        ]
        items += [Repeat(word(Clear()), 0, recipe.entries - 1)] if recipe.entries else []
        items += [word(Setup("clear", "b", "b", 0))] if recipe.scaled is not None else []
        last = [Move("r", "0")]
    if released:
        items += [word(Move("b", "r")), word(Check("r", "b", Status.FAULT, final=True))]
        last.append(Move("b", "0"))
    return [*items, word(*last, flow=Flow("answer"))]


def of_public(recipe: Recipe) -> list[Item]:
    """The operation of a machine with a key for requests with a public exponent, if it has one."""
    return exponentiation(recipe.of_public, True, recipe.verify) if recipe.public else []


def _into(recipe: Recipe) -> list[Item]:
    """b and r, the base and 1, into the domain."""
    shape = recipe.shape
    if recipe.scaled is not None:
        return into(recipe, recipe.scaled)
    if not recipe.montgomery:
        # a table's entry may be the result: it must be below the modulus
        reduces = recipe.domain == "identity" and (recipe.entries > 0 or recipe.fits) and not recipe.given
        base = word(Product("b", "r", "b", wide=recipe.fits), note="the base below the modulus")
        return [base] if reduces else []
    if recipe.conversion == "double":
        per_block = recipe.block if recipe.fits else 0
        fixed = 0 if recipe.fits else recipe.r_nbits or recipe.nbits
        base = word(Setup("double", "b", "b", fixed, per_block), note="the base into the domain")
        one = word(Setup("double", "r", "1", fixed, per_block), note="and 1")
        return [base] if recipe.starts_plain else [base, one]
    if recipe.conversion == "shift-sub":
        # paper 004's machines: products with R^2 that one unit makes follow one another
        square = word(Setup("square", "r", "1", 0), note="R^2 by shift-sub")
        enters = Product("b", "r", "b"), Product("r", "r", "1")
        dependent = recipe.nunits == 1 and not shape.right
        return [square, *(map(word, enters) if dependent else (word(*enters),))]
    enter, note = Product("b", "r", "b", wide=recipe.fits), "the base into the domain"
    if recipe.starts_plain:
        return [*_entering_constant(recipe), word(enter, Move("r", "1"), note=note)]
    also = Product("r", "r", "1", wide=recipe.fits)
    return [*_entering_constant(recipe), word(enter, also, note=f"{note}, and 1")]


# ---- machines with a key


class _Keyed(Pieces):
    """The pieces of a keyed program, in the order in which they are called for."""

    # ---- products, by which factor may be any word and which must be below the modulus

    def product(self, dst: str, any_word: str, reduced: str, *, wide: bool = False) -> Product:
        """Montgomery's first factor may be any word, that of the other domains is below the modulus."""
        x, y = (any_word, reduced) if self.recipe.montgomery else (reduced, any_word)
        return Product(dst, x, y, wide=wide and self.recipe.fits)

    def enter(self, *also: Action) -> None:
        """b becomes s in the domain, whatever word s is; in a Montgomery domain b was the entering
        constant.
        """
        self.word(self.product("b", "s", "b" if self.recipe.montgomery else "1", wide=True), *also)

    def constant(self, slot: str) -> None:
        """b becomes the entering constant of the modulus, kept before."""
        if self.recipe.montgomery:
            self.word(Fetch("b", slot))

    def make_constant(self, slot: str, *also: Action) -> None:
        """The entering constant of the modulus goes to its slot and to b; that of n is made once."""
        if slot == "cn" and slot in self.slots:
            self.constant(slot)
        elif self.recipe.montgomery:
            self.items += _entering_constant(self.recipe)
            also = (self.keep(slot, "r"), Move("b", "r"), *also)
        self.word(*also)

    # ---- parts

    def blind(self) -> None:
        """m becomes m x^e, and u m x^(e-1), for the random x."""
        self.word(SetModulus("n"), note="the message is blinded by x^e")
        self.make_constant("cn", Fetch("s", "x"))
        self.enter()
        self.word(self.keep("xr", "b"))
        self.public_power(Move("r", "1"), even=True)
        # r = x^(e-1), which enters by way of s
        self.word(Move("s", "r"), *([Fetch("b", "cn")] if self.recipe.montgomery else []))
        self.enter(Fetch("s", "m"))
        self.word(self.product("r", "s", "b"))
        self.word(self.keep("u", "r"), Fetch("b", "xr"))
        self.word(self.product("r", "r", "b"))
        self.word(self.keep("m", "r"))

    def power(self, modulus: str, exponent: str, order: str, random: str, constant: str, what: str) -> None:
        """r becomes m^exponent modulo a slot, in the domain; `order` is a multiple of the group's, or next to
        it.
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
        """r out of the domain."""
        if self.recipe.montgomery:
            self.word(Product("r", "r", "1"))

    def crt(self) -> None:
        """r becomes m^d modulo p and modulo q, put together by Garner's formula."""
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
        # s = sq + h q modulo n, in which nothing is reduced
        self.word(SetModulus("n"), note="sq + h q")
        self.make_constant("cn", Fetch("s", "q"))
        self.enter(Fetch("s", "p"))
        self.word(self.product("r", "s", "b"), note="is p q = n?")
        self.word(Check("r", "0", Status.BAD_KEY), Move("r", "0"), Fetch("s", "h"))
        self.word(self.product("r", "s", "b"))
        self.word(Fetch("b", "sq"))
        self.word(Add("r", "r", "b"))

    def unblind(self) -> None:
        """r becomes r * u."""
        self.constant("cn")
        self.word(Move("s", "r"))
        self.enter(Fetch("s", "u"))
        self.word(self.product("r", "s", "b"), note="the blinding is taken away")

    def verify(self) -> None:
        """Does the result to the e give the message again? It is kept twice, and the answer wants both.

        The second takes the message's place, so that a fault that jumps over both leaves two that differ; it
        is the number that the check begins with, unless that is in a Montgomery domain. The modulus is
        fetched again, as a result under a wrong one might stand a check under the same. The check that
        releases the result is the last, and leaves r and b different: the answer finds them equal only if
        they are the two that were kept.
        """
        domain = self.recipe.montgomery
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
        """All of it."""
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
