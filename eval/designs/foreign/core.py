"""Core: a third-party module with modexlab's streams, its own or those of a wrapper.

It exists as RTL only, without cycle-level model or formula. Subclasses define its function.
"""

import functools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ....fl.accelerator import Fields, Message
from ....fl.errors import BadInput
from ....rtl.messages import mk_message
from ....rtl.sim import Run, Simulation, SimulationTimeout, ToolError, simulate
from ....rtl.sim import ports as stream_ports
from ....rtl.sim.text import VerilogText, verilog_text
from ....rtl.sim.toolchain import CompilerError
from ...papers.expression import Expression
from ..interfaces import DEFAULT, Interface
from ..runnable import Runnable
from .manifest import Choice, Manifest, Number
from .ports import Module, Port, modules, refusal

CORE = "core"  # the instance of the core in its wrapper
ALONE = "_alone"  # suffix for the module that is the core without its wrapper
WIDEST = 8192  # bits of a field of a message


class Unanswered(BadInput):
    """The core did not answer in time."""


class Prepared(NamedTuple):
    """A number that software computes: its width, and its expression."""

    nbits: int
    expression: Expression


class Core(Runnable):
    """A core at one width."""

    backends = ("verilog", "native")

    @property
    @abstractmethod
    def manifest(self) -> Manifest:
        """Its manifest."""

    # ---- numbers of the manifest

    @functools.cached_property
    def known(self) -> dict[str, Any]:
        """Values for expressions without a request: the width, and the parameters of the module."""
        known: dict[str, Any] = {"nbits": self.nbits}
        for name, value in self.manifest.of.parameters.items():
            match value:
                case Choice():
                    known[name] = self.parameters[name]
                case str() if value.startswith(("'", '"')):
                    known[name] = value.strip("'\"")
                case _:
                    known[name] = self.manifest.number(("parameters", name), value, known)
        return known

    def values_of(self, request: Message) -> dict[str, Any]:
        """Values for expressions over a request."""
        return {**self.known, **dict(zip(self.manifest.fields, request, strict=False))}

    def _number(self, *path: str, given: Number) -> int:
        return self.manifest.number(path, given, self.known)

    def _fields(self, table: str, given: Mapping[str, Number]) -> Fields:
        """The fields of a table with their widths."""
        fields = tuple((name, self._number(table, name, given=nbits)) for name, nbits in given.items())
        for name, nbits in fields:
            if not 1 <= nbits <= WIDEST:
                raise self.manifest.error((table, name), f"{name} of {nbits} bits; give 1 to {WIDEST}")
        return fields

    @functools.cached_property
    def prepared(self) -> Mapping[str, Prepared]:
        """The numbers that software computes, which follow the fields of a request."""
        made, known = self.manifest.prepare, {*self.known, *self.manifest.fields}
        return {
            name: Prepared(nbits, self.manifest.expression(("prepare", name), made[name].value, known))
            for name, nbits in self._fields("prepare", {name: number.nbits for name, number in made.items()})
        }

    @property
    def prepared_fields(self) -> Fields:
        """Their names and widths."""
        return tuple((name, number.nbits) for name, number in self.prepared.items())

    # ---- the Verilog

    @property
    def messages(self) -> tuple[Fields, Fields]:
        """The fields of both messages of the hardware."""
        operands = self.shape.request[: len(self.manifest.fields)]
        return (*operands, *self.prepared_fields), self.shape.response

    @functools.cached_property
    def modules(self) -> tuple[Module, Module | None]:
        """The module of the manifest, and the core in it; BadInput if the module has other ports."""
        manifest, top = self.manifest, self.manifest.of.top
        parameters = {name: self.known[name] for name in manifest.of.parameters}
        try:
            found, core = modules(manifest.verilog, top, parameters, CORE)
        except BadInput as error:
            key = "top" if "correct `top`" in str(error) else "files"
            raise manifest.error((key,), str(error)) from None
        self._check_ports(found)
        return found, core

    def _check_ports(self, module: Module) -> None:
        """Raise BadInput unless the module's ports are exactly modexlab's streams."""
        wanted = stream_wires(*self.messages)
        for name, port in wanted.items():
            found = module.ports.get(name)
            if found is None:
                raise self._unfit(f"{module.name} has no port {name}")
            if found != port:
                raise self._unfit(
                    f"the port {name} of {module.name} is an {found}, "
                    f"and at --nbits {self.nbits} modexlab has an {port}"
                )
        for name in module.ports:
            if name not in wanted:
                raise self._unfit(f"{module.name} has the port {name}, which is none of a stream")

    def _unfit(self, reason: str) -> BadInput:
        name = self.manifest.path.name
        remedy = f"correct the module, or `modexlab new wrapper {name}` prints a wrapper to begin with"
        return self.manifest.error(("top",), f"{reason}; {remedy}")

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
        values = self.values_of(request)
        for index, text in enumerate(self.manifest.of.limits.require):
            if not self.manifest.value(("limits", "require", index), text, values):
                return f'"{text}" does not hold, which the limits of {self.name} require'
        return ""

    def carried(self, *request: int) -> Message:
        values = {**self.known, **dict(zip(self.manifest.fields, request, strict=True))}
        number = self.manifest.number
        made = (
            number(("prepare", name), prepared.expression, values, prepared.nbits)
            for name, prepared in self.prepared.items()
        )
        return (*request, *made)

    def answered(self, request: Message, response: Message) -> Message:
        """The accelerator's response for an answer of the core."""
        return response

    # ---- simulation

    def interface(self, name: str) -> Interface:
        if name != DEFAULT.name:
            raise BadInput(
                f"{self.name} is Verilog with streams, and has no interface {name}; drop --interface"
            )
        return DEFAULT

    def simulation(self, interface: Interface, level: str, backend: str, **options: Any) -> Simulation:
        if level != "rtl" or backend not in self.backends:
            raise BadInput(
                f"{self.name} is Verilog by a manifest: it runs at --level rtl, "
                f"backend {' or '.join(self.backends)}, and not at {level if level != 'rtl' else backend}"
            )
        try:
            return CoreSimulation(self, simulate(self.rtl(), backend, **options))
        except CompilerError:
            raise
        except ToolError as error:
            message = refusal(str(error), self.manifest.of.top, self.manifest.verilog)
            raise self.manifest.error(("files",), message) from None

    def most_cycles(self, requests: Sequence[Any]) -> int:
        return len(requests) * self._number("timeout", given=self.manifest.of.timeout)


