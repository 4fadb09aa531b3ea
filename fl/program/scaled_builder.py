"""Builder of programs on a scaled modulus: conversion, the loop of a schedule, and conversion back
(mathematics: scaled_entry.py).

R^2 is computed whenever a modulus is set, in less than the time of ten products. Numbers enter by a product
with it. They leave by a product with the power of 2 that the following halvings remove; loops that start with
that power end outside the form and need no such product.

With CRT the units are half as wide as the modulus, and all modular arithmetic is modulo a prime. Blinding
works there, as (m x^e)^(dp - 1) * m x^(e - 1) is m^dp modulo p as well. So does the check, (s mod p)^e = m
mod p and the same for q, from the message and the result themselves, which is equivalent to a check modulo n
= pq; that p q = n is checked too. Only s = sq + h q and p q are longer: integers of two words.
"""

from collections.abc import Sequence

from ..multipliers.scaled_entry import ScaledEntry
from ..status import Status
from .crt_builder import Pieces
from .ir import (
    Action,
    Add,
    Check,
    Fetch,
    Item,
    Move,
    Product,
    Program,
    Repeat,
    SetModulus,
    Setup,
    word,
)
from .recipe import Recipe
from .schedule_loops import SQUARE

HALVED = Setup("halve", "r", "r", 0)
CLEARED = Setup("clear", "r", "r", 0)  # clears the conversion unit if r is 0
REGISTERED = word(note="a conversion reads a register, not a product that arrives")


def squared_r(form: ScaledEntry) -> list[Item]:
    """Items that set r to the residue of R^2, for the modulus set by the preceding microinstruction."""
    items: list[Item] = [word(Setup("scale", "r", "r", 0), note="M', and a power of 2")]
    for squares, doubled in form.chain.runs():
        items.append(Repeat(word(SQUARE, note="to R^2"), 1, squares))
        if doubled:
            items += [REGISTERED, word(Setup("double", "r", "r", 0))]
    return items


def into(recipe: Recipe, form: ScaledEntry) -> list[Item]:
    """Items that convert b, the base, into the form and set r to 1: in the form, or as the number that leaves
    as 1.
    """
    base = Product("b", "r", "b")
    if recipe.starts_plain:
        return [*squared_r(form), word(base, Move("r", "unit"), note="the base into the form")]
    one = Product("r", "r", "1")
    entering = [word(base), word(one)]
    return [*squared_r(form), *entering]


def out_of(recipe: Recipe) -> list[Item]:
    """Items that reduce the result of the loop in r to the number below the modulus."""
    leave = [] if recipe.starts_plain else [word(Product("r", "r", "unit"), note="out of the form")]
    return [*leave, REGISTERED, word(HALVED)]


