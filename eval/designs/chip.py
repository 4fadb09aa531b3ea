"""AcceleratorChip: an accelerator as a source for the ASIC flow.

It writes design.sv, design.json and workload.json (flow/workload.py). The rows are those of the accelerator's
table, with their delays; energy is measured for its own workloads.
"""

import importlib.metadata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from ...fl.accelerator import Message, Row
from ...fl.memory import WORD_NBYTES, bytes_of, image_of, memory_of
from ...flow.description import Description, Published
from ...flow.files import replace_json, replace_text
from ...flow.source import DESIGN, WORKLOAD, Source
from ...flow.workload import STREAM, ports_json
from ...rtl.sim.ports import Ports
from ...rtl.sim.translation import translated
from ...rtl.sim.verilog_digests import Digests
from .interfaces import DEFAULT, Interface
from .interfaces import STREAM as STREAM_OF_ITS_OWN
from .interfaces import find as find_interface
from .workload_names import own_operation, own_part, seed_of_spread

Exchange = Callable[..., dict[str, Any]]  # converts requests and responses to JSON


@dataclass(frozen=True)
class AcceleratorChip(Source):
    """An accelerator with its parameters, bare or behind an interface."""

    design: Any
    nbits: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    interface: str = DEFAULT.name

    has_vectors = True
    note = ""  # caveats about its protections and its energy workloads
    limits = ""  # figures that its netlist lacks, and why
    core_instance = ""  # path of the instance whose figures count, if not the whole design
    core_top = ""  # module of the core alone, if the top module contains more
    published: ClassVar[Published | None] = None  # energies to print next to its own

    def failed_rows(self) -> list[str]:
        """Rows that the hardware fails at RTL; they mark its figures."""
        return []

    def check(self) -> None:
        """BadInput if the accelerator cannot be built."""
        _ = self.machine.interface(self.interface)

    @property
    def machine(self) -> Any:
        """The accelerator; BadInput if there is none with these parameters."""
        return self.design.at(self.nbits, **self.settings)

    @property
    def carrier(self) -> Interface:
        """The interface that carries requests to it."""
        return find_interface(self.interface)

    @property
    def parameters(self) -> dict[str, Any]:
        """All its parameters."""
        return dict(self.machine.parameters)

    @property
    def name(self) -> str:
        return self.design.name

    @property
    def top(self) -> str:
        """The name of the top module."""
        return self.machine.top(self.carrier)

    @property
    def place(self) -> str:
        """The phrase for its interface in a sentence, such as ", behind registers"."""
        return self.carrier.behind

    @property
    def described_interface(self) -> str:
        """The name of its interface in the store."""
        return self.interface

    # ---- as a source of the flow

    @property
    def tool(self) -> tuple[str, str]:
        return "PyMTL3", importlib.metadata.version("pymtl3")

    def write(self, directory: Path) -> None:
        """Write design.sv, design.json and workload.json."""
        self.check()
        component = self._component()
        replace_text(directory / DESIGN, self._verilog_of(component))
        Description(
            name=self.name,
            top=self.top,
            clock_port="clk",
            reset_port="reset",
            interface=self.described_interface,
            place=self.place,
            nbits=self.nbits,
            parameters={
                name: hex(value) if isinstance(value, int) and value > 2**53 else value  # JSON's limit
                for name, value in self.parameters.items()
            },
            paper=getattr(self.design, "paper", ""),
            published=self.published,
            core=self.core_instance,
            core_top=self.core_top,
        ).write(directory)
        replace_json(directory / WORKLOAD, self._workload(component))

    def verilog(self) -> str:
        """The text of design.sv."""
        return self._verilog_of(self._component())

    def digests(self) -> Digests:
        """The digests of design.sv."""
        component = self._component()
        return translated.digests(component, self.top, partial(self._verilog_of, component))

    def origin(self) -> str | None:
        """A digest of the code and the arguments that make design.sv; None for the code of users."""
        return translated.origin(self._component(), self.top)

    def _verilog_of(self, component: Any) -> str:
        return translated.written(component, self.top)

    def _component(self) -> Any:
        self.machine.require_ports()
        return self.machine.wrapped(self.carrier)

    # ---- workload.json

    def energy(self) -> list[Any]:
        """Operations whose energy is measured."""
        return [own_part(self.machine, name).work for name in self.machine.workloads()]

    def seed_of_spread(self, operation: str) -> str:
        """The seed of the random operands over which the energy of an operation is spread."""
        return seed_of_spread(operation, self.nbits)

    def _workload(self, component: Any) -> dict[str, Any]:
        ports = Ports.of(component)
        exchange = partial(self._exchange, ports)
        machine = self.machine
        rows = []
        memory = bytearray(machine.shape.memory_nbytes if machine.shape.memory else 0)  # from row to row
        for row, answer in self._table():
            delays = {"source_delay": row.source_delay, "sink_delay": row.sink_delay}
            if machine.shape.memory:
                delays["memory_delay"] = row.memory_delay
            rows.append(
                {"name": row.name, **exchange([row.request], [answer], row.statics, memory), **delays}
            )
        count = sum(len(row["requests"]) for row in rows)
        slowest = max((row.get("memory_delay", 0) for row in rows), default=0)
        return {
            "protocol": STREAM,
            "ports": ports_json(ports, machine.shape.memory),
            **self._memory(),
            "max_cycles": 2 * self._most_cycles() * (1 + slowest) + 100 * count + 1000,
            "rows": rows,
            **self._operations(exchange),
        }

    def _memory(self) -> dict[str, Any]:
        """The size of the memory, and whether answers mean that it is settled."""
        shape = self.machine.shape
        return (
            {"memory_nbytes": shape.memory_nbytes, "memory_settled": self.carrier == STREAM_OF_ITS_OWN}
            if shape.memory
            else {}
        )

    def _table(self) -> list[tuple[Row, Message]]:
        """The rows with complete hardware requests, and the expected responses."""
        machine = self.machine
        rows = machine.rows()
        answers = machine.answers([row.request for row in rows])
        return [
            (replace(row, request=machine.carried_from(row.request)), answer)
            for row, answer in zip(rows, answers, strict=True)
        ]

    def _operations(self, exchange: Exchange) -> dict[str, Any]:
        """The JSON of the operations whose energy is measured, and of the same operations on random
        operands.
        """
        machine = self.machine

        def operation(requests: Sequence[Message]) -> dict[str, Any]:
            return exchange(
                [machine.carried_from(request) for request in requests], machine.answers(requests)
            )

        energy = {
            own_operation(machine, name): {**operation(requests), "warm_up": operation(machine.warm_up(name))}
            for name, requests in machine.workloads().items()
        }
        return {"energy": energy, "drawn": {}}

    def _most_cycles(self) -> int:
        """Upper bound on the cycles of all rows and measured operations."""
        rows = [row.request for row in self.machine.rows()]
        return self.machine.most_cycles([*rows, *(item for work in self.energy() for item in work.requests)])

    def _exchange(
        self,
        ports: Ports,
        requests: Sequence[Message],
        answers: Sequence[Message],
        statics: Mapping[str, int] = MappingProxyType({}),
        memory: bytearray | None = None,
    ) -> dict[str, Any]:
        """Requests and expected responses as the interface transfers them, and the values of static ports."""
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
        if shape.memory:
            counts = [len(interface.requests(shape, request)) for request in requests]
            before = bytearray(shape.memory_nbytes) if memory is None else memory
            exchange |= _memory_json(before, requests, answers, counts)
        if statics:
            exchange["statics"] = {name: hex(value) for name, value in statics.items()}
        return exchange


