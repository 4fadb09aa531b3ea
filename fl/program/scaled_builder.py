"""Builder of programs on a scaled modulus: conversion, the loop of a schedule, and conversion back
(mathematics: scaled_entry.py).

R^2 is made for each modulus that is set, in less than ten products' time; numbers enter by a product with it,
and leave by one with the power of 2 that the halvings behind it take away, except from loops that began with
that power: those end outside the form.

With CRT the units are half as wide as the modulus. All that is modular is so modulo a prime: blinding, as (m
x^e)^(dp - 1) * m x^(e - 1) is m^dp modulo p as well, and the check, (s mod p)^e = m mod p and the same for q,
from the message and the result themselves, which is as good as that modulo n = pq; that this is n is looked
at. Only s = sq + h q and p q are longer: integers of two words.
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
CLEARED = Setup("clear", "r", "r", 0)  # nothing is left in the unit that converts, if r is 0
REGISTERED = word(note="what a product made is registered")  # before a conversion takes it


def squared_r(form: ScaledEntry) -> list[Item]:
    """r becomes the residue of R^2, for the modulus that the word before has set."""
    items: list[Item] = [word(Setup("scale", "r", "r", 0), note="M', and a power of 2")]
    for squares, doubled in form.chain.runs():
        items.append(Repeat(word(SQUARE, note="to R^2"), 1, squares))
        if doubled:
            items += [REGISTERED, word(Setup("double", "r", "r", 0))]
    return items


def into(recipe: Recipe, form: ScaledEntry) -> list[Item]:
    """b, the base, into the form, and 1 in r: in it, or the number that leaves as 1."""
    base = Product("b", "r", "b")
    if recipe.starts_plain:
        return [*squared_r(form), word(base, Move("r", "unit"), note="the base into the form")]
    one = Product("r", "r", "1")
    entering = [word(base, one)] if recipe.nunits == 2 else [word(base), word(one)]
    return [*squared_r(form), *entering]


def out_of(recipe: Recipe) -> list[Item]:
    """r, as the loop leaves it, becomes the number below the modulus."""
    leave = [] if recipe.starts_plain else [word(Product("r", "r", "unit"), note="out of the form")]
    return [*leave, REGISTERED, word(HALVED)]


class ScaledKeyed(Pieces):
    """A machine that takes a key. Behind the making of R^2 it is in slot c."""

    def __init__(self, recipe: Recipe, form: ScaledEntry) -> None:
        super().__init__(recipe)
        self.form = form

    # ---- parts

    def modulus(self, slot: str, note: str) -> None:
        """R^2 modulo a slot, in b and slot c; joining, what the upper half of a number enters by, in
        slot ch.
        """
        self.word(SetModulus(slot), note=note)
        self.items += squared_r(self.form)
        self.word(self.keep("c", "r"), Move("b", "r"))
        if self.joins:
            self.word(Product("r", "half", "b"), note="2^half R")
            self.word(self.keep("ch", "r"), Move("b", "r"))

    def number(self, name: str, again: bool = False) -> None:
        """b becomes a number of the request, or the result, in the form, and s R^2; again: not right behind
        the making of R^2.
        """
        if self.joins:
            if again:
                self.word(Fetch("b", "ch"))
            self.word(Fetch("s", f"{name}h"))
            self.word(Fetch("s", name), Product("r", "s", "b"))
            self.word(Add("s", "r", "s"))  # no product goes with it, or right behind it: see Microcode
            self.word(Fetch("b", "c"))
        else:
            self.word(Fetch("s", name))
        self.word(Fetch("s", "c"), Product("b", "s", "b"))

    def one(self) -> None:
        """r becomes 1 in the form, by s = R^2."""
        self.word(Product("r", "1", "s"))

    def leave(self) -> None:
        """r out of the form, below the modulus."""
        self.word(Product("r", "r", "unit"))
        self.halve()

    def halve(self) -> None:
        """r, which leaves as its quotient by the unit."""
        self.items += [REGISTERED, word(HALVED)]

    def blind(self) -> None:
        """b = m in the form becomes m x^e, and u m x^(e-1), for the random x; s is R^2 before and after."""
        self.word(self.keep("mr", "b"), Move("b", "s"), Fetch("s", "x"), note="the message is blinded by x^e")
        self.word(Fetch("s", "c"), Product("b", "s", "b"))
        self.word(self.keep("xr", "b"), Product("r", "1", "s"))
        self.public_power(even=True)
        self.word(Fetch("s", "mr"))
        self.word(Fetch("b", "xr"), Product("r", "r", "s"))
        self.word(self.keep("u", "r"), Fetch("s", "c"), Product("b", "r", "b"))

    def power(self, modulus: str, exponent: str, order: str, random: str, what: str) -> None:
        """r becomes m^exponent modulo a slot, in the form; `order` is a multiple of the group's, or next to
        it.
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
        """s, r become m^d modulo p and modulo q, put together by Garner's formula."""
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
        """h = (sp - sq) / q modulo p, from sp in the form. Sums are of numbers that came from a product with
        a short one.
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
        """No result, while a check may end the program."""
        return (Move("r", "0"), Move("s", "0")) if self.joins else (Move("r", "0"),)

    def integer(self, factor: str, then: str, note: str) -> None:
        """r becomes the upper half of a slot * q and b its lower one, from their sum; s another slot. There
        is no modulus.
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
        """Is p q = n?"""
        self.integer("p", "nh", "is p q = n?")
        self.word(Check("r", "s", Status.BAD_KEY), *self.nothing())
        self.word(Move("r", "b"), Fetch("b", "n"))
        self.word(Check("r", "b", Status.BAD_KEY), *self.nothing())

    def verify_halves(self) -> None:
        """Does the result to the e give the message again, modulo both primes?

        Result and message are kept twice: those that are looked at are not those that leave, or that the
        powers were made of. The answer wants both results alike, and the check that releases it is the last
        and leaves them different.
        """
        for slot, name in (("s1", "r"), ("s1h", "s"), ("s2", "r"), ("s2h", "s")):
            self.word(self.keep(slot, name))
        for prime in ("p", "q"):
            self.modulus(prime, f"does the result to the e give the message, modulo {prime}?")
            self.number("s2")
            self.word(Move("r", "unit"))
            self.public_power()
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
        """The same modulo n; the modulus is fetched again, as a result under a wrong one might stand a check
        under the same.
        """
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
        """All of it, and the items of requests with a public exponent."""
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
