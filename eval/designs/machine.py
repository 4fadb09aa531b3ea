"""Design: an entry of the catalogue; Machine: a design at one width, with its parameters.

A design is a multiplier, a domain, and a control with its schedule; each has open parameters.
`design.at(nbits, **settings)` plans a machine once; models and hardware at every level and behind every
interface come from that object. A design can give names to settings (`named`): a machine has the name of its
settings, however they were chosen.
"""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pymtl3 import Component

from ...cl.timing import UnitTiming, product_count
from ...fl.accelerator import Fields, Shape
from ...fl.axi4lite import Traits
from ...fl.domains import DOMAINS, Domain, make_domain
from ...fl.errors import BadInput, shown
from ...fl.mod_exp import exponentiation, mod_exp, operand_status
from ...fl.param import PAPER_NBITS, Param, values_of
from ...fl.program.ir import Check
from ...fl.program.plan import Plan
from ...fl.program.schedules import SCHEDULES
from ...fl.rsa_keys import RSAKey
from ...fl.status import MEANING, Status
from ..own_code import Trace
from .build import SCHEDULE, Build, Given, Spec, fields_of
from .control import FIT, PROTECTIONS, Control
from .interfaces import Carried, Interface, Operands
from .multipliers.multiplier import DOMAIN, Multiplier
from .programmed import Draw, Programmed
from .promises import Promises, timing_of
from .runnable import Runnable
from .widths import check_width, full_length, width_for

