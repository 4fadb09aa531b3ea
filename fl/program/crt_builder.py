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
    Loop,
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
from .schedule_loops import RIGHT_STEP, RIGHT_TO_LEFT


def asking(recipe: Recipe) -> list[Item]:
    """The microinstruction that tests whether the exponent of a request is public, if the machine accepts
    such requests.
    """
    return [word(takes=True, note="is the exponent public?")] if recipe.public else []


class Pieces:
    """A program under construction: its items, and the memory slots that they use."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.joins = recipe.joins
        self.items: list[Item] = []
        self.slots: list[str] = []

    def word(self, *parts: Product | Action, **more: Any) -> None:
        """Append a microinstruction with these products and actions."""
        self.items.append(word(*parts, **more))

    def keep(self, slot: str, src: str) -> Keep:
        """A store to a slot, which is allocated on first use."""
        if slot not in self.slots:
            self.slots.append(slot)
        return Keep(slot, src)

    def take(self) -> None:
        """Store the fields of the request in slots, one per microinstruction. Numbers on which the check
        relies are stored twice.
        """
        recipe = self.recipe
        self.items += asking(recipe)
        numbers = [("m", "in.base"), ("n", "in.mod")]
        if recipe.verify:
            numbers += [("m2", "in.base")] if self.joins else [("m2", "in.base"), ("n2", "in.mod")]
        exponent = ("e" if recipe.crt else "d", "in.exp")
        if self.raises_to_e:
            numbers.append(exponent)
        stored = [
            (name + mark, source + part)
            for name, source in numbers
            for mark, part in ((("", ".low"), ("h", ".high")) if self.joins else (("", ""),))
        ]
        if not self.raises_to_e:
            stored.append(exponent)  # no load uses the bits of e that its word drops
        stored += [(name, f"in.{name}") for name, _ in self.fields()]
        *others, last = stored
        for slot, source in others:
            self.word(self.keep(slot, source), takes=True)
        empty = [Move(register, "0") for register in ("rs" if self.joins else "r")]
        self.word(self.keep(*last), *empty, takes=True, accepts=True)

    @property
    def raises_to_e(self) -> bool:
        """Whether it computes powers by the public exponent."""
        return self.recipe.blind_message or self.recipe.verify

    def public_power(self, *also: Action, even: bool = False, base: str = "") -> None:
        """Multiply r by b^e; even: by b^(e-1). If e is in two words, b is also in the slot `base`."""
        self.word(Fetch("s", "e"), *also)
        self.word(SetExponent("s", even=even))
        self.items += RIGHT_TO_LEFT.items(1, False, False)
        if self.joins:
            self.word(Fetch("s", "eh"), note="the upper word of e")
            self.word(SetExponent("s"), Fetch("b", base))
            # the word is 0 in most keys, and the loop is not entered then
            raised = Repeat(word(Product("b", "b", "b")), 1, self.recipe.half_nbits)
            self.items.append(Loop((RIGHT_STEP,), first=(raised, RIGHT_STEP), right=True))

    def loop(self, exponent: str, order: str, random: str) -> None:
        """Run the schedule over the exponent in a slot, after blinding it, if the recipe says so, by a random
        multiple of another slot.
        """
        recipe, shape = self.recipe, self.recipe.shape
        last = SetExponent(
            "s", 0 if shape.right else recipe.ndigits, top=not shape.right, even=recipe.blind_message
        )
        if recipe.blind_exponent:
            # countermeasure EXPONENT_BLINDING: a random multiple of the group order is added
            self.word(Fetch("s", random), note="the exponent is blinded")
            self.word(SetExponent("0"), Random("s"), Fetch("s", order))
            self.items.append(Repeat(word(Stretch("s")), 1, recipe.random_nbits))
            last = replace(last, add=True)
        self.word(Fetch("s", exponent))
        # the plain exponent must not remain next to its blinded form: the value that overwrites it would
        # reveal it (`modexlab attack leakage`)
        self.word(last, *((Move("s", "0"),) if recipe.blind_exponent else ()))
        self.items += shape.items(recipe.digit_nbits, False, False)

    def fields(self) -> tuple[tuple[str, int], ...]:
        """The fields of the request after base, exp and mod."""
        recipe = self.recipe
        half = recipe.half_nbits
        key = []
        if recipe.crt:
            key += [(name, half) for name in ("p", "q", "dp", "dq", "qinv")]
        else:
            if self.raises_to_e:
                key.append(("e", recipe.nbits))
            if recipe.blind_exponent:
                key.append(("phi", recipe.nbits))
        if recipe.blind_message:
            key.append(("x", half if recipe.joins else recipe.nbits))
        if recipe.blind_exponent:
            key += [(name, recipe.random_nbits) for name in (("kp", "kq") if recipe.crt else ("k",))]
        return tuple(key)

    def end(self, twin: str, twins: list[str], flushed: Product, *setups: Setup) -> Item:
        """Append the microinstructions that overwrite all secrets in registers, memory and units and send the
        answer; return the first.

        twin: the slot of the second copy of a checked result. twins: the slots that are not cleared, `twin`
        among them. The result waits in registers while the memory is cleared; a program that ends without a
        result has 0 there. After a checked result, 1 replaces its second copy and that of the modulus, while
        the first copies become 0: a fault that fetches them again, or that keeps the next request from being
        stored, finds two different numbers.
        """
        recipe, joins = self.recipe, self.joins
        twice = recipe.verify
        start = len(self.items)
        words = (("s1", "r"), ("s1h", "s")) if joins else (("s1", "r"),)
        if not twice:
            for kept in words:
                self.word(self.keep(*kept))
        # slots that are not cleared have the last addresses
        ones = twins if twice else []
        self.slots = [slot for slot in self.slots if slot not in ones] + ones
        # a word of the result and its second copy differ until they are fetched
        zero = [Move("r", "0"), Move("b", str(int(twice))), Move("s", str(int(twice and joins)))]
        # countermeasure WIPE: registers, memory and units are overwritten before the answer
        self.word(SetModulus("0"), SetExponent("0"), *zero, note="wiping")
        second = [Keep("n2", "b")] if "n2" in ones else []
        self.word(flushed, *second)
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
        """The program of these pieces, for exponents of nbits bits or more, and of the items for requests
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
            joins=recipe.half_nbits if self.joins else 0,
        )
