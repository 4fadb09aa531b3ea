"""Foreign designs as everything else asks for them: a Design by a manifest, its machine at a width, and how both are simulated.

There is nothing but RTL: the functional level is Python's own power under the limits of the manifest, the cycle level does not exist,
and cycles are counted by running the core.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ....fl.errors import BadInput, shown, unknown
from ....fl.status import MEANING, Status
from ....rtl.sim import cache
from ...papers.expression import Expression
from ..control import Control
from ..design import Design
from ..interfaces import DEFAULT, Carried, Compute, GivenFields, Interface, Message, Operands
from ..machine import Build, Machine
from ..multipliers.multiplier import Multiplier
from ..param import PAPER_NBITS, Param
from ..session import Answer, Session
from ..widths import check_width, width_for
from .adapter import Adapter
from .manifest import Choice, Manifest
from .ports import ports_of, refusal
from .program import Compiler
from .quantities import Field, number

if TYPE_CHECKING:
    from pymtl3 import Component

    from ....fl.axi4lite import Traits
    from ....rtl.sim.native import NativeSimulation

FOREIGN = "foreign"  # family, domain and schedule of what we did not write
KEPT_CYCLES = 4096


class Unanswered(BadInput):
    """A core that did not answer in time."""


class _Absent:
    """In the place of a part that only designs of our own have."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise BadInput(
            f"{self._what} is a design by a manifest: nothing is known of it but its Verilog; take one of the catalogue"
        )

    def __call__(self, *_: object) -> NoReturn:
        raise BadInput(
            f"{self._what} is a design by a manifest, and has only RTL; give --level rtl, and no stage but native"
        )


@dataclass(frozen=True, eq=False)
class ForeignDesign(Design):
    """The design of a manifest."""

    manifest: Manifest = dataclass_field(kw_only=True)

    @classmethod
    def load(cls, path: Path) -> ForeignDesign:
        """The design of a manifest; BadInput with its line if something is wrong in it."""
        manifest = Manifest.load(path)
        of = manifest.of
        own = Param("schedule", "its own", ("its own",), "the order of the products is the core's")
        absent = _Absent(of.name)
        return cls(
            of.name,
            Multiplier(FOREIGN, (), cast(Any, absent)),
            FOREIGN,
            Control(own, cast(Any, absent)),
            of.title or f"a core by a manifest: module {of.top}, {of.protocol}",
            manifest=manifest,
        )

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters of the module that the manifest leaves open."""
        return tuple(
            Param(name, each.default, tuple(each.choices), each.help or f"parameter {name} of the module")
            for name, each in self.manifest.of.parameters.items()
            if isinstance(each, Choice)
        )

    @property
    def reference(self) -> str:
        return f"{self.name}@{self.manifest.path}"

    @functools.cached_property
    def identity(self) -> str:
        return cache.key(self.manifest.text, self.manifest.verilog)

    @property
    def constant_time(self) -> bool:
        return False

    @property
    def odd_only(self) -> bool:
        return self.manifest.of.limits.odd_modulus

    @property
    def reduced_only(self) -> bool:
        return self.manifest.of.limits.reduced_base

    @property
    def plain_unit(self) -> bool:
        return False

    @property
    def usual_nbits(self) -> int:
        """The width of the papers' machines, or the nearest one that there is."""
        return min(self.manifest.of.nbits or [PAPER_NBITS], key=lambda nbits: abs(nbits - PAPER_NBITS))

    def width_for(self, *numbers: int) -> int:
        """The narrowest width that there is for these numbers."""
        widest = max(number.bit_length() for number in numbers)
        fitting = sorted(nbits for nbits in self.manifest.of.nbits if nbits >= widest)
        return fitting[0] if fitting else width_for(*numbers)

    def at(self, nbits: int, **settings: Any) -> ForeignMachine:
        check_width(nbits)
        widths = self.manifest.of.nbits
        if widths and nbits not in widths:
            nearest = min(widths, key=lambda each: abs(each - nbits))
            raise BadInput(
                f"{self.name} exists at {', '.join(map(str, widths))} bits, as its manifest has it; give --nbits {nearest}"
            )
        names = [param.name for param in self.params]
        for name in settings:
            if name not in names:
                raise unknown(f"parameter of {self.name}", name, names)
        values = tuple(
            (param.name, param.checked(settings[param.name]) if param.name in settings else param.default)
            for param in self.params
        )
        return _machine(self, nbits, values)


