"""Core: a third-party module with modexlab's streams, its own or those of a wrapper.

There is nothing but RTL: no cycle-level model and no formula. Subclasses define its function.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....fl.accelerator import Fields, Message
from ....fl.errors import BadInput, shown
from ....rtl.messages import mk_message
from ....rtl.sim import Run, Simulation, SimulationTimeout, ToolError, simulate
from ....rtl.sim import ports as stream_ports
from ....rtl.sim.text import VerilogText, verilog_text
from ....rtl.sim.toolchain import CompilerError
from ...papers.expression import Expression
from ..interfaces import DEFAULT, Interface
from ..runnable import Runnable
from .manifest import Choice, KeyPath, Manifest
from .ports import Module, Port, modules, refusal

if TYPE_CHECKING:
    from ....rtl.sim.protocol import Plan, Progress

CORE = "core"  # the instance of the core in its wrapper
ALONE = "_alone"  # the end of the name of a module that is the core without its wrapper
WIDEST = 8192  # field of a message


class Unanswered(BadInput):
    """A core that did not answer in time."""


@dataclass(frozen=True)
class Prepared:
    """A number that software makes for each request."""

    nbits: int
    expression: Expression
    where: str  # in the manifest, for messages

    def of(self, values: Mapping[str, Any]) -> int:
        """Its value; BadInput if it has none, or does not fit."""
        try:
            value = self.expression.value(values)
        except BadInput as error:
            raise BadInput(f"{self.where}: {error}") from None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or value < 0 or value.bit_length() > self.nbits:
            found = shown(value) if isinstance(value, int) else repr(value)
            raise BadInput(
                f'{self.where}: "{self.expression.text}" is {found}, '
                f"which is no number of {self.nbits} bits; correct the expression, or the width"
            )
        return int(value)


class Core(Runnable):
    """A core at one width."""

    stages = ("verilog", "native")

    @property
    @abstractmethod
    def manifest(self) -> Manifest:
        """Its manifest."""

    # ---- numbers of the manifest

    @functools.cached_property
    def known(self) -> dict[str, Any]:
        """Values of expressions without a request: the width, and the parameters of the module."""
        known: dict[str, Any] = {"nbits": self.nbits}
        for name, value in self.manifest.of.parameters.items():
            if isinstance(value, Choice):
                known[name] = self.parameters[name]
            elif isinstance(value, str) and value.startswith(("'", '"')):
                known[name] = value.strip("'\"")
            else:
                known[name] = self._number(value, ("parameters", name), known)
        return known

    def _number(self, given: int | str, path: KeyPath, known: Mapping[str, Any]) -> int:
        """A number, or the value of an expression that is known without a request."""
        if isinstance(given, int):
            return given
        try:
            expression = Expression(given)
            expression.require(known)
            value = expression.value(known)
        except BadInput as error:
            raise self.manifest.error(path, str(error)) from None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int):
            raise self.manifest.error(
                path, f'expression "{given}" is {value!r}, and no whole number; correct it'
            )
        return int(value)

    def _fields(self, table: str, given: Mapping[str, int | str]) -> Fields:
        """The fields of a table with their bits."""
        fields = tuple(
            (name, self._number(nbits, (table, name), self.known)) for name, nbits in given.items()
        )
        for name, nbits in fields:
            if not 1 <= nbits <= WIDEST:
                raise self.manifest.error((table, name), f"{name} of {nbits} bits; give 1 to {WIDEST}")
        return fields

    @functools.cached_property
    def prepared(self) -> dict[str, Prepared]:
        """The numbers that software makes, which follow the fields of a request."""
        of = self.manifest.of
        texts = {name: given if isinstance(given, str) else given.value for name, given in of.prepare.items()}
        widths = {
            name: "nbits" if isinstance(given, str) else given.nbits for name, given in of.prepare.items()
        }
        return {
            name: Prepared(nbits, *self._expression(texts[name], ("prepare", name)))
            for name, nbits in self._fields("prepare", widths)
        }

    def _expression(self, text: str, path: KeyPath, *more: str) -> tuple[Expression, str]:
        """An expression over the fields of a request, and its place for messages."""
        try:
            expression = Expression(text)
            expression.require({*self.known, *self.manifest.fields, *more})
        except BadInput as error:
            raise self.manifest.error(path, str(error)) from None
        return expression, self.manifest.place(path)

    # ---- the Verilog

    @property
    def messages(self) -> tuple[Fields, Fields]:
        """The fields of both messages of the hardware."""
        numbers = tuple((name, number.nbits) for name, number in self.prepared.items())
        operands = self.shape.request[: len(self.manifest.fields)]
        return (*operands, *numbers), self.shape.response

    @functools.cached_property
    def modules(self) -> tuple[Module, Module | None]:
        """The module of the manifest, and the core in it; BadInput if the module has other ports."""
        manifest, top = self.manifest, self.manifest.of.top
        parameters = {name: self.known[name] for name in manifest.of.parameters}
        try:
            found, core = modules(manifest.verilog, top, parameters, CORE)
        except BadInput as error:
            raise manifest.error(
                ("top",) if "correct `top`" in str(error) else ("files",), str(error)
            ) from None
        self._check_ports(found)
        return found, core

    def _check_ports(self, module: Module) -> None:
        """Raise BadInput unless the module's ports are exactly modexlab's streams."""
        wanted = stream_wires(*self.messages)
        for name, port in wanted.items():
            if name not in module.ports:
                raise self._unfit(f"{module.name} has no port {name}")
            if module.ports[name] != port:
                raise self._unfit(
                    f"the port {name} of {module.name} is an {module.ports[name]}, "
                    f"and at --nbits {self.nbits} modexlab has an {port}"
                )
        if more := [name for name in module.ports if name not in wanted]:
            raise self._unfit(f"{module.name} has the port {more[0]}, which is none of a stream")

    def _unfit(self, reason: str) -> BadInput:
        path = self.manifest.path
        return self.manifest.error(
            ("top",),
            f"{reason}; correct the module, or `modexlab new wrapper {path.name}` prints a wrapper "
            "to begin with",
        )

    def rtl(self) -> VerilogText:
        """The module of the manifest with its parameters set."""
        module, core = self.modules
        name = self.top(DEFAULT)
        alone = core.shell(f"{name}{ALONE}") if core is not None else ""
        request, response = self.messages
        return verilog_text(
            name,
            f"{self.manifest.verilog}{alone}{module.shell(name)}",
            mk_message("Request", request),
            mk_message("Response", response),
        )

    # ---- requests and responses

    def unmet(self, *request: int) -> str:
        """The first condition of the limits that does not hold; empty if all do."""
        values = {**self.known, **dict(zip(self.manifest.fields, request, strict=False))}
        for index, text in enumerate(self.manifest.of.limits.require):
            try:
                holds = Expression(text).value(values)
            except (BadInput, KeyError) as error:
                raise self.manifest.error(("limits", "require", index), f"{text}: {error}") from None
            if not holds:
                return f'"{text}" does not hold, which the limits of {self.name} want'
        return ""

    def carried(self, *request: int) -> Message:
        values = {**self.known, **dict(zip(self.manifest.fields, request, strict=True))}
        return (*request, *(number.of(values) for number in self.prepared.values()))

    def answered(self, request: Message, response: Message) -> Message:
        """The response that an answer of the core stands for."""
        return response

    # ---- simulation

    def interface(self, name: str) -> Interface:
        if name != DEFAULT.name:
            raise BadInput(
                f"{self.name} is Verilog with streams, and has no interface {name}; drop --interface"
            )
        return DEFAULT

    def simulation(self, interface: Interface, level: str, stage: str, **options: Any) -> Simulation:
        if level != "rtl" or stage not in self.stages:
            raise BadInput(
                f"{self.name} is Verilog by a manifest: it runs at --level rtl, "
                f"stage {' or '.join(self.stages)}, and not at {level if level != 'rtl' else stage}"
            )
        try:
            return CoreSimulation(self, simulate(self.rtl(), stage, **options))
        except CompilerError:
            raise
        except ToolError as error:
            message = refusal(str(error), self.manifest.of.top, self.manifest.verilog)
            raise self.manifest.error(("files",), message) from None

    def most_cycles(self, requests: Sequence[Any]) -> int:
        return len(requests) * self._number(self.manifest.of.timeout, ("timeout",), self.known)


class CoreSimulation(Simulation):
    """A core in simulation: requests and responses of the accelerator; Unanswered if the core hangs."""

    def __init__(self, core: Core, simulation: Simulation) -> None:
        self._core, self._simulation = core, simulation
        sides = (core.shape.request, core.shape.response)
        request, response = (
            stream_ports.Message(sum(nbits for _, nbits in fields), fields) for fields in sides
        )
        self.ports = stream_ports.Ports(request, response, ())

    def run(self, requests: Iterable[Any], **options: Any) -> Run:
        core, sent = self._core, list(requests)
        try:
            run = self._simulation.run(sent, **options)
        except SimulationTimeout as error:
            raise core.manifest.error(
                ("top",),
                f"{core.manifest.of.top} hangs: {error}; "
                "look at the waveform (modexlab run --vcd), correct the Verilog, or raise `timeout`",
                Unanswered,
            ) from None
        responses: list[Any] = []
        for request, response in zip(sent, run.responses, strict=True):
            assert isinstance(response, tuple)
            responses.append(core.answered(request, response))
        return Run(responses, run.accepted, run.done)

    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        return self._simulation._drive(plan, progress)

    def close(self) -> None:
        self._simulation.close()


def stream_wires(request: Fields, response: Fields) -> dict[str, Port]:
    """The ports of a module with our streams."""
    bits = [sum(nbits for _, nbits in fields) for fields in (request, response)]
    return {
        "clk": Port("INPUT", 1),
        "reset": Port("INPUT", 1),
        "istream__val": Port("INPUT", 1),
        "istream__rdy": Port("OUTPUT", 1),
        "istream__msg": Port("INPUT", bits[0]),
        "ostream__val": Port("OUTPUT", 1),
        "ostream__rdy": Port("INPUT", 1),
        "ostream__msg": Port("OUTPUT", bits[1]),
    }
