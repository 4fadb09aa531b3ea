"""Programs of machines on a scaled modulus (scaled_entry.py has the mathematics): into the form, the loop of
a schedule, and out of it.

R^2 is made for each modulus that is set, in less than ten products' time; numbers enter by a product with it,
and leave by one with the power of 2 that the halvings behind it take away, except from loops that began with
that power: those end outside the form.

With CRT the units are half as wide as the modulus. All that is modular is so modulo a prime: blinding, as (m
x^e)^(dp - 1) * m x^(e - 1) is m^dp modulo p as well, and the check, (s mod p)^e = m mod p and the same for q,
from the message and the result themselves, which is as good as that modulo n = pq; that this is n is looked
at. Only s = sq + h q and p q are longer: integers of two words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..status import Status
from .crt_builder import Pieces
from .ir import (
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
    Word,
    assemble,
)
from .schedule_loops import RIGHT_TO_LEFT, SQUARE

if TYPE_CHECKING:
    from ..multipliers.scaled_entry import ScaledEntry
    from .builder import Recipe

HALVED = Setup("halve", "r", "r", 0)
REGISTERED = Word(note="what a product made is registered")  # before a conversion takes it


def squared_r(form: ScaledEntry) -> list[Item]:
    """r becomes the residue of R^2, for the modulus that the word before has set."""
    items: list[Item] = [Word(actions=(Setup("scale", "r", "r", 0),), note="M', and a power of 2")]
    for squares, doubled in form.chain.runs():
        items.append(Repeat(Word((SQUARE,), note="to R^2"), 1, squares))
        if doubled:
            items += [REGISTERED, Word(actions=(Setup("double", "r", "r", 0),))]
    return items


def into(recipe: Recipe, form: ScaledEntry) -> list[Item]:
    """b, the base, into the form, and 1 in r: in it, or the number that leaves as 1."""
    base = Product("b", "r", "b")
    if recipe.starts_plain:
        return [*squared_r(form), Word((base,), (Move("r", "unit"),), note="the base into the form")]
    one = Product("r", "r", "1")
    entering = [Word((base, one))] if recipe.nunits == 2 else [Word((base,)), Word((one,))]
    return [*squared_r(form), *entering]


def out_of(recipe: Recipe) -> list[Item]:
    """r, as the loop leaves it, becomes the number below the modulus."""
    leave = [] if recipe.starts_plain else [Word((Product("r", "r", "unit"),), note="out of the form")]
    return [*leave, REGISTERED, Word(actions=(HALVED,))]


def flushed() -> Item:
    """Nothing is left in the unit that converts; r is 0."""
    return Word(actions=(Setup("clear", "r", "r", 0),))


class ScaledKeyed(Pieces):
    """A machine that takes a key. Behind the making of R^2 it is in slot c."""

    def __init__(self, recipe: Recipe, form: ScaledEntry) -> None:
        super().__init__(recipe)
        self.form = form
        self.joins = recipe.joins

    def take(self) -> None:
        """The request into slots, a field a word; what the check relies on is kept twice."""
        recipe = self.recipe
        numbers = [("m", "in.base"), ("n", "in.mod")]
        if recipe.verify:
            numbers += [("m2", "in.base")] if self.joins else [("m2", "in.base"), ("n2", "in.mod")]
        stored = [
            (name + mark, source + part)
            for name, source in numbers
            for mark, part in ((("", ".low"), ("h", ".high")) if self.joins else (("", ""),))
        ]
        stored.append(("e" if recipe.crt else "d", "in.exp"))
        stored += [(name, f"in.{name}") for name, _ in self.fields()]
        for slot, source in stored:
            last = slot == stored[-1][0]
            empty = (Move("r", "0"), *((Move("s", "0"),) if self.joins else ())) if last else ()
            self.items.append(Word(actions=(self.keep(slot, source), *empty), takes=True, accepts=last))

    # ---- parts

    def modulus(self, slot: str, note: str) -> None:
        """R^2 modulo a slot, in b and slot c; joining, what the upper half of a number enters by, in
        slot ch.
        """
        self.act(SetModulus(slot), note=note)
        self.items += squared_r(self.form)
        self.act(self.keep("c", "r"), Move("b", "r"))
        if self.joins:
            self.word(Product("r", "half", "b"), note="2^half R")
            self.act(self.keep("ch", "r"), Move("b", "r"))

    def number(self, name: str, again: bool = False) -> None:
        """b becomes a number of the request, or the result, in the form, and s R^2; again: not right behind
        the making of R^2.
        """
        if self.joins:
            if again:
                self.act(Fetch("b", "ch"))
            self.act(Fetch("s", f"{name}h"))
            self.act(Fetch("s", name), products=(Product("r", "s", "b"),))
            self.act(Add("s", "r", "s"))  # no product goes with it, or right behind it: see Microcode
            self.act(Fetch("b", "c"))
        else:
            self.act(Fetch("s", name))
        self.act(Fetch("s", "c"), products=(Product("b", "s", "b"),))

    def one(self) -> None:
        """r becomes 1 in the form, by s = R^2."""
        self.word(Product("r", "1", "s"))

    def public_power(self, *, even: bool = False) -> None:
        """r becomes r * b^e; even: r * b^(e-1)."""
        self.act(Fetch("s", "e"))
        self.act(SetExponent("s", even=even))
        self.items += RIGHT_TO_LEFT.items(1, False, False)

    def leave(self) -> None:
        """r out of the form, below the modulus."""
        self.word(Product("r", "r", "unit"))
        self.halve()

    def halve(self) -> None:
        """r, which leaves as its quotient by the unit."""
        self.items += [REGISTERED, Word(actions=(HALVED,))]

    def blind(self) -> None:
        """b = m in the form becomes m x^e, and u m x^(e-1), for the random x; s is R^2 before and after."""
        self.act(self.keep("mr", "b"), Move("b", "s"), Fetch("s", "x"), note="the message is blinded by x^e")
        self.act(Fetch("s", "c"), products=(Product("b", "s", "b"),))
        self.act(self.keep("xr", "b"), products=(Product("r", "1", "s"),))
        self.public_power(even=True)
        self.act(Fetch("s", "mr"))
        self.act(Fetch("b", "xr"), products=(Product("r", "r", "s"),))
        self.act(self.keep("u", "r"), Fetch("s", "c"), products=(Product("b", "r", "b"),))

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
            self.act(Fetch("s", "u"))
            self.word(Product("r", "r", "s"), note="the blinding is taken away")

    def crt(self) -> None:
        """s, r become m^d modulo p and modulo q, put together by Garner's formula."""
        self.power("q", "dq", "q", "kq", "modulo q")
        self.leave()
        self.act(self.keep("sq", "r"))
        self.power("p", "dp", "p", "kp", "modulo p")
        self.garner()
        self.key_check()
        self.integer("h", "sq", "sq + h q")
        self.act(Add("b", "b", "s"))
        self.act(Add("s", "r", "b.high"), Move("r", "b.low"))

    def garner(self) -> None:
        """h = (sp - sq) / q modulo p, from sp in the form. Sums are of numbers that came from a product with
        a short one.
        """
        self.word(Product("r", "r", "unit"), note="Garner: h = (sp - sq) qinv mod p")
        self.act(self.keep("sp", "r"), Add("s", "0", "1", subtract=True))
        self.act(Fetch("b", "c"))
        self.act(products=(Product("r", "s", "b"),))  # -1 in the form
        self.act(Fetch("s", "sq"), products=(Product("b", "unit", "b"),))
        self.word(Product("r", "r", "b"))
        self.act(Fetch("s", "sp"), products=(Product("r", "s", "r"),))
        self.act(Add("r", "r", "s"), Fetch("b", "c"))
        self.act(Fetch("s", "qinv"))
        self.word(Product("b", "s", "b"))
        self.act(self.keep("qr", "b"), products=(Product("r", "r", "b"),))
        self.halve()
        self.act(self.keep("h", "r"), Fetch("b", "c"))
        self.act(Fetch("s", "q"), note="is qinv that of q?")
        self.act(Fetch("b", "qr"), products=(Product("r", "s", "b"),))
        self.word(Product("r", "r", "b"))
        self.leave()
        self.act(Check("r", "1", Status.BAD_KEY), *self.nothing())

    def nothing(self) -> tuple[Action, ...]:
        """No result, while a check may end the program."""
        return (Move("r", "0"), Move("s", "0")) if self.joins else (Move("r", "0"),)

    def integer(self, factor: str, then: str, note: str) -> None:
        """r becomes the upper half of a slot * q and b its lower one, from their sum; s another slot. There
        is no modulus.
        """
        self.act(SetModulus("0"), Fetch("b", "q"), note=note)
        self.act(Fetch("s", factor))
        self.word(Product("r", "s", "b", lifted=True))
        self.act(SetModulus("ones"))
        self.word(Product("b", "s", "b", lifted=True))
        self.act(Add("b", "b", "r", subtract=True), Fetch("s", then))
        if self.form.folds > 1:
            self.act(Move("b", "b.top"))

    def key_check(self) -> None:
        """Is p q = n?"""
        self.integer("p", "nh", "is p q = n?")
        self.act(Check("r", "s", Status.BAD_KEY), *self.nothing())
        self.act(Move("r", "b"), Fetch("b", "n"))
        self.act(Check("r", "b", Status.BAD_KEY), *self.nothing())

    def verify_halves(self) -> None:
        """Does the result to the e give the message again, modulo both primes?

        Result and message are kept twice: those that are looked at are not those that leave, or that the
        powers were made of. The answer wants both results alike, and the check that releases it is the last
        and leaves them different.
        """
        for slot, name in (("s1", "r"), ("s1h", "s"), ("s2", "r"), ("s2h", "s")):
            self.act(self.keep(slot, name))
        for prime in ("p", "q"):
            self.modulus(prime, f"does the result to the e give the message, modulo {prime}?")
            self.number("s2")
            self.act(Move("r", "unit"))
            self.public_power()
            self.halve()
            self.act(self.keep("v", "r"))
            self.number("m2", again=True)
            self.word(Product("r", "b", "unit"))
            self.halve()
            self.act(Fetch("b", "v"))
            last = prime == "q"
            released = (*self.nothing(), Move("b", "1")) if last else ()
            self.act(Check("r", "b", Status.FAULT, final=last), *released)

    def verify(self) -> None:
        """The same modulo n; the modulus is fetched again, as a result under a wrong one might stand a check
        under the same.
        """
        self.act(self.keep("s1", "r"), Fetch("r", "n"), note="does the result to the e give the message?")
        self.act(Fetch("b", "n2"))
        self.act(Check("r", "b", Status.FAULT), Fetch("r", "s1"))
        self.act(self.keep("s2", "r"))
        self.modulus("n", "")
        self.number("s2")
        self.act(Move("r", "unit"))
        self.public_power()
        self.halve()
        self.act(Fetch("b", "m2"))
        self.act(Check("r", "b", Status.FAULT, final=True), Move("r", "0"), Move("b", "1"))

    def end(self) -> Item:
        """Return the microinstructions that overwrite all secrets in registers, memory and units and send the
        answer.

        The result waits in registers while the memory is cleared; who comes here without one has 0 in its
        place. Of a checked one a 1 is left in place of its twin and of that of the modulus, not the 0 of the
        first: a fault that fetches them again, or that keeps the next request from being stored, finds two
        that differ.
        """
        recipe, joins = self.recipe, self.joins
        twice = recipe.verify
        start = len(self.items)
        if not twice:
            self.act(self.keep("s1", "r"))
            if joins:
                self.act(self.keep("s1h", "s"))
        # what is not cleared has the last addresses
        ones = ["s2", *([] if joins else ["n2"])] if twice else []
        self.slots = [slot for slot in self.slots if slot not in ones] + ones
        depth = recipe.entries + len(self.slots)
        # a word of the result and its twin differ until they are fetched
        zero = [Move("r", "0"), Move("b", "1" if twice else "0"), Move("s", "1" if twice and joins else "0")]
        self.act(SetModulus("0"), SetExponent("0"), *zero, note="wiping")
        flush = tuple(Product("", "r", "s") for _ in range(recipe.nunits))
        self.items.append(Word(flush, (self.keep("n2", "b"),) if "n2" in ones else ()))
        self.items.append(flushed())
        self.act(Fetch("r", "s1"))
        if joins:
            self.act(Fetch("s", "s1h"))
        if twice:
            if joins:
                self.act(SetModulus("s2h"))
            self.act(Fetch("b", "s2"), self.keep("s2", "b"))
        self.items.append(Repeat(Word(actions=(Clear(),)), 0, depth - len(ones) - 1))
        cleared: list[Action] = [Move("r", "0")]
        cleared += [Move("b", "0")] if twice else []
        cleared += [Move("s", "0")] if joins else []
        cleared += [SetModulus("0")] if joins and twice else []
        self.items.append(Word(actions=tuple(cleared), flow=Flow("answer")))
        return self.items[start]

    def program(self) -> Program:
        """All of it."""
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
        failure = self.end()
        return assemble(
            self.items,
            failure=failure,
            digit_nbits=recipe.digit_nbits,
            scanned_nbits=max(self.form.shape.nbits, recipe.ndigits * recipe.digit_nbits),
            table=recipe.entries,
            slots=tuple(self.slots),
            fields=self.fields(),
            random_nbits=recipe.random_nbits,
            verified=recipe.verify,
            joins=self.joins,
        )
