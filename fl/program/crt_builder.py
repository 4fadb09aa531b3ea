"""Pieces of a program with a private key, in the order in which they are called for: what those of all
domains share.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .ir import Action, Fetch, Item, Keep, Move, Product, Random, Repeat, SetExponent, Stretch, Word

if TYPE_CHECKING:
    from .builder import Recipe


class Pieces:
    """Items, and the slots that they need."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.items: list[Item] = []
        self.slots: list[str] = []

    def word(self, *products: Product, note: str = "") -> None:
        """Products alone."""
        self.items.append(Word(products, (), note))

    def act(
        self, *actions: Action, products: tuple[Product, ...] = (), note: str = "", start: int = 0
    ) -> None:
        """Actions, and products beside them."""
        self.items.append(Word(products, actions, note, start=start))

    def keep(self, slot: str, src: str) -> Keep:
        """A store, which gives the slot its place."""
        if slot not in self.slots:
            self.slots.append(slot)
        return Keep(slot, src)

    def loop(self, exponent: str, order: str, random: str) -> None:
        """The schedule over a slot's exponent, which is blinded by a random multiple of another's first, if
        that is asked for.
        """
        recipe, shape = self.recipe, self.recipe.shape
        last = SetExponent(
            "s", 0 if shape.right else recipe.ndigits, top=not shape.right, even=recipe.blind_message
        )
        if recipe.blind_exponent:
            self.act(Fetch("s", random), note="the exponent is blinded")
            self.act(SetExponent("0"), Random("s"), Fetch("s", order))
            self.items.append(Repeat(Word(actions=(Stretch("s"),)), 1, recipe.random_nbits))
            last = replace(last, add=True)
        self.act(Fetch("s", exponent))
        # the exponent in its clear must not stay beside its blinded form: what overwrites it would show it
        # (`modexlab attack leakage`)
        self.act(last, *((Move("s", "0"),) if recipe.blind_exponent else ()))
        self.items += shape.items(recipe.digit_nbits, False, False)

    def fields(self) -> tuple[tuple[str, int], ...]:
        """Return the fields of the request after base, exp and mod."""
        recipe = self.recipe
        half = recipe.half_nbits
        key: list[tuple[str, int]] = []
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