class ScaledKeyed(Pieces):
    """The program of a machine that takes a key. R^2, once computed, is in slot c."""

    def __init__(self, recipe: Recipe, form: ScaledEntry) -> None:
        super().__init__(recipe)
        self.form = form

    # ---- parts

    def modulus(self, slot: str, note: str) -> None:
        """Set the modulus from a slot, and compute R^2 into b and slot c. If the program joins, slot ch
        receives the constant that converts the upper half of a number.
        """
        self.word(SetModulus(slot), note=note)
        self.items += squared_r(self.form)
        self.word(self.keep("c", "r"), Move("b", "r"))
        if self.joins:
            self.word(Product("r", "half", "b"), note="2^half R")
            self.word(self.keep("ch", "r"), Move("b", "r"))

    def number(self, name: str, again: bool = False) -> None:
        """Set b to a number of the request, or the result, in the form, and s to R^2. again: not directly
        after computing R^2.
        """
        if self.joins:
            if again:
                self.word(Fetch("b", "ch"))
            self.word(Fetch("s", f"{name}h"))
            self.word(Fetch("s", name), Product("r", "s", "b"))
            self.word(
                Add("s", "r", "s")
            )  # no product in parallel with it or directly after it: see Microcode
            self.word(Fetch("b", "c"))
        else:
            self.word(Fetch("s", name))
        self.word(Fetch("s", "c"), Product("b", "s", "b"))

    def one(self) -> None:
        """Set r to 1 in the form, by s = R^2."""
        self.word(Product("r", "1", "s"))

    def leave(self) -> None:
        """Convert r out of the form, below the modulus."""
        self.word(Product("r", "r", "unit"))
        self.halve()

    def halve(self) -> None:
        """Divide r by the unit, and reduce it below the modulus."""
        self.items += [REGISTERED, word(HALVED)]

    def blind(self) -> None:
        """Multiply b = m in the form by x^e, and set u to m x^(e-1), for the random x; s is R^2 before and
        after.
        """
        # countermeasure MESSAGE_BLINDING: the message is multiplied by x^e for a random x
        self.word(self.keep("mr", "b"), Move("b", "s"), Fetch("s", "x"), note="the message is blinded by x^e")
        self.word(Fetch("s", "c"), Product("b", "s", "b"))
        self.word(self.keep("xr", "b"), Product("r", "1", "s"))
        self.public_power(even=True, base="xr")
        self.word(Fetch("s", "mr"))
        self.word(Fetch("b", "xr"), Product("r", "r", "s"))
        self.word(self.keep("u", "r"), Fetch("s", "c"), Product("b", "r", "b"))

    def power(self, modulus: str, exponent: str, order: str, random: str, what: str) -> None:
        """Set r to m^exponent modulo a slot, in the form. `order` is a multiple of the group order, or
        adjacent to one.
        """
        recipe = self.recipe
        self.modulus(modulus, what)
        self.number("m")
        if recipe.blind_message:
            self.blind()
        self.one()
        self.loop(exponent, order, random)
        if recipe.blind_message:
            self.word(Fetch("s", "u"))
            self.word(Product("r", "r", "s"), note="the blinding is taken away")

    def crt(self) -> None:
        """Set s, r to m^d, computed modulo p and modulo q and recombined by Garner's formula."""
        self.power("q", "dq", "q", "kq", "modulo q")
        self.leave()
        self.word(self.keep("sq", "r"))
        self.power("p", "dp", "p", "kp", "modulo p")
        self.garner()
        self.key_check()
        self.integer("h", "sq", "sq + h q")
        self.word(Add("b", "b", "s"))
        self.word(Add("s", "r", "b.high"), Move("r", "b.low"))

    def garner(self) -> None:
        """Compute h = (sp - sq) / q modulo p, from sp in the form. The operands of sums come from products
        with a short number.
        """
        self.word(Product("r", "r", "unit"), note="Garner: h = (sp - sq) qinv mod p")
        self.word(self.keep("sp", "r"), Add("s", "0", "1", subtract=True))
        self.word(Fetch("b", "c"))
        self.word(Product("r", "s", "b"))  # -1 in the form
        self.word(Fetch("s", "sq"), Product("b", "unit", "b"))
        self.word(Product("r", "r", "b"))
        self.word(Fetch("s", "sp"), Product("r", "s", "r"))
        self.word(Add("r", "r", "s"), Fetch("b", "c"))
        self.word(Fetch("s", "qinv"))
        self.word(Product("b", "s", "b"))
        self.word(self.keep("qr", "b"), Product("r", "r", "b"))
        self.halve()
        self.word(self.keep("h", "r"), Fetch("b", "c"))
        self.word(Fetch("s", "q"), note="is qinv that of q?")
        self.word(Fetch("b", "qr"), Product("r", "s", "b"))
        self.word(Product("r", "r", "b"))
        self.leave()
        self.word(Check("r", "1", Status.BAD_KEY), *self.nothing())

    def nothing(self) -> tuple[Action, ...]:
        """Actions that clear the result, while a check may end the program."""
        return (Move("r", "0"), Move("s", "0")) if self.joins else (Move("r", "0"),)

    def integer(self, factor: str, then: str, note: str) -> None:
        """Set r to the upper half of a slot * q, b to the lower half, computed from their sum, and s to
        another slot. No modulus is set afterwards.
        """
        self.word(SetModulus("0"), Fetch("b", "q"), note=note)
        self.word(Fetch("s", factor))
        self.word(Product("r", "s", "b", lifted=True))
        self.word(SetModulus("ones"))
        self.word(Product("b", "s", "b", lifted=True))
        self.word(Add("b", "b", "r", subtract=True), Fetch("s", then))
        if self.form.folds > 1:
            self.word(Move("b", "b.top"))

    def key_check(self) -> None:
        """Check that p q = n."""
        self.integer("p", "nh", "is p q = n?")
        self.word(Check("r", "s", Status.BAD_KEY), *self.nothing())
        self.word(Move("r", "b"), Fetch("b", "n"))
        self.word(Check("r", "b", Status.BAD_KEY), *self.nothing())

    def verify_halves(self) -> None:
        """Check that the result to the power e is the message, modulo both primes.

        Result and message are stored twice: the checked copies are neither the ones that are released nor the
        ones from which the powers were computed. The answer requires equal results. The check that releases
        the result is the last and leaves the two copies different.
        """
        for slot, name in (("s1", "r"), ("s1h", "s"), ("s2", "r"), ("s2h", "s")):
            self.word(self.keep(slot, name))
        for prime in ("p", "q"):
            self.modulus(prime, f"does the result to the e give the message, modulo {prime}?")
            self.number("s2")
            self.word(self.keep("v", "b"), Move("r", "unit"))
            self.public_power(base="v")
            self.halve()
            self.word(self.keep("v", "r"))
            self.number("m2", again=True)
            self.word(Product("r", "b", "unit"))
            self.halve()
            self.word(Fetch("b", "v"))
            last = prime == "q"
            released = (*self.nothing(), Move("b", "1")) if last else ()
            self.word(Check("r", "b", Status.FAULT, final=last), *released)

    def verify(self) -> None:
        """Check the same modulo n. The modulus is fetched again, because a result under a wrong modulus might
        pass a check under the same one.
        """
        # countermeasure RESULT_CHECK: the result to the public exponent must be the message
        self.word(self.keep("s1", "r"), Fetch("r", "n"), note="does the result to the e give the message?")
        self.word(Fetch("b", "n2"))
        self.word(Check("r", "b", Status.FAULT), Fetch("r", "s1"))
        self.word(self.keep("s2", "r"))
        self.modulus("n", "")
        self.number("s2")
        self.word(Move("r", "unit"))
        self.public_power()
        self.halve()
        self.word(Fetch("b", "m2"))
        self.word(Check("r", "b", Status.FAULT, final=True), Move("r", "0"), Move("b", "1"))

    def program(self, public: Sequence[Item]) -> Program:
        """The complete program, including the items for requests with a public exponent."""
        recipe = self.recipe
        self.take()
        if recipe.crt:
            self.crt()
            if recipe.verify:
                self.verify_halves()
        else:
            self.power("n", "d", "phi", "k", "modulo n")
            self.leave()
            if recipe.verify:
                self.verify()
        failure = self.end("s2", ["s2"] if self.joins else ["s2", "n2"], Product("", "r", "s"), CLEARED)
        return self.assembled(failure, self.form.shape.nbits, public)
