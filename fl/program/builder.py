"""Programs of exponentiation: schedules, the ways into a multiplier's domain and out of it, CRT, blinding,
the check, the wiping.

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

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ..errors import BadInput
from ..multipliers.scaled_entry import ScaledEntry
from ..status import Status
from .crt_builder import Pieces
from .ir import (
    SKIPPED,
    Action,
    Add,
    Check,
    Clear,
    Fetch,
    Flow,
    Item,
    Keep,
    Loop,
    Move,
    Operand,
    Product,
    Program,
    Repeat,
    SetExponent,
    SetModulus,
    Setup,
    Skip,
    Word,
    assemble,
)
from .scaled_builder import ScaledKeyed, into, out_of
from .schedule_loops import RIGHT_TO_LEFT, SQUARE, LoopShape
from .schedules import MAX_WINDOW, SCHEDULES, best_fixed_window, best_sliding_window

RANDOM_NBITS = 64  # of the factor by which an exponent is blinded, in machines that are as wide


# ---- what a machine is asked for


@dataclass(frozen=True)
class Recipe:
    """An exponentiation, and how it is protected."""

    nbits: int
    domain: str  # "identity", "residue", "montgomery" or "scaled"
    schedule: str = "right-to-left-2"
    conversion: str = "double"  # of the Montgomery domain: "double" or "square"
    squarings: int = 0
    full_scan: bool = False
    window: int = 0  # bits of a digit of the fixed window; 0: as few products as can be
    block_nbits: int = 0  # of the multiplier's blocks; 0: the width
    fits: bool = False  # products follow the length of the modulus
    crt: bool = False
    blind_message: bool = False
    blind_exponent: bool = False
    verify: bool = False
    doublings_per_cycle: int = 4
    given: bool = False  # the request has base and 1 in the domain, and the result stays there
    once: bool = (
        False  # to the right, exponent 0 takes a step, as in paper 001's RTL, which looks at it after a step
    )
    plain_result: bool = True  # to the right, the result is kept out of Montgomery form, and b alone is in it
    r_nbits: int = 0  # R = 2^r_nbits of a Montgomery domain; 0: nbits
    scaled: ScaledEntry | None = None  # of units on a scaled modulus, which with CRT are half as wide

    @property
    def starts_plain(self) -> bool:
        """r starts as 1, and the result ends outside Montgomery form."""
        return self.shape.plain_result and self.plain_result

    @property
    def keyed(self) -> bool:
        """It takes a key beside base, exponent and modulus."""
        return self.crt or self.blind_message or self.blind_exponent or self.verify

    @property
    def montgomery(self) -> bool:
        return self.domain == "montgomery"

    @property
    def odd_only(self) -> bool:
        """Even moduli are refused."""
        return self.domain in ("montgomery", "scaled")

    @property
    def shape(self) -> LoopShape:
        return SCHEDULES[self.schedule].loop

    @property
    def nunits(self) -> int:
        """Product units side by side."""
        return SCHEDULES[self.schedule].multipliers

    @property
    def joins(self) -> bool:
        """Its units are half as wide as the modulus, and a result is put together."""
        return self.crt and self.scaled is not None

    @property
    def half_nbits(self) -> int:
        """Bits of a prime's field."""
        return -(-self.nbits // 2)

    @property
    def random_nbits(self) -> int:
        """Return the bits of the factor that blinds an exponent."""
        words = self.half_nbits if self.joins else self.nbits
        return min(RANDOM_NBITS, words) if self.blind_exponent else 0

    @property
    def exponent_nbits(self) -> int:
        """Bits of the private exponent that are scanned, with what blinds it."""
        return (self.half_nbits if self.crt else self.nbits) + self.random_nbits

    @property
    def digit_nbits(self) -> int:
        """Bits of a digit from the top."""
        if self.shape.sliding:
            return self.window or best_sliding_window(self.exponent_nbits)
        if not self.shape.digit:
            return 1
        if not self.window and (form := self.scaled) is not None:
            # products, the clearing of the table, and the scan that nothing hides
            return min(range(1, MAX_WINDOW + 1), key=lambda k: self._window_cycles(k, form.square_cycles))
        if self.window or not self.fits or self.keyed:
            return self.window or best_fixed_window(self.exponent_nbits)
        # digits that blocks are made of
        return min(
            (k for k in range(1, self.block + 1) if self.block % k == 0 and k <= MAX_WINDOW),
            key=lambda k: (1 << k) - 2 + -(-self.nbits // k) * (k + 1),
        )

    def _window_cycles(self, k: int, product: int) -> int:
        """Return the cycles that depend on the bits of a digit."""
        return ((1 << k) - 2 + (-(-self.exponent_nbits // k) - 1) * (k + 1)) * product + (2 << k)

    @property
    def word_nbits(self) -> int:
        """Return the width of registers and memory."""
        return self.nbits if self.scaled is None else self.scaled.word_nbits

    @property
    def skips(self) -> bool:
        """Digits above those of modulus and exponent are not scanned."""
        shape = self.shape
        scans_all = shape.digit or self.full_scan
        even = self.block % self.digit_nbits == 0 and self.nbits % self.block == 0
        return (
            self.fits
            and not self.keyed
            and not shape.right
            and scans_all
            and even
            and self.nbits > self.block
        )

    @property
    def ndigits(self) -> int:
        """Return the digits of the exponent, counted from the top; with sliding windows, its bits."""
        return self.exponent_nbits if self.shape.sliding else -(-self.exponent_nbits // self.digit_nbits)

    @property
    def entries(self) -> int:
        """Return the entries of the table."""
        if self.shape.sliding:
            return 1 << self.digit_nbits - 1
        return 1 << self.digit_nbits if self.shape.digit else 0

    @property
    def block(self) -> int:
        return self.block_nbits or self.nbits

    def program(self) -> Program:
        """Its program."""
        if self.keyed and self.scaled is not None:
            require_hidden(self)
            return ScaledKeyed(self, self.scaled).program()
        return keyed(self) if self.keyed else plain(self)

    @cached_property
    def depth(self) -> int:
        """Words of the memory."""
        return self.program().depth


def _doublings(recipe: Recipe) -> Setup:
    """2^(nbits + R) modulo the modulus, which by a wide product takes numbers into the domain."""
    if recipe.fits:
        return Setup("double", "r", "1", recipe.nbits, recipe.block)
    return Setup("double", "r", "1", recipe.nbits + (recipe.nbits >> recipe.squarings))


def _entering_constant(recipe: Recipe) -> list[Item]:
    """r becomes that number."""
    words: list[Item] = [Word(actions=(_doublings(recipe),), note="R^2")]
    if recipe.squarings and not recipe.fits:
        words.append(Repeat(Word((SQUARE,)), 1, recipe.squarings))
    return words


# ---- machines without a key


def plain(recipe: Recipe) -> Program:
    """{base, exp, mod}: into the domain, the loop, and out of it."""
    shape, nbits = recipe.shape, recipe.nbits
    count = 0 if shape.right else recipe.ndigits
    take = Word(
        actions=(
            Move("r", "in.one" if recipe.given else "1" if recipe.scaled is None else "0"),
            Move("b", "in.base"),
            SetModulus("in.mod"),
            SetExponent("in.exp", count, top=shape.digit),
        ),
        takes=True,
        accepts=True,
    )
    items: list[Item] = [take]
    if recipe.skips:
        items.append(Repeat(Word(actions=(Skip(),)), 0, SKIPPED))
    items += _into(recipe)
    if (
        len(items) == 2
        and recipe.skips
        and isinstance(shape.items(recipe.digit_nbits, False, False)[0], Loop)
    ):
        items.append(Word())  # the loop is entered from here
    aligns = not (shape.right or shape.digit or recipe.full_scan)
    enters = recipe.given or recipe.montgomery or recipe.scaled is not None
    loop = shape.items(recipe.digit_nbits, aligns, not enters)
    items += [replace(item, once=recipe.once) if isinstance(item, Loop) else item for item in loop]
    if recipe.montgomery and not recipe.starts_plain:
        items.append(Word((Product("r", "r", "1"),), note="out of the domain"))
    if recipe.scaled is not None:
        items += out_of(recipe)
    last: tuple[Action, ...] = ()
    if entries := recipe.entries:
        items += [
            Word(actions=(Move("s", "0"), Move("b", "0"), SetExponent("0")), note="wiping"),
            Word((Product("", "b", "s"),)),
            Repeat(Word(actions=(Clear(),)), 0, entries - 1),
        ]
        items += [Word(actions=(Setup("clear", "b", "b", 0),))] if recipe.scaled is not None else []
        last = (Move("r", "0"),)
    answer = Word(actions=last, flow=Flow("answer"))
    items.append(answer)
    return assemble(
        items,
        failure=answer,
        digit_nbits=recipe.digit_nbits,
        scanned_nbits=max(nbits, recipe.ndigits * recipe.digit_nbits if shape.digit else 0),
        block_nbits=recipe.block if recipe.skips else 0,
        given=recipe.given,
        sliding=shape.sliding,
        table=recipe.entries,
        slots=("one",) if shape.sliding else (),
    )


def _into(recipe: Recipe) -> list[Item]:
    """b and r, the base and 1, into the domain."""
    shape = recipe.shape
    if recipe.scaled is not None:
        return into(recipe, recipe.scaled)
    if not recipe.montgomery:
        # a table's entry may be the result: it must be below the modulus
        reduces = recipe.domain == "identity" and (recipe.entries > 0 or recipe.fits) and not recipe.given
        return (
            [Word((Product("b", "r", "b", wide=recipe.fits),), note="the base below the modulus")]
            if reduces
            else []
        )
    if recipe.conversion == "double":
        per_block = recipe.block if recipe.fits else 0
        fixed = 0 if recipe.fits else recipe.r_nbits or recipe.nbits
        base = Word(actions=(Setup("double", "b", "b", fixed, per_block),), note="the base into the domain")
        one = Word(actions=(Setup("double", "r", "1", fixed, per_block),), note="and 1")
        return [base] if recipe.starts_plain else [base, one]
    if recipe.conversion == "shift-sub":
        # paper 004's machines: products with R^2 that one unit makes follow one another
        square = Word(actions=(Setup("square", "r", "1", 0),), note="R^2 by shift-sub")
        enters = Product("b", "r", "b"), Product("r", "r", "1")
        dependent = recipe.nunits == 1 and not shape.right
        return [square, *((Word((product,)) for product in enters) if dependent else (Word(enters),))]
    enter = Product("b", "r", "b", wide=recipe.fits)
    if recipe.starts_plain:
        last = Word((enter,), (Move("r", "1"),), note="the base into the domain")
    else:
        last = Word((enter, Product("r", "r", "1", wide=recipe.fits)), note="the base into the domain, and 1")
    return [*_entering_constant(recipe), last]


# ---- machines with a key


class _Keyed(Pieces):
    """The pieces of a keyed program, in the order in which they are called for."""

    # ---- products, by which factor may be any word and which must be below the modulus

    def product(self, dst: Operand, any_word: str, reduced: str, *, wide: bool = False) -> Product:
        """Montgomery's first factor may be any word, that of the other domains is below the modulus."""
        x, y = (any_word, reduced) if self.recipe.montgomery else (reduced, any_word)
        return Product(dst, x, y, wide=wide and self.recipe.fits)

    def enter(self, *also: Action) -> Word:
        """b becomes s in the domain, whatever word s is; in a Montgomery domain b was the entering
        constant.
        """
        if self.recipe.montgomery:
            return Word((self.product("b", "s", "b", wide=True),), also)
        return Word((self.product("b", "s", "1", wide=True),), also)

    def constant(self, slot: str) -> None:
        """b becomes the entering constant of the modulus, kept before."""
        if self.recipe.montgomery:
            self.act(Fetch("b", slot))

    def make_constant(self, slot: str, *also: Action) -> None:
        """The entering constant of the modulus goes to its slot and to b."""
        if not self.recipe.montgomery:
            if also:
                self.act(*also)
            return
        self.items += _entering_constant(self.recipe)
        self.act(self.keep(slot, "r"), Move("b", "r"), *also)

    # ---- parts

    def take(self) -> None:
        """The request into slots, a field a word; what the check relies on is kept twice."""
        recipe = self.recipe
        stored = [("m", "in.base"), ("n", "in.mod")]
        if recipe.verify:
            stored += [("m2", "in.base"), ("n2", "in.mod")]
        stored.append(("e" if recipe.crt else "d", "in.exp"))
        stored += [(name, f"in.{name}") for name, _ in self.fields()]
        for slot, source in stored:
            last = slot == stored[-1][0]
            empty = (Move("r", "0"),) if last else ()
            self.items.append(Word(actions=(self.keep(slot, source), *empty), takes=True, accepts=last))

    def public_power(self, *, even: bool = False) -> None:
        """r becomes b^e, outside the domain; b is in it. even: b^(e-1)."""
        self.act(Fetch("s", "e"), Move("r", "1"))
        self.act(SetExponent("s", even=even))
        self.items += RIGHT_TO_LEFT.items(1, False, False)

    def blind(self) -> None:
        """m becomes m x^e, and u m x^(e-1), for the random x."""
        self.act(SetModulus("n"), note="the message is blinded by x^e")
        self.make_constant("cn", Fetch("s", "x"))
        self.items.append(self.enter())
        self.act(self.keep("xr", "b"))
        self.public_power(even=True)
        if self.recipe.montgomery:
            # r = x^(e-1), which enters by way of s
            self.act(Move("s", "r"), Fetch("b", "cn"))
        else:
            self.act(Move("s", "r"))
        self.items.append(self.enter(Fetch("s", "m")))
        self.word(self.product("r", "s", "b"))
        self.act(self.keep("u", "r"), Fetch("b", "xr"))
        self.word(self.product("r", "r", "b"))
        self.act(self.keep("m", "r"))

    def power(self, modulus: str, exponent: str, order: str, random: str, constant: str, what: str) -> None:
        """r becomes m^exponent modulo a slot, in the domain; `order` is a multiple of the group's, or next to
        it.
        """
        recipe = self.recipe
        shape = recipe.shape
        made = constant == "cn" and recipe.blind_message
        self.act(SetModulus(modulus), note=what)
        if made:
            self.constant(constant)
            self.act(Fetch("s", "m"))
        else:
            self.make_constant(constant, Fetch("s", "m"))
        plain_result = shape.plain_result
        if recipe.montgomery and not plain_result:
            self.word(Product("r", "1", "b", wide=recipe.fits))
            self.items.append(self.enter())
        else:
            entering = self.enter(Move("r", "1"))
            self.items.append(entering)
        self.loop(exponent, order, random)

    def leave(self) -> None:
        """r out of the domain."""
        if self.recipe.montgomery:
            self.word(Product("r", "r", "1"))

    def crt(self) -> None:
        """r becomes m^d modulo p and modulo q, put together by Garner's formula."""
        self.power("q", "dq", "q", "kq", "c", "modulo q")
        self.leave()
        self.act(self.keep("sq", "r"))
        self.power("p", "dp", "p", "kp", "c", "modulo p")
        # h = (sp - sq) / q modulo p, on spR and sqR
        self.constant("c")
        self.act(Fetch("s", "sq"), note="Garner: h = (sp - sq) qinv mod p")
        self.items.append(self.enter())
        self.act(Add("b", "r", "b", subtract=True), Fetch("s", "qinv"))
        self.word(self.product("r", "s", "b"))
        self.act(self.keep("h", "r"))
        self.constant("c")
        self.act(Fetch("s", "q"), note="is qinv that of q?")
        self.items.append(self.enter(Fetch("s", "qinv")))
        self.word(self.product("r", "s", "b"))
        self.act(Check("r", "1", Status.BAD_KEY), Move("r", "0"))
        # s = sq + h q modulo n, in which nothing is reduced
        self.act(SetModulus("n"), note="sq + h q")
        if self.recipe.blind_message:
            self.constant("cn")
            self.act(Fetch("s", "q"))
        else:
            self.make_constant("cn", Fetch("s", "q"))
        self.items.append(self.enter(Fetch("s", "p")))
        self.word(self.product("r", "s", "b"), note="is p q = n?")
        self.act(Check("r", "0", Status.BAD_KEY), Move("r", "0"), Fetch("s", "h"))
        self.act(products=(self.product("r", "s", "b"),))
        self.act(Fetch("b", "sq"))
        self.act(Add("r", "r", "b"))

    def unblind(self) -> None:
        """r becomes r * u."""
        self.constant("cn")
        self.act(Move("s", "r"))
        self.items.append(self.enter(Fetch("s", "u")))
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
        self.act(self.keep("s1", "r"), SetModulus("n"), note=note)
        if domain:
            self.act(self.keep("m", "r"))
        self.act(Fetch("r", "n"))
        self.act(Fetch("b", "n2"))
        self.act(Check("r", "b", Status.FAULT))
        self.constant("cn")
        self.act(Fetch("s", "s1"))
        self.items.append(self.enter())
        if not domain:
            self.act(self.keep("m", "b"))
        self.public_power()
        self.act(Fetch("b", "m2"))
        self.act(Check("r", "b", Status.FAULT, final=True), Move("r", "0"), Move("b", "1"))

    def end(self) -> Item:
        """Return the microinstructions that overwrite all secrets in registers, memory and units and send the
        answer.

        The result waits in registers while the memory is cleared; who comes here without one has 0 in r. Of a
        checked one a 1 is left in place of the second result and of the second modulus, and not the 0 that is
        left of the first: a fault that fetches them again, or that keeps the next request from being stored,
        finds two that differ.
        """
        recipe = self.recipe
        twice = recipe.verify
        start = len(self.items)
        if not twice:
            self.act(self.keep("s1", "r"))
        # what is not cleared has the last addresses
        ones = ["n2", "m"] if twice else []
        self.slots = [slot for slot in self.slots if slot not in ones] + ones
        depth = recipe.entries + len(self.slots)
        zero = [Move("r", "0"), Move("b", "1" if twice else "0"), Move("s", "0")]
        self.act(SetModulus("0"), SetExponent("0"), *zero, note="wiping")
        flushed = tuple(Product("", "b", "s", wide=recipe.fits) for _ in range(recipe.nunits))
        self.items.append(Word(flushed, (Keep("n2", "b"),) if twice else ()))
        if recipe.montgomery:
            self.act(Setup("double", "r", "r", recipe.doublings_per_cycle))
        self.act(Fetch("r", "s1"))
        if twice:
            self.act(Fetch("b", "m"), Keep("m", "b"))
        self.items.append(Repeat(Word(actions=(Clear(),)), 0, depth - len(ones) - 1))
        cleared = (Move("r", "0"), *((Move("b", "0"),) if twice else ()))
        self.items.append(Word(actions=cleared, flow=Flow("answer")))
        return self.items[start]


def require_hidden(recipe: Recipe) -> None:
    """BadInput for a schedule that shows a private exponent, or that needs one whose length it knows."""
    if recipe.schedule in ("left-to-right", "sliding-window") or (
        recipe.shape.right and (recipe.blind_exponent or recipe.crt)
    ):
        raise BadInput(
            f"schedule {recipe.schedule!r} in a program with a private key shows the exponent; "
            "give fixed-window, always or ladder"
        )


def keyed(recipe: Recipe) -> Program:
    """A machine that takes a key."""
    require_hidden(recipe)
    made = _Keyed(recipe)
    made.take()
    if recipe.blind_message:
        made.blind()
    if recipe.crt:
        made.crt()
    else:
        made.power("n", "d", "phi", "k", "cn", "modulo n")
        if recipe.montgomery and not recipe.shape.plain_result:
            made.leave()
    if recipe.blind_message:
        made.unblind()
    if recipe.verify:
        made.verify()
    failure = made.end()
    widest = max(recipe.nbits, recipe.ndigits * recipe.digit_nbits)
    return assemble(
        made.items,
        failure=failure,
        digit_nbits=recipe.digit_nbits,
        scanned_nbits=widest,
        table=recipe.entries,
        slots=tuple(made.slots),
        fields=made.fields(),
        random_nbits=recipe.random_nbits,
        verified=recipe.verify,
    )
