"""Chip: an accelerator as a source for the ASIC flow, written as design.sv, design.json and workload.json
(flow/workload.py).

The rows are those of its table, with their delays; the energy workloads are its own.
"""

import importlib.metadata
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from ...fl.accelerator import Message, Row
from ...flow.description import Description, Published
from ...flow.files import replace_json, replace_text
from ...flow.source import Source
from ...flow.workload import STREAM, ports_json
from ...rtl.sim import cache, sources, translate
from ...rtl.sim.ports import Ports
from ...rtl.sim.translation import translated
from ...rtl.sim.translation.translated import Digests
from .interfaces import DEFAULT, Interface
from .interfaces import find as find_interface
from .workload_names import own_part

Exchange = Callable[..., dict[str, Any]]  # requests and responses in JSON


@dataclass(frozen=True)
class AcceleratorChip(Source):
    """An accelerator with its parameters, bare or behind an interface."""

    design: Any
    nbits: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    interface: str = DEFAULT.name

    has_vectors = True
    note = ""  # a caveat about its energy workloads
    limits = ""  # the figures that its netlist does not have, and why
    core_instance = ""  # the path of the instance whose figures count, where it is not the whole
    core_top = ""  # the module that is the core alone, where the top module is more
    published: ClassVar[Published | None] = None  # energies to print next to its own

    def failed_rows(self) -> list[str]:
        """The rows that its hardware is known to fail at RTL: marks on its figures."""
        return []

    def check(self) -> None:
        """BadInput for what cannot be made."""
        _ = self.machine.interface(self.interface)

    @property
    def machine(self) -> Any:
        """The accelerator; BadInput if there is none with these parameters."""
        return self.design.at(self.nbits, **self.settings)

    @property
    def carrier(self) -> Interface:
        """How requests reach it."""
        return find_interface(self.interface)

    @property
    def parameters(self) -> dict[str, Any]:
        """All its parameters."""
        return dict(self.machine.parameters)

    @property
    def name(self) -> str:
        return self.design.name

    @property
    def identity(self) -> str:
        """A digest of sources of its own, beside those of this package."""
        return self.design.identity

    @property
    def top(self) -> str:
        """The name of the top module."""
        return self.machine.top(self.carrier)

    @property
    def place(self) -> str:
        """Its place in a sentence, such as ", behind registers"."""
        return self.carrier.behind

    @property
    def described_interface(self) -> str:
        """The interface by its name in the ledger."""
        return self.interface

    # ---- as a source of the flow

    @property
    def tool(self) -> tuple[str, str]:
        return "PyMTL3", importlib.metadata.version("pymtl3")

    def key(self) -> str:
        self.check()
        module = type(self).__module__.partition(".")[2]  # its sources decide on what is written
        return cache.key(json.dumps(self._decides(), sort_keys=True), sources.digest(module))

    def _decides(self) -> list[Any]:
        """Values that decide on what is written."""
        return [self.name, self.identity, self.nbits, self.parameters, self.interface, self.tool]

    def write(self, directory: Path) -> None:
        """Write the three files."""
        self.check()
        component = self._component()
        replace_text(directory / "design.sv", self._verilog_of(component))
        Description(
            name=self.name,
            top=self.top,
            clock_port="clk",
            reset_port="reset",
            interface=self.described_interface,
            place=self.place,
            nbits=self.nbits,
            parameters={
                name: hex(value) if isinstance(value, int) and value > 2**53 else value  # JSON's largest
                for name, value in self.parameters.items()
            },
            paper=getattr(self.design, "paper", ""),
            published=self.published,
            core=self.core_instance,
            core_top=self.core_top,
        ).write(directory)
        replace_json(directory / "workload.json", self._workload(component))

    def verilog(self) -> str:
        """The text of design.sv."""
        return self._verilog_of(self._component())

    def digests(self) -> Digests:
        """The digests of that text."""
        component = self._component()
        return translated.digests(component, self.top, partial(self._verilog_of, component))

    def _verilog_of(self, component: Any) -> str:
        return translate(component, self.top, unique=True)

    def _component(self) -> Any:
        self.machine.require_ports()
        return self.machine.wrapped(self.carrier)

    # ---- workload.json

    def energy(self) -> list[Any]:
        """The operations whose energy counts."""
        return [own_part(self.machine, name).work for name in self.machine.workloads()]

    def _workload(self, component: Any) -> dict[str, Any]:
        ports = Ports.of(component)
        exchange = partial(self._exchange, ports)
        rows = []
        for row, answer in self._table():
            delays = {"source_delay": row.source_delay, "sink_delay": row.sink_delay}
            rows.append({"name": row.name, **exchange([row.request], [answer], row.statics), **delays})
        count = sum(len(row["requests"]) for row in rows)
        return {
            "protocol": STREAM,
            "ports": ports_json(ports),
            "max_cycles": 2 * self._most_cycles() + 100 * count + 1000,
            "rows": rows,
            **self._operations(exchange),
        }

    def _table(self) -> list[tuple[Row, Message]]:
        """The rows, with all that a request of the hardware holds, and their responses."""
        machine = self.machine
        rows = machine.rows()
        answers = machine.answers([row.request for row in rows])
        return [
            (replace(row, request=machine.carried(*row.request)), answer)
            for row, answer in zip(rows, answers, strict=True)
        ]

    def _operations(self, exchange: Exchange) -> dict[str, Any]:
        """The operations whose energy counts, and the same on other operands."""
        carried = self.machine.carried
        energy = {
            work.name: exchange([carried(*request) for request in work.requests], work.responses)
            for work in self.energy()
        }
        return {"energy": energy, "drawn": {}}

    def _most_cycles(self) -> int:
        """Cycles that all rows and these operations take at most."""
        rows = [row.request for row in self.machine.rows()]
        return self.machine.most_cycles([*rows, *(item for work in self.energy() for item in work.requests)])

    def _exchange(
        self,
        ports: Ports,
        requests: Sequence[Message],
        answers: Sequence[Message],
        statics: Mapping[str, int] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Requests and their responses as they travel through the interface, under values of static ports."""
        shape, interface = self.machine.shape, self.carrier
        sent = [message for request in requests for message in interface.requests(shape, request)]
        left = iter(answers)
        received = interface.respond(shape, lambda *_: next(left), sent)
        exchange: dict[str, Any] = {
            "requests": [hex(ports.request.pack(message, "request")) for message in sent],
            "expected": [
                hex(ports.response.pack(tuple(map(int, message)), "answer")) for message in received
            ],
        }
        if statics:
            exchange["statics"] = {name: hex(value) for name, value in statics.items()}
        return exchange