class CoreSimulation(Simulation):
    """A core in simulation: requests and responses of the accelerator; Unanswered if the core hangs."""

    def __init__(self, core: Core, simulation: Simulation) -> None:
        self._core, self._model = core, simulation
        request, response = (
            stream_ports.Message(sum(nbits for _, nbits in fields), fields)
            for fields in (core.shape.request, core.shape.response)
        )
        self.ports = stream_ports.Ports(request, response, ())

    def run(self, requests, **options):
        core, sent = self._core, list(requests)
        try:
            run = self._model.run(sent, **options)
        except SimulationTimeout as error:
            raise core.manifest.error(
                ("top",),
                f"{core.manifest.of.top} hangs: {error}; "
                "look at the waveform (modexlab run --vcd), correct the Verilog, or raise `timeout`",
                Unanswered,
            ) from None
        answers: Any = run.responses
        return Run(list(map(core.answered, sent, answers)), run.accepted, run.done)

    def _drive(self, plan, progress):
        return self._model._drive(plan, progress)


def stream_wires(request: Fields, response: Fields) -> dict[str, Port]:
    """The ports of a module with our streams."""
    wires = {"clk": Port("INPUT", 1), "reset": Port("INPUT", 1)}
    for stream, fields, sent in (("istream", request, "INPUT"), ("ostream", response, "OUTPUT")):
        answered = "OUTPUT" if sent == "INPUT" else "INPUT"
        wires[f"{stream}__val"] = Port(sent, 1)
        wires[f"{stream}__rdy"] = Port(answered, 1)
        wires[f"{stream}__msg"] = Port(sent, sum(nbits for _, nbits in fields))
    return wires