Settings = tuple[tuple[str, Any], ...]  # parameters with their values
PROGRAMMED = "mont-keyed or heap"  # designs with a program, for error messages
# names of settings, each with a summary, and by parameter the values that the name covers, its default first
Named = Mapping[str, tuple[str, Mapping[str, tuple[Any, ...]]]]


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """An accelerator: multiplier x domain x control, with their parameters."""

    name: str
    multiplier: Multiplier
    domain: str
    control: Control
    summary: str
    paper: str = ""  # number of the paper that published the machine
    origin: str = ""  # folder of a user's design
    trace: Trace | None = None  # of the files that its code has read
    named: Named = field(default_factory=dict)
    entry: Design | None = None  # the design whose settings this one names

    def __repr__(self) -> str:
        return f"<design {self.name}>"

    @functools.cached_property
    def forms(self) -> dict[str, Design]:
        """The design and its named settings by name. Named settings are a design with fewer values."""
        return {self.name: self} | {name: self._form(name, *form) for name, form in self.named.items()}

    def _form(self, name: str, summary: str, covered: Mapping[str, tuple[Any, ...]]) -> Design:
        def narrowed(params: tuple[Param, ...]) -> tuple[Param, ...]:
            return tuple(
                replace(param, standard=covered[param.name][0], legal=covered[param.name])
                if param.name in covered
                else param
                for param in params
            )

        control, multiplier = self.control, self.multiplier
        return replace(
            self,
            name=name,
            summary=summary,
            domain=covered[DOMAIN][0] if DOMAIN in covered else self.domain,
            control=replace(
                control,
                schedule=narrowed((control.schedule,))[0],
                first=narrowed(control.first),
                last=narrowed(control.last),
            ),
            multiplier=replace(multiplier, params=narrowed(multiplier.params)),
            named={},
            entry=self,
        )

    def form_of(self, settings: Mapping[str, Any]) -> tuple[Design, dict[str, Any]]:
        """The design that has the name of these settings, and the settings of the same machine there. Values
        are not checked.
        """
        entry = self.entry or self
        values = {**{param.name: param.standard for param in self.params}, **settings}
        names = (
            name
            for name, (_, covered) in entry.named.items()
            if all(values[param] in legal for param, legal in covered.items())
        )
        if (form := entry.forms[next(names, entry.name)]).name == self.name:
            return self, dict(settings)
        told_apart = {param for _, covered in entry.named.values() for param in covered}
        return form, {**{param: values[param] for param in told_apart}, **settings}

    @property
    def family(self) -> str:
        """The family of its multiplier."""
        return self.multiplier.family

    @property
    def params(self) -> tuple[Param, ...]:
        """Its parameters, the schedule first."""
        control = self.control
        return (control.schedule, *control.first, *self.multiplier.params, *control.last)

    def at(self, nbits: int, **settings: Any) -> Machine:
        """The machine of this width, planned once; BadInput if a parameter is unknown or out of range, or if
        the combination is impossible.
        """
        check_width(nbits)
        if not self.programmed:
            self.refuse_programs(settings)
        values = values_of(self.params, nbits, settings, self.name)
        return _planned(self.form_of(values)[0], nbits, *values.values())

    def planned(self, nbits: int, values: Settings) -> Machine:
        """A new machine from values for all parameters."""
        chosen = dict(values)
        build = self.control.build(Spec(nbits, self.domain, self.multiplier.unit(nbits, chosen), chosen))
        plan, own = build.plan, (self.odd_only, self.reduced_only)
        if not plan.screened and (checked := (plan.odd_only, plan.reduced_only)) != own:
            raise ValueError(
                f"{self.name}: domain {self.domain} has odd_only, reduced_only = {own}, "
                f"but the hardware checks {checked}: see Plan.reduced_only"
            )
        public = build.programmed is not None and build.programmed.recipe.public
        return (PublicMachine if public else Machine)(self, nbits, values, build)

    @property
    def usual_nbits(self) -> int:
        """The default width."""
        return PAPER_NBITS

    def width_for(self, *numbers: int) -> int:
        """The width of the machine to use for these numbers."""
        return width_for(*numbers)

    @property
    def reference(self) -> str:
        """The name that catalogue.find resolves, also in another process."""
        return f"{self.name}@{self.origin}" if self.origin else self.name

    @property
    def identity(self) -> str:
        """Identity in cache keys: the digest of the files that a user's code has read, else the name, as
        sources of this package have their own digests.
        """
        return self.trace.digest if self.trace else self.name

    def identity_at(self, nbits: int, settings: Mapping[str, Any]) -> str:
        """The identity of one of its machines, which has its width and settings besides."""
        return self.identity

    @property
    def schedule(self) -> str:
        """The default schedule."""
        return self.control.schedule.default

    @property
    def promises(self) -> Promises:
        """The promises of its default machine."""
        return self.at(self.usual_nbits).promises

    def alternatives(self) -> Iterator[tuple[Param, Any, Promises]]:
        """The promises of the default machine with one parameter changed, for each listed value of each
        parameter.
        """
        for param in self.params:
            for value in param.legal if isinstance(param.legal, tuple) else ():
                with contextlib.suppress(BadInput):  # some values also need another schedule
                    yield param, value, self.at(self.usual_nbits, **{param.name: value}).promises

    @property
    def odd_only(self) -> bool:
        """Even moduli are rejected."""
        return DOMAINS[self.domain].odd_only

    @property
    def reduced_only(self) -> bool:
        """Bases at or above the modulus are rejected."""
        return DOMAINS[self.domain].reduced_only

    @property
    def programmed(self) -> bool:
        """Its machines execute programs, which settings select (protection.py)."""
        return "crt" in {param.name for param in self.params}

    def refuse_programs(self, settings: Mapping[str, Any]) -> None:
        """BadInput for a setting that only designs with a program have."""
        of_programs = {param.name for param in (FIT, *PROTECTIONS)}
        windowed = {schedule.name for schedule in SCHEDULES.values() if schedule.windows}
        for name in sorted(settings):
            if name not in of_programs and (name != SCHEDULE or settings[name] not in windowed):
                continue
            raise BadInput(
                f"{name} = {settings[name]}: {self.name} computes bit by bit and takes no key; "
                f"give {PROGRAMMED}, which have a program"
            )

    def needs_program(self, wanted: str) -> None:
        """BadInput unless its machines execute programs; wanted: the feature that needs one."""
        if not self.programmed:
            raise BadInput(
                f"{self.name} has a controller of its own and no program, which {wanted} needs; "
                f"give {PROGRAMMED}"
            )

    @property
    def plain_unit(self) -> bool:
        """The multiplier alone accepts any modulus at its port, and its factors and products have the
        machine's width.
        """
        return DOMAINS[self.domain].plain_unit


@functools.lru_cache(1024, typed=True)
def _planned(design: Design, nbits: int, *values: Any) -> Machine:
    """The machine with these parameter values, cached."""
    return design.planned(
        nbits, tuple((param.name, value) for param, value in zip(design.params, values, strict=True))
    )


def usual_exponent(nbits: int) -> int:
    """The public exponent of the keys and workloads of a width."""
    return 65537 if nbits > 17 else 17


def require_positive(base: int, exp: int, mod: int) -> list[tuple[str, int]]:
    """The operands by name; BadInput if one is negative."""
    named = [("base", base), ("exponent", exp), ("modulus", mod)]
    for name, value in named:
        if value < 0:
            raise BadInput(f"{name} {shown(value)} is negative; give 0 or more")
    return named


