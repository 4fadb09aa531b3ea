"""Runnable, known to users as `modexlab.Accelerator`: builds, wraps and simulates components."""

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from pymtl3 import Component

from ...cl.one_at_a_time import OneAtATimeCL
from ...cl.steps import StepsCL
from ...fl.accelerator import (
    Accelerator,
    Fields,
    Message,
    answer_in_words,
    in_words,
    place_of_function,
)
from ...fl.axi4lite import Traits
from ...fl.errors import BadInput
from ...fl.memory import like
from ...fl.param import spelled_out
from ...rtl.messages import mk_message
from ...rtl.sim import Simulation, ToolError, simulate
from ...rtl.sim.author_faults import faults
from ...rtl.sim.memory.access import MemorySettings, check_memory
from ...rtl.sim.ports import Ports
from ...rtl.sim.translation.translated import written
from ..author_check import check_methods
from ..mistakes import mistake
from .interfaces import DEFAULT, Interface
from .interfaces import find as find_interface
from .session import Session

KEPT_CYCLES = 4096  # requests whose simulated cycles are cached


class Runnable(Accelerator):
    """An accelerator at all levels, behind any interface that can carry its fields."""

    design: Any  # its catalogue entry or OwnDesign
    # the cycle level, and backends of its RTL
    backends: ClassVar[tuple[str, ...]] = ("cl", "python", "verilog", "native")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__module__.startswith("modexlab."):
            check_methods(cls)

    def cl(self) -> Component:
        """The cycle-level model; by default `steps`, or `fl` with the formula, one request at a time."""
        shape = self.shape
        label = re.sub(r"\W", "", f"{self.name}{self.nbits}")
        request_type = mk_message(f"{label}Request", shape.request)
        response_type = mk_message(f"{label}Response", shape.response)
        if shape.memory:
            return StepsCL(request_type, response_type, shape.request, shape.memory, self.steps)
        model = self.responder()  # since the last reset

        def restart():
            nonlocal model
            model = self.responder()

        def serve(message, *_):
            request = tuple(int(getattr(message, name)) for name, _ in shape.request)
            cycles = self.cycles(*request)
            if cycles is None:
                if type(self).cycles is not Accelerator.cycles:
                    asked = in_words(shape.request, request)
                    raise BadInput(
                        f"{place_of_function(type(self).cycles)}: cycles() returns None for {asked}; "
                        "return a whole number, or define cl()"
                    )
                raise BadInput(
                    f"{self.name} has no cycle-level model: define cycles() for a default one, or cl()"
                )
            return response_type(*model(request)), cycles

        return OneAtATimeCL(request_type, response_type, serve, overlap=False, restart=restart)

    def carried_from(self, request: Message) -> Message:
        """The request as the hardware receives it, with its memory."""
        return like(request, self.carried(*request))

    def carried(self, *request: Any) -> Message:
        """The request as the hardware receives it: the fields of a request, then the numbers that software
        adds.
        """
        return request

    @property
    def traits(self) -> Traits:
        """The promises as bus registers report them."""
        return Traits(self.constant_time)

    @property
    def identity(self) -> str:
        """Its identity in cache keys, next to its width and settings."""
        return str(self.design.identity_at(self.nbits, self.parameters))

    @property
    def changed(self) -> list[str]:
        """The parameters that do not have their standard defaults, and implied ones, as NAME=VALUE."""
        params = self.design.params
        chosen = spelled_out(params, self.nbits, self.parameters)
        return [f"{param.name}={chosen[param.name]}" for param in params if param.name in chosen]

    def maker(self, interface: Interface) -> Callable[[], Component]:
        """A function that makes the hardware to be put behind an interface."""
        return self.rtl

    def wrapped(self, interface: Interface) -> Component:
        """The hardware behind an interface."""
        return interface.wrap(self.shape, self.maker(interface), self.traits)

    def exported(self, interface: Interface) -> Component:
        """The hardware behind an interface without the bus master that drives it in simulation."""
        return interface.exported(self.shape, self.maker(interface), self.traits)

    def top(self, interface: Interface) -> str:
        """The name of its top module."""
        return re.sub(r"\W", "_", f"{self.name}_{self.nbits}{interface.suffix}")

    def interface(self, name: str) -> Interface:
        """The interface of this name; BadInput if it cannot carry the fields of this accelerator."""
        found = find_interface(name)
        found.require(self.shape, self.traits)
        return found

    def simulation(self, interface: Interface, level: str, backend: str, **options: Any) -> Simulation:
        """A simulation of this accelerator behind an interface; options: `vcd` and `trace`."""
        make = self.cl if level == "cl" else self.maker(interface)
        self.require_ports(level)
        with self._errors_of():
            return simulate(interface.wrap(self.shape, make, self.traits), backend, **options)

    def require_ports(self, level: str = "rtl") -> None:
        """BadInput if the streams of a user's component do not carry the fields of its class."""
        if not self._is_ours:
            _check_ports(self, level)

    def require_verilog(self) -> None:
        """BadInput if a user's hardware cannot be translated."""
        if not self._is_ours:
            self.require_ports()
            with self._errors_of():
                written(self.rtl(), self.top(DEFAULT))

    @property
    def _is_ours(self) -> bool:
        return type(self).__module__.startswith("modexlab.")

    @contextlib.contextmanager
    def _errors_of(self) -> Iterator[None]:
        """Report errors in a user's component in one sentence with file and line."""
        try:
            yield
        except (BadInput, ToolError):
            raise
        except Exception as error:
            found = None if self._is_ours else mistake(error)
            if found is None:
                raise
            raise found from error

    def session(self, **options: Any) -> Session:
        """This accelerator at a level and backend, ready to compute; the options are those of Session."""
        return Session(self, **options)

    def counted(self, *request: Any) -> int:
        """The cycles of a request by the formula; without one, by simulation."""
        return self.total_counted([request])

    def total_counted(self, requests: Sequence[Message]) -> int:
        """The cycles from the first request to the last response, in the same way."""
        cycles = self.total_cycles(requests)
        return _ran(self, tuple(like(request, request) for request in requests)) if cycles is None else cycles

    @property
    def memory(self) -> MemorySettings:
        """The memory behind it in a run."""
        return MemorySettings(self.shape.memory, self.shape.memory_nbytes)


