"""Parts of private-key programs that all domains share, in the order of their execution."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .ir import (
    Action,
    Clear,
    Fetch,
    Flow,
    Item,
    Keep,
    Move,
    Product,
    Program,
    Random,
    Repeat,
    SetExponent,
    SetModulus,
    Setup,
    Stretch,
    assemble,
    word,
)
from .recipe import Recipe
from .schedule_loops import RIGHT_TO_LEFT


def asking(recipe: Recipe) -> list[Item]:
    """The word that asks whether the exponent of a request is public."""
    return [word(takes=True, note="is the exponent public?")] if recipe.public else []


class Pieces:
    """Items, and the slots that they need."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.joins = recipe.joins
        self.items: list[Item] = []
        self.slots: list[str] = []

    def word(self, *parts: Product | Action, **more: Any) -> None:
        """Products, and actions beside them."""
        self.items.append(word(*parts, **more))

    def keep(self, slot: str, src: str) -> Keep:
        """A store, which gives the slot its place."""
        if slot not in self.slots:
            self.slots.append(slot)
        return Keep(slot, src)

    def take(self) -> None:
        """The request into slots, a field a word; what the check relies on is kept twice."""
        recipe = self.recipe
        self.items += asking(recipe)
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
        *others, last = stored
        for slot, source in others:
            self.word(self.keep(slot, source), takes=True)
        empty = [Move(register, "0") for register in ("rs" if self.joins else "r")]
        self.word(self.keep(*last), *empty, takes=True, accepts=True)

    def public_power(self, *also: Action, even: bool = False) -> None:
        """r becomes r * b^e; even: r * b^(e-1)."""
        self.word(Fetch("s", "e"), *also)
        self.word(SetExponent("s", even=even))
        self.items += RIGHT_TO_LEFT.items(1, False, False)

    def loop(self, exponent: str, order: str, random: str) -> None:
        """The schedule over a slot's exponent, which is blinded by a random multiple of another's first, if
        that is asked for.
        """
        recipe, shape = self.recipe, self.recipe.shape
        last = SetExponent(
            "s", 0 if shape.right else recipe.ndigits, top=not shape.right, even=recipe.blind_message
        )
        if recipe.blind_exponent:
            self.word(Fetch("s", random), note="the exponent is blinded")
            self.word(SetExponent("0"), Random("s"), Fetch("s", order))
            self.items.append(Repeat(word(Stretch("s")), 1, recipe.random_nbits))
            last = replace(last, add=True)
        self.word(Fetch("s", exponent))
        # the exponent in its clear must not stay beside its blinded form: what overwrites it would show it
        # (`modexlab attack leakage`)
        self.word(last, *((Move("s", "0"),) if recipe.blind_exponent else ()))
        self.items += shape.items(recipe.digit_nbits, False, False)

    def fields(self) -> tuple[tuple[str, int], ...]:
        """Return the fields of the request after base, exp and mod."""
        recipe = self.recipe
        half = recipe.half_nbits
        key = []
        if recipe.crt:
            key += [(name, half) for name in ("p", "q", "dp", "dq", "qinv")]
        else:
            if recipe.verify or recipe.blind_message:
                key.append(("e", recipe.nbits))
            if recipe.blind_exponent:
                key.append(("phi", recipe.nbits))
        if recipe.blind_message:
            key.append(("x", half if recipe.joins else recipe.nbits))
        if recipe.blind_exponent:
            key += [(name, recipe.random_nbits) for name in (("kp", "kq") if recipe.crt else ("k",))]
        return tuple(key)

    def end(self, twin: str, twins: list[str], flushed: Product, *setups: Setup) -> Item:
        """Return the microinstructions that overwrite all secrets in registers, memory and units and send the
        answer.

        twin: the slot of a checked result's second, one of `twins`, those that stay. The result waits in
        registers while the memory is cleared; who comes here without one has 0 in its place. Of a checked
        one a 1 is left in place of its twin and of that of the modulus, not the 0 of the first: a fault that
        fetches them again, or that keeps the next request from being stored, finds two that differ.
        """
        recipe, joins = self.recipe, self.joins
        twice = recipe.verify
        start = len(self.items)
        words = (("s1", "r"), ("s1h", "s")) if joins else (("s1", "r"),)
        if not twice:
            for kept in words:
                self.word(self.keep(*kept))
        # what is not cleared has the last addresses
        ones = twins if twice else []
        self.slots = [slot for slot in self.slots if slot not in ones] + ones
        # a word of the result and its twin differ until they are fetched
        zero = [Move("r", "0"), Move("b", str(int(twice))), Move("s", str(int(twice and joins)))]
        self.word(SetModulus("0"), SetExponent("0"), *zero, note="wiping")
        second = [Keep("n2", "b")] if "n2" in ones else []
        self.word(*(replace(flushed) for _ in range(recipe.nunits)), *second)
        self.items += map(word, setups)
        for slot, register in words:
            self.word(Fetch(register, slot))
        if twice:
            if joins:
                self.word(SetModulus(f"{twin}h"))
            self.word(Fetch("b", twin), Keep(twin, "b"))
        cleared = recipe.entries + len(self.slots) - len(ones)
        self.items.append(Repeat(word(Clear()), 0, cleared - 1))
        empty: list[Action] = [Move("r", "0")]
        empty += [Move("b", "0")] if twice else []
        empty += [Move("s", "0")] if joins else []
        empty += [SetModulus("0")] if joins and twice else []
        self.word(*empty, flow=Flow("answer"))
        return self.items[start]

    def assembled(self, failure: Item, nbits: int, public: Sequence[Item] = ()) -> Program:
        """The program of these pieces, whose exponents have so many bits or more, and of those of requests
        with a public exponent.
        """
        recipe = self.recipe
        return assemble(
            [*self.items, *public],
            failure=failure,
            public=next(iter(public), None),
            digit_nbits=recipe.digit_nbits,
            scanned_nbits=max(nbits, recipe.ndigits * recipe.digit_nbits),
            table=recipe.entries,
            slots=tuple(self.slots),
            fields=(*self.fields(), *recipe.asked),
            random_nbits=recipe.random_nbits,
            verified=recipe.verify,
            joins=self.joins,
        )