@functools.lru_cache(256)
def _machine(design: ForeignDesign, nbits: int, values: tuple[tuple[str, Any], ...]) -> ForeignMachine:
    absent = _Absent(design.name)
    build = Build(cast(Any, absent), cast(Any, absent), absent, absent, absent)
    return ForeignMachine(design, nbits, values, build)


@dataclass(frozen=True, eq=False)
class ForeignMachine(Machine):
    """A core at one width."""

    measured = True

    @property
    def foreign(self) -> ForeignDesign:
        """The design, by its own type."""
        return cast(ForeignDesign, self.design)

    @property
    def manifest(self) -> Manifest:
        return self.foreign.manifest

    # ---- the Verilog

    @functools.cached_property
    def known(self) -> dict[str, Any]:
        """What expressions know without operands: the width, that of a word, and the parameters of the module."""
        of = self.manifest.of
        known: dict[str, Any] = {"nbits": self.nbits}
        known["w"] = self._number(of.word_nbits, ("word_nbits",), known)
        for name, each in of.parameters.items():
            if isinstance(each, Choice):
                known[name] = self.parameters[name]
            elif isinstance(each, str) and each.startswith(("'", '"')):
                known[name] = each.strip("'\"")
            else:
                known[name] = self._number(each, ("parameters", name), known)
        return known

    def _number(self, given: int | str, path: tuple[str | int, ...], known: dict[str, Any]) -> int:
        try:
            return number(given, known)
        except BadInput as error:
            raise self.manifest.error(path, str(error)) from None

    @functools.cached_property
    def adapter(self) -> Adapter:
        """The core with what stands around it; BadInput, with the line, for what does not fit its ports."""
        manifest, of = self.manifest, self.manifest.of
        parameters = {name: self.known[name] for name in of.parameters}
        try:
            ports = ports_of(manifest.verilog, of.top, parameters)
        except BadInput as error:
            raise manifest.error(("top",) if "mend `top`" in str(error) else ("files",), str(error)) from None
        return Adapter(
            manifest,
            Compiler(manifest, self.known, ports).compiled(),
            ports,
            parameters,
            self.top(DEFAULT),
            self._number(of.timeout, ("timeout",), self.known),
        )

    def verilog(self, *, observed: bool = False) -> str:
        """The core's files and the adapter, which is the top module; and a module that is the core alone."""
        adapter = self.adapter
        return self.manifest.verilog + adapter.alone() + adapter.verilog(observed=observed)

    # ---- preconditions

    @property
    def modulus_nbits(self) -> int:
        return min(
            self.nbits,
            self._number(self.manifest.of.limits.modulus_nbits, ("limits", "modulus_nbits"), self.known),
        )

    def refusal(self, base: int, exp: int, mod: int) -> str:
        """Why the core does not take these operands, by the limits of its manifest; empty if it does."""
        of = self.manifest.of.limits
        longest = self._number(of.exponent_nbits, ("limits", "exponent_nbits"), self.known)
        if max(base, exp, mod).bit_length() > self.nbits:
            return f"an operand is wider than {self.nbits} bits"
        if mod == 0:
            return MEANING[Status.ZERO_MODULUS]
        reasons = {
            f"the modulus is longer than {self.modulus_nbits} bits": mod.bit_length() > self.modulus_nbits,
            "the modulus is even": of.odd_modulus and mod % 2 == 0,
            "the base is not below the modulus": of.reduced_base and base >= mod,
            f"the modulus is shorter than {self.modulus_nbits} bits": of.full_modulus
            and mod.bit_length() < self.modulus_nbits,
            f"the exponent is below {of.least_exponent}": exp < of.least_exponent,
            f"the modulus is below {of.least_modulus}": mod < of.least_modulus,
            f"the exponent is longer than {longest} bits": exp.bit_length() > longest,
        }
        broken = next((reason for reason, holds in reasons.items() if holds), "")
        if broken:
            return f"{broken}, which the limits of {self.design.name} exclude"
        for index, text in enumerate(of.require):
            try:
                holds = Expression(text).value({**self.known, "base": base, "exp": exp, "mod": mod})
            except (BadInput, KeyError) as error:
                raise self.manifest.error(("limits", "require", index), f"{text}: {error}") from None
            if not holds:
                return f'"{text}" does not hold, which the limits of {self.design.name} want'
        return ""

    def check(self, base: int, exp: int, mod: int) -> Status:
        """OK, or the status that comes nearest to what the limits say."""
        reason = self.refusal(base, exp, mod)
        if not reason:
            return Status.OK
        nearest = {
            "is even": Status.EVEN_MODULUS,
            "not below": Status.BASE_TOO_LARGE,
            "modulus is 0": Status.ZERO_MODULUS,
            "longer": Status.TOO_WIDE,
            "wider": Status.TOO_WIDE,
        }
        return next((status for words, status in nearest.items() if words in reason), Status.NO_RESULT)

    def require(self, base: int, exp: int, mod: int) -> None:
        for name, value in (("base", base), ("exponent", exp), ("modulus", mod)):
            if value < 0:
                raise BadInput(f"{name} {shown(value)} is negative; give 0 or more")
        if reason := self.refusal(base, exp, mod):
            raise BadInput(f"{shown(base)} ^ {shown(exp)} mod {shown(mod)}: {reason}; give other operands")

    # ---- requests and answers

    @property
    def given_fields(self) -> GivenFields:
        return self.adapter.request.fields[3:]

    def carried(self, base: int, exp: int, mod: int) -> Carried:
        """The operands, and what software has made of them for the core."""
        values = {**self.known, "base": base, "exp": exp, "mod": mod}
        fields = self.adapter.program.fields
        return tuple(fields[name].of(values) for name, _ in self.adapter.request.fields)

    def expected(self, base: int, exp: int, mod: int) -> int:
        """What the core should answer."""
        told = self.manifest.of.answer
        if told is None:
            return pow(base, exp, mod)
        return self._answer_by(told.expected, "expected", base, exp, mod, {})

    def power(self, answer: int, base: int, exp: int, mod: int) -> int:
        """The power that an answer of the core stands for."""
        told = self.manifest.of.answer
        return (
            answer
            if told is None
            else self._answer_by(told.result, "result", base, exp, mod, {"answer": answer})
        )

    def _answer_by(self, text: str, key: str, base: int, exp: int, mod: int, more: dict[str, int]) -> int:
        path = ("answer", key)
        values = {**self.known, "base": base, "exp": exp, "mod": mod, **more}
        try:
            expression = Expression(text)
            expression.require(values)
        except BadInput as error:
            raise self.manifest.error(path, str(error)) from None
        where = f"{self.manifest.path.name} of {self.design.name}, line {self.manifest.line(path)}"
        return Field(key, self.adapter.program.result_nbits, expression, where).of(values)

    # ---- levels

    def fl(self, base: int, exp: int, mod: int, *_: int) -> tuple[Status, int]:
        """Python's own power, under the limits."""
        status = self.check(base, exp, mod)
        return (status, pow(base, exp, mod)) if status == Status.OK else (status, 0)

    def interface(self, name: str) -> Interface:
        if name != DEFAULT.name:
            raise BadInput(
                f"{self.design.name} has its own protocol ({self.manifest.of.protocol}), and no interface {name}; drop --interface"
            )
        return OwnProtocol(
            DEFAULT.name, f"machine alone, by {self.manifest.of.protocol}", "its own protocol", machine=self
        )

    def simulation(
        self, interface: Interface, level: str, stage: str, *, vcd: Path | None = None, trace: Any = None
    ) -> NativeSimulation:
        from ....flow.workload import TextSimulation
        from ....rtl.sim import ToolError
        from ....rtl.sim.base import Options
        from ....rtl.sim.toolchain import CompilerError

        if level != "rtl" or stage != "native":
            raise BadInput(
                f"{self.design.name} is Verilog by a manifest: it runs at --level rtl, stage native, and not at "
                f"{level if level != 'rtl' else stage}"
            )
        adapter = self.adapter
        try:
            return TextSimulation(
                self.verilog(observed=True),
                adapter.name,
                adapter.streams(observed=True),
                {},
                Options(vcd=vcd, trace=trace),
            )
        except CompilerError:
            raise
        except ToolError as error:
            raise self.manifest.error(
                ("files",), refusal(str(error), self.manifest.of.top, self.manifest.verilog)
            ) from None

    def most_cycles(self, operands: Sequence[Operands]) -> int:
        """The adapter gives up by itself."""
        return len(operands) * (self.adapter.timeout + 1000)

    def unanswered(self, stuck: int) -> Unanswered:
        """The error for a core that has not left a state (from 1) in time."""
        program, manifest = self.adapter.program, self.manifest
        place = program.places[program.states[stuck - 1].step]
        waits = f"waiting for {place.waits}" if place.waits else "in a step that waits for nothing"
        return Unanswered(
            f"{manifest.path.name} of {manifest.of.name}, line {place.line}: {manifest.of.top} did not answer within "
            f"{self.adapter.timeout} cycles, {waits}; look at the waveform (modexlab run --vcd), mend the step, or raise `timeout`"
        )

    def session(
        self,
        *,
        level: str = "rtl",
        stage: str | None = None,
        interface: str = DEFAULT.name,
        vcd: Path | None = None,
        trace: Callable[[int, str], None] | None = None,
    ) -> Session:
        return ForeignSession(self, level=level, stage=stage, interface=interface, vcd=vcd, trace=trace)

    def counted(self, base: int, exp: int, mod: int) -> tuple[int, int | None]:
        """Cycles of an operation, and those of the core's own work, by running it; BadInput if its result is wrong."""
        return _counted(self, base, exp, mod)

    def cycles(self, base: int, exp: int, mod: int) -> int:
        return self.counted(base, exp, mod)[0]

    def products(self, exp: int) -> int:
        return 0

    @functools.cached_property
    def product_cycles(self) -> int | None:
        """Cycles of a bit of the exponent by two, which is what a product takes or more, so that rows are as long as may be."""
        mod = (1 << self.modulus_nbits) - 1
        ends = []
        for exp in (0b1111, 0b1111_1111):
            operands = (2, exp, mod)
            if self.refusal(*operands):
                return None
            ends.append(_run(self, *operands).cycles or 0)
        return max(1, (ends[1] - ends[0]) // 8)


@functools.lru_cache(KEPT_CYCLES)
def _run(machine: ForeignMachine, base: int, exp: int, mod: int) -> ForeignAnswer:
    with machine.session() as session:
        (answer,) = session.run([(base, exp, mod)])
    return cast(ForeignAnswer, answer)


def _counted(machine: ForeignMachine, base: int, exp: int, mod: int) -> tuple[int, int | None]:
    answer = _run(machine, base, exp, mod)
    if answer.result != pow(base, exp, mod):
        raise BadInput(
            f"{machine.design.name} answers {shown(answer.result)} to {shown(base)} ^ {shown(exp)} mod {shown(mod)}, which is "
            f"{shown(pow(base, exp, mod))}: the cycles of a wrong result mean nothing; mend the core, or its manifest"
        )
    assert answer.cycles is not None
    return answer.cycles, answer.work


@dataclass(frozen=True)
class ForeignAnswer(Answer):
    """With the cycles of the core's own work, where the steps have marks."""

    work: int | None = None


class ForeignSession(Session):
    """Answers become powers; a core that is stuck says where."""

    def run(
        self, operands: Sequence[Operands], progress: Callable[[int, int], None] | None = None
    ) -> list[Answer]:
        if self.stage is None:
            return super().run(operands, progress)
        machine = cast(ForeignMachine, self.machine)
        marked = any(state.starts for state in machine.adapter.program.states)
        before = len(self.works)
        answers = super().run(operands, progress)
        works = self.works[before:]
        return [
            ForeignAnswer(
                answer.status, machine.power(answer.result, *each), answer.cycles, 0, work if marked else None
            )
            for each, answer, work in zip(operands, answers, works, strict=True)
        ]

    def _answer(self, responses: Sequence[Any], cycles: int | None) -> Answer:
        if self.stage is None:
            return super()._answer(responses, cycles)
        machine = cast(ForeignMachine, self.machine)
        ((status, stuck, work, result),) = responses
        if stuck:
            raise machine.unanswered(stuck)
        self.works.append(work)
        return Answer(Status(status), result, cycles)


@dataclass(frozen=True)
class OwnProtocol(Interface):
    """The adapter's streams."""

    machine: ForeignMachine = dataclass_field(kw_only=True)

    @property
    def suffix(self) -> str:
        return ""

    @property
    def behind(self) -> str:
        return f", by {self.machine.manifest.of.protocol}"

    def wrap(
        self,
        nbits: int,
        mk_machine: Callable[[], Component],
        given: GivenFields = (),
        traits: Traits | None = None,
    ) -> Component:
        raise BadInput(
            f"{self.machine.design.name} is Verilog by a manifest, and no component of PyMTL3; "
            "take a design of the catalogue"
        )

    def requests(self, nbits: int, operands: Carried) -> list[Message]:
        return [operands]

    def outcome(self, nbits: int, responses: Sequence[Any]) -> tuple[Status, int]:
        ((status, *_, result),) = responses
        return Status(status), result

    def respond(
        self, nbits: int, compute: Compute, requests: Sequence[Message], given: GivenFields = ()
    ) -> list[Message]:
        return [compute(*request) for request in requests]