def _memory_json(
    memory: bytearray, requests: Sequence[Message], answers: Sequence[Message], counts: Sequence[int]
) -> dict[str, Any]:
    """The contents to load before each request, and what has changed when the memory is compared; `memory` is
    that before them, and becomes that after them. counts: in how many requests the interface transfers each.
    """
    loaded, left = [], []
    for request, answer, count in zip(requests, answers, counts, strict=True):
        blocks = [(address, bytes_of(contents)) for address, contents in image_of(request).items()]
        for address, contents in blocks:
            memory[address : address + len(contents)] = contents
        after = memory_of(answer)
        changes = [] if after is None else list(_changes(memory, after))
        for address, contents in changes:
            memory[address : address + len(contents)] = contents
        others: list[list[Any]] = [[]] * (count - 1)
        loaded += [[(address, contents.hex()) for address, contents in blocks], *others]
        left += [*others, [(address, contents.hex()) for address, contents in changes]]
    return {"memory": loaded, "left": left}


def _changes(before: bytes | bytearray, after: bytes) -> Iterator[tuple[int, bytes]]:
    """The words of a memory that changed, those in a row together."""
    start = None
    for address in range(0, len(after) + WORD_NBYTES, WORD_NBYTES):
        end = address + WORD_NBYTES
        if address < len(after) and before[address:end] != after[address:end]:
            start = address if start is None else start
        elif start is not None:
            yield start, after[start:address]
            start = None