@functools.lru_cache(KEPT_CYCLES)
def _check_ports(accelerator: Runnable, level: str) -> None:
    with accelerator._errors_of():
        component = accelerator.cl() if level == "cl" else accelerator.rtl()
        component.elaborate()
        ports = Ports.of(component)
        if level == "rtl" and (
            fault := next(faults(component, lambda one: not _is_package(type(one))), None)
        ):
            raise BadInput(str(fault))
    shape = accelerator.shape
    for port, found, wanted in (
        ("istream", ports.request.fields, shape.request),
        ("ostream", ports.response.fields, shape.response),
        ("static ports", tuple((name, port.nbits) for name, port in ports.statics), shape.statics),
    ):
        if found != wanted:
            raise BadInput(
                f"{accelerator.name}: {level}() has {port} with {_text(found)}, "
                f"and the shape has {_text(wanted)}; make them the same"
            )
    check_memory(ports.memory, shape.memory, f"{accelerator.name}: {level}()")


def _is_package(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("modexlab", "pymtl3")


def _text(fields: Fields) -> str:
    return ", ".join(f"{name}:{nbits}" for name, nbits in fields) or "none"


@functools.lru_cache(KEPT_CYCLES)
def _ran(accelerator: Runnable, requests: tuple[Message, ...]) -> int:
    with accelerator.session() as session:
        (ran,) = session.operate([requests])
    shape = accelerator.shape
    for request, found, expected in zip(requests, ran.responses, accelerator.answers(requests), strict=True):
        if found != expected:
            asked = in_words(shape.request, request)
            raise BadInput(
                f"{accelerator.name} answers {answer_in_words(shape, found, expected)} to {asked}, and the "
                f"correct response is {in_words(shape.response, expected)}: the cycles of a wrong response "
                "mean nothing; correct the hardware"
            )
    assert ran.cycles is not None, "of hardware"
    return ran.cycles