@dataclass(frozen=True, eq=False, repr=False)
class Machine(Runnable):
    """A design at one width with all parameter values, not yet elaborated."""

    design: Design
    nbits: int
    values: Settings  # of all parameters, in the order of the design
    build: Build
    held: RSAKey | None = None  # key of a machine that needs one
    draw: Draw | None = None  # source of its random numbers

    def __repr__(self) -> str:
        values = " ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"<{self.name}, {self.nbits} bits: {values}>"

    @property
    def name(self) -> str:
        return self.design.name

    @property
    def shape(self) -> Shape:
        """The fields of a request and its response."""
        return exponentiation(self.nbits, self.given_fields)

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters with their values."""
        return dict(self.values)

    @property
    def plan(self) -> Plan:
        """How the products are driven."""
        return self.build.plan

    @property
    def modulus(self) -> int:
        """The only modulus that the machine accepts; 0: any."""
        return self.key.n if self.keyed else self.build.modulus

    @property
    def modulus_nbits(self) -> int:
        """The length of the longest modulus that it accepts."""
        return self.build.modulus_nbits or self.nbits

    # ---- numbers that follow base, exponent and modulus

    @property
    def given(self) -> tuple[Given, ...]:
        """Numbers that software computes from the modulus."""
        return self.build.given

    @property
    def given_fields(self) -> Fields:
        """Names and widths of the numbers that follow the operands in a request."""
        if self.build.programmed is not None:
            return self.build.programmed.program.fields
        return fields_of(self.given)

    def given_of(self, mod: int) -> tuple[int, ...]:
        """These numbers for one modulus."""
        return tuple(given.of(mod) for given in self.given)

    def carried(self, base: int, exp: int, mod: int) -> Carried:
        """All fields of a request."""
        if not self.keyed:
            return (base, exp, mod, *self.given_of(mod))
        key = self.key
        if (exp, mod) != (key.d, key.n):
            raise BadInput(
                f"exponent {shown(exp)} and modulus {shown(mod)}: this machine takes a private key, with "
                f"CRT, blinding or a check, and holds that with n = {shown(key.n)}; "
                "give --key FILE.pem and --decrypt C"
            )
        draw = self.draw or random.Random(f"{key.n} {base}").randrange
        return self.programmed.operands(key, base, draw)

    # ---- machines with a private key

    @property
    def keyed(self) -> bool:
        """Whether requests have the numbers of a private key, for CRT, blinding or the check of the
        result.
        """
        programmed = self.build.programmed
        return programmed is not None and programmed.recipe.keyed

    @property
    def takes_public(self) -> bool:
        """Whether requests can mark their exponent as public."""
        return isinstance(self, PublicMachine)

    @property
    def programmed(self) -> Programmed:
        """Its program; BadInput if it has a dedicated controller instead."""
        if self.build.programmed is None:
            raise BadInput(f"{self.name} has a controller of its own and no program; give {PROGRAMMED}")
        return self.build.programmed

    def with_key(self, key: RSAKey, draw: Draw | None = None) -> Machine:
        """The same machine with this key.

        draw(n) returns a random number below n; by default the numbers depend only on the modulus and the
        message.
        """
        return replace(self, held=key, draw=draw)

    @functools.cached_property
    def key(self) -> RSAKey:
        """The key that it holds; by default a fixed one of its width."""
        if self.held is not None:
            return self.held
        # not at the top: digests of formulas follow names to code of this package alone (lab/content.py)
        from ...proc.software.seeded_keys import seeded_key

        return seeded_key(self.nbits)

    def drawn(self, generator: random.Random) -> Carried:
        """A random request: a private operation with the machine's key, or an exponentiation by a full-length
        exponent.
        """
        if self.keyed:
            key = self.key
            return self.programmed.operands(key, generator.randrange(2, key.n - 1), generator.randrange)
        _, exp, mod = self.some_operands()
        return self.carried(generator.randrange(2, mod - 1), exp, mod)

    def some_operands(self, mod: int | None = None) -> Operands:
        """Pseudo-random base, exponent and modulus of full length, or with this modulus."""
        own = self.modulus or None
        return full_length(self.nbits, self.modulus_nbits, own if mod is None else mod)

    # ---- promises and preconditions

    @functools.cached_property
    def promises(self) -> Promises:
        """The guarantees of this machine."""
        build, design = self.build, self.design
        time = build.time or timing_of(self.plan, self.timing)
        regular = build.regular or SCHEDULES[self.plan.schedule].regular
        if not self.keyed:
            limits = design.odd_only, design.reduced_only, self.modulus
            return Promises(time, regular, *limits, public=self.takes_public)
        recipe = self.programmed.recipe
        return Promises(
            time,
            regular,
            design.odd_only or recipe.crt,  # primes are odd
            design.reduced_only or recipe.verify,  # a larger base would fail the check
            key="crt" if recipe.crt else "d",
            message_blinded=recipe.blind_message,
            exponent_blinded=recipe.blind_exponent,
            checked=recipe.verify,
            public=self.takes_public,
        )

    @property
    def constant_time(self) -> bool:
        """Cycles reveal at most the length of the exponent."""
        return self.promises.constant_time

    @functools.cached_property
    def statuses(self) -> Mapping[int, str]:  # type: ignore[override]
        """The possible error statuses in words: for modulus 0, an even modulus, and a base that is too large;
        with a key, also those of its program.
        """
        if self.keyed:
            made = self.programmed
            good = dict.fromkeys(made.names, 1) | {"base": 0, "public": 0}
            samples: tuple[Any, ...] = ({"mod": 0}, {"mod": 2}, {"base": 1}, {"p": 2} if "p" in good else {})
            samples += ({"public": 1},) * self.takes_public
            found = {made.inspect({**good, **sample}) for sample in samples}
            found |= {check.status for check in made.program.find(Check) if isinstance(check, Check)}
        else:
            _, _, mod = self.some_operands()
            longest = mod if self.modulus else (1 << self.nbits) - 1
            samples = ((0, 1, 0), (0, 1, 2), (mod, 1, mod), (0, 1, longest))
            found = {self.check(*operands) for operands in samples}
        return {status: MEANING[status] for status in found - {Status.OK}}

    def check(self, base: int, exp: int, mod: int) -> Status:
        """The status of a request with these operands."""
        if max(base, exp, mod).bit_length() > self.nbits or mod.bit_length() > self.modulus_nbits:
            return Status.TOO_WIDE
        if self.modulus and mod != self.modulus:
            return Status.WRONG_MODULUS
        design = self.design
        return operand_status(base, mod, odd_only=design.odd_only, reduced_only=design.reduced_only)

    def refusal(self, base: int, exp: int, mod: int) -> str:
        """The reason that the machine rejects these operands; empty if it accepts them."""
        status = self.check(base, exp, mod)
        return "" if status == Status.OK else MEANING[status]

    def require(self, base: int, exp: int, mod: int) -> None:
        """BadInput, with a remedy, if the machine would reject these operands."""
        for name, value in require_positive(base, exp, mod):
            if value.bit_length() > self.nbits:
                raise BadInput(
                    f"{name} {shown(value)} does not fit in {self.nbits} bits; "
                    f"give --nbits {value.bit_length()} or more"
                )
        name, length = self.name, mod.bit_length()
        if length > self.modulus_nbits:
            raise BadInput(
                f"modulus {shown(mod)} has {length} bits: this {name} of {self.nbits} bits takes moduli of "
                f"up to {self.modulus_nbits}; give --nbits {length + self.nbits - self.modulus_nbits} or more"
            )
        remedies = {
            Status.ZERO_MODULUS: "modulus 0: there are no numbers below it; give a modulus of 1 or more",
            Status.WRONG_MODULUS: f"modulus {shown(mod)}: this {name} of {self.nbits} bits is made for the "
            f"modulus {self.modulus} alone; give that one, or make another with --set modulus=...",
            Status.EVEN_MODULUS: f"modulus {shown(mod)} is even, and {name} computes in Montgomery form, "
            "which needs an odd one; take a design of the identity domain, such as naive",
            Status.BASE_TOO_LARGE: f"base {shown(base)} is not below the modulus {shown(mod)}; reduce it "
            f"first ({shown(base % (mod or 1))}), or take a design of the identity domain, such as naive",
        }
        if (status := self.check(base, exp, mod)) in remedies:
            raise BadInput(remedies[status])

    # ---- the three levels

    def space(self, mod: int) -> Domain:
        """The domain in which the machine computes modulo `mod`."""
        return make_domain(self.design.domain, mod, self.nbits, **self.build.domain_options)

    def fl(self, base: int, exp: int, mod: int, *given: int) -> tuple[Status, int]:
        """Functional level: status and result, from the products of the design's own domain and schedule.
        Numbers from the modulus are recomputed.
        """
        if self.keyed or (given and self.build.programmed is not None):
            return self.programmed.fl((base, exp, mod, *given))
        status = self.check(base, exp, mod)
        if status != Status.OK:
            return status, 0
        if self.build.programmed is not None:
            return self.programmed.fl((base, exp, mod))
        scan = self.nbits if self.plan.full_scan else None
        domain = self.space(mod)
        return status, mod_exp(base, exp, mod, domain=domain, schedule=self.plan.schedule, exp_nbits=scan)

    def cl(self) -> Component:
        """The cycle-level model, the twin of `rtl`."""
        return self.build.cl()

    def rtl(self) -> Component:
        """The hardware: istream {base, exp, mod} -> ostream {status, result}."""
        return self.build.rtl()

    def maker(self, interface: Interface) -> Callable[[], Component]:
        """A function that makes the hardware to be put behind an interface, without a copy of the operands if
        the interface keeps them.
        """
        in_place = self.build.rtl_in_place if interface.keeps_request else None
        return in_place or self.rtl

    @property
    def traits(self) -> Traits:
        """The promises as bus registers report them, and the modulus with which zeroise clears the
        machine.
        """
        made = self.promises
        # a machine with a key overwrites its registers after every request, also when it rejects modulus 0
        clearing = 0 if made.key or self.build.wiped_by_refusal else made.modulus or 1
        blinded = made.message_blinded, made.exponent_blinded
        limits = made.odd_only, made.reduced_only
        protected = made.key == "crt", *blinded, made.checked
        return Traits(made.constant_time, *limits, clearing, *protected, made.public)

    def cycles(self, base: int, exp: int, mod: int) -> int:
        """Cycles from request to answer by the closed formula; without one, by microinstruction."""
        if self.keyed:
            if self.timing.product_cycles(1) is None:
                return self.programmed.cycles(*self.carried(base, exp, mod))
            return self.programmed.formula(self.key)
        return self.build.cycles(base, exp, mod)

    def most_cycles(self, operands: Sequence[Operands]) -> int:
        """Upper bound on the cycles for these operands."""
        return sum(self.cycles(*operand) for operand in operands)

    def products(self, exp: int) -> int | None:
        """Sequential products of an exponentiation, counting two parallel ones once; None if unknown."""
        return self.build.products(exp) if self.build.products else product_count(self.plan, exp)

    @property
    def product_cycles(self) -> int | None:
        """Cycles between successive products; None if they depend on the operands."""
        return self.build.product_cycles or self.timing.fixed

    # ---- the multiplier alone

    @property
    def timing(self) -> UnitTiming:
        """The formula for the cycles of `multiplier`."""
        return self.build.unit.timing

    def multiplier(self) -> Component:
        """One product unit in RTL: istream {a, b} -> ostream, static port `modulus`."""
        if self.timing.fits:
            raise BadInput(
                "fit = modulus with a multiplier alone: only its machine tells it the length of "
                "the modulus; give fit=machine"
            )
        return self.build.unit.rtl(self.plan.nbits)

    def multiplier_cl(self) -> Component:
        """The cycle-level twin of `multiplier`."""
        return self.build.unit.cl(self.plan.nbits)

    def product(
        self, a: int, b: int, mod: int, run: Callable[[Sequence[tuple[int, int]]], Sequence[int]]
    ) -> int:
        """a * b mod `mod` on a plain unit, whose products `run` computes; in Montgomery form (a * R^2 / R) *
        b / R.
        """
        domain = make_domain(self.design.domain, mod, self.nbits)
        if domain.enter_by is not None:
            (a,) = run([(a, domain.enter_by)])
        (result,) = run([(a, b)])
        return result


@dataclass(frozen=True, eq=False, repr=False)
class PublicMachine(Machine):
    """A machine whose requests state whether their exponent is public."""

    e: int = 0  # the exponent that they mark as public; 0: the usual one

    def with_public(self, e: int) -> Machine:
        """The same machine, with requests that mark this exponent, and no other, as public."""
        return replace(self, e=e)

    def calls_public(self, exp: int) -> bool:
        """Whether requests mark this exponent as public."""
        return exp == (self.e or usual_exponent(self.nbits))

    def carried(self, base: int, exp: int, mod: int) -> Carried:
        """All fields of a request."""
        if self.calls_public(exp):
            return self.programmed.public(base, exp, mod)
        return super().carried(base, exp, mod) if self.keyed else (base, exp, mod, 0)

    def fl(self, base: int, exp: int, mod: int, *given: int) -> tuple[Status, int]:
        """Functional level of a public operation, or of a private one."""
        return super().fl(*((base, exp, mod, *given) if given else self.carried(base, exp, mod)))

    def cycles(self, base: int, exp: int, mod: int) -> int:
        """Cycles of a public operation, or of a private one."""
        if self.keyed and not self.calls_public(exp):
            return super().cycles(base, exp, mod)
        return self.programmed.cycles(*self.carried(base, exp, mod))
