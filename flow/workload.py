"""Workloads: requests for a design (workload.json), and their simulation on Verilog at any stage of the flow.

{
 "protocol": "stream",
 "ports": {"request": {"nbits": 24, "fields": [["base", 8], ...]}, "response": ...,
           "statics": [["modulus", 8]]},
 "names": {"istream__val": "in_valid", ...},   design ports with other names; optional
 "max_cycles": 100000,                         of the run of all rows; optional
 "rows": [{"name": "exponent 0", "requests": ["0x50023"], "expected": ["0x1"], "statics": {},
           "source_delay": 0, "sink_delay": 0}],
 "energy": {"encrypt": {"requests": ["0x..."], "expected": ["0x..."], "statics": {},
                        "warm_up": {"requests": ["0x..."], "expected": ["0x..."], "statics": {}},
                        "whole_cycles": 397763}, "decrypt": ...},
 "drawn": {"encrypt": [{"requests": ["0x..."], "expected": ["0x..."], "warm_up": ...}, ...], ...}   optional
}

For an accelerator with memory, "ports" has "memory": [{"name": "mem", "nbits": 32, "opaque": 8,
"address": 32, "writes": true}]. Optional: "memory_nbytes", the size of the memory, and "memory_settled":
false, which permits writes while no request is in flight. A row then has "memory_delay", extra cycles before
each answer, and one list of [address, hex bytes] per request in each of "memory", the contents to load before
it, and "left", the changes that are expected when the memory is next compared.

Messages are packed, with the first field in the most significant bits. An operation that is too long for
gate-level simulation is represented by a window, an operation of the same kind with fewer products; its
energy is scaled to `whole_cycles`, the exact cycles of the whole operation. With `window_cycles` the requests
are the whole operation, and transitions are counted only in that many of its first cycles; its length must
not depend on the operands. Both are optional. `drawn` has operations of the same kind on random operands, for
the spread of the energy.

A `warm_up` runs before its operation, on other operands, so that registers do not hold the operation's own
(gates/kernel.py). Its static ports are those of the operation unless it has its own; its answers are checked
if they are given. Without one, the requests are random.

With the protocol "system", a row has a "program" for the processor in place of requests: {"name", "entry",
"segments": [[address, hex bytes]], "symbols"}. Its exit code is the verdict, and its cycles are those of the
stats window, less those of the row "dummy".
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..fl.errors import BadInput, some
from ..fl.input_file import read_text
from ..fl.memory import (
    ADDRESS_NBITS,
    MEMORY_NBYTES,
    OPAQUE_NBITS,
    MemoryPort,
    OnMemory,
    difference,
    memory_of,
    wrong_image,
)
from ..rtl.sim.base import Options
from ..rtl.sim.memory.access import MemoryFault, MemoryMessages, MemorySettings
from ..rtl.sim.native import NativeSimulation
from ..rtl.sim.nativemodel import ModuleText
from ..rtl.sim.ports import Message, Ports, Value
from ..rtl.sim.protocol import BrokenPromise, Progress, Run, SimulationTimeout, UnexpectedResponse
from . import typed_toml
from .description import Description
from .product import Product
from .progress import stopwatch

if TYPE_CHECKING:
    from ..proc.iss.outcome import Execution
    from ..proc.sim.native import NativeProcSimulation
    from ..proc.software.elf import Program

STREAM, SYSTEM = "stream", "system"
RTL_SIM = "rtl_sim.json"
BROKEN = (BrokenPromise, MemoryFault, SimulationTimeout, UnexpectedResponse)
Blocks = tuple[tuple[int, str], ...]  # addresses, and bytes in hexadecimal
MOST_CYCLES = 20_000_000  # default: about a minute
STREAM_PORTS = (
    "clk",
    "reset",
    "istream__val",
    "istream__rdy",
    "istream__msg",
    "ostream__val",
    "ostream__rdy",
    "ostream__msg",
)
MEMORY_SIGNALS = ("req__val", "req__rdy", "req__msg", "resp__val", "resp__rdy", "resp__msg")
MOST_NAMED = 4  # failed rows that a message names
DUMMY = "dummy"  # the row with the overhead of a call


class Failure(msgspec.Struct, omit_defaults=True):
    """A row with wrong responses, or a program that reports failure."""

    name: str
    expected: list[str] | None = None
    got: list[str] | None = None
    exit_code: int | None = None
    reason: str | None = None


class Simulated(Product):
    """Results of a workload's rows in one simulation, and the cycles of its energy workloads."""

    STEP = "rtl-sim"

    tests_passed: int
    tests_failed: int
    failures: list[Failure]
    cycles: dict[str, int]
    seconds: float = 0.0

    @property
    def fault(self) -> str:
        """The rows that fail; empty if all pass."""
        if not self.tests_failed:
            return ""
        names = [failure.name for failure in self.failures]
        ran = self.tests_passed + self.tests_failed
        return f"{self.tests_failed} of {ran} tests failed: {some(names, MOST_NAMED)}"

    @classmethod
    def of(cls, workload: "Workload", failures: list[Failure], cycles: Mapping[str, int]) -> "Simulated":
        """The result of a simulation; the cycles of programs are less those of the dummy, which does
        everything but the computation.
        """
        dummy = cycles.get(DUMMY, 0)
        counted = {
            name: row.whole_cycles or cycles[name] - dummy
            for name, row in workload.energy.items()
            if name in cycles
        }
        return cls(len(workload.programs) - len(failures), len(failures), failures, counted)

    @classmethod
    def hopeless(cls, workload: "Workload", reason: str) -> "Simulated":
        """The result of a design that hangs or breaks the protocol: every row failed."""
        return cls(0, len(workload.programs), [Failure("all rows", reason=reason)], {})


class Number(int):
    """A number in the file: 5, "5" or "0x5"."""


class Row(msgspec.Struct, frozen=True):
    """Successive requests with their expected responses; or a program."""

    name: str = ""
    requests: tuple[Number, ...] = ()
    expected: tuple[Number, ...] = ()
    statics: dict[str, Number] = {}
    source_delay: int = 0
    sink_delay: int = 0
    memory: tuple[Blocks, ...] = ()  # of each request, if it has any
    left: tuple[Blocks, ...] = ()
    memory_delay: int = 0
    program: dict[str, Any] | None = None
    # cycles of the whole operation if only a window of it counts; 0: all of it counts
    whole_cycles: int = 0
    window_cycles: int = 0  # cycles after the first request in which transitions are counted; 0: all
    warm_up: "Row | None" = None  # the operation before it; None: random requests

    def asked(self, ports: Ports) -> list[Value]:
        """The requests with their fields, on the memory before them."""
        found = [ports.request.unpack(request) for request in self.requests]
        for place, blocks in enumerate(self.memory):
            if blocks:
                image = {address: bytes.fromhex(data) for address, data in blocks}
                fields = found[place]
                found[place] = OnMemory(fields if isinstance(fields, tuple) else (fields,), image)
        return found

    def wrong_memory(self, memory: bytearray, responses: Sequence[Value]) -> str:
        """How the memory behind the responses differs from the expected one; "" if it does not. `memory` is
        that before the row, and becomes that after it.
        """
        wrong = ""
        for place, response in enumerate(responses):
            for blocks in (self.memory, self.left):
                for address, data in blocks[place] if blocks else ():
                    contents = bytes.fromhex(data)
                    memory[address : address + len(contents)] = contents
            found = memory_of(response)
            if found is not None and not wrong and found != memory:
                wrong = difference(found, bytes(memory))
        return wrong


class MemoryText(msgspec.Struct):
    """A memory port in the form of the file."""

    name: str
    nbits: int
    opaque: int = OPAQUE_NBITS
    address: int = ADDRESS_NBITS
    writes: bool = True

    @property
    def port(self) -> MemoryPort:
        return MemoryPort(self.name, self.nbits, self.writes)


class PortsText(msgspec.Struct):
    """Ports in the form of the file."""

    request: Message
    response: Message
    statics: tuple[tuple[str, int], ...] = ()
    memory: tuple[MemoryText, ...] = ()

    def ports(self) -> Ports:
        """The ports; ValueError for impossible widths."""
        kinds = {"request": self.request, "response": self.response}
        widths = [(port, kind.nbits) for port, kind in kinds.items()]
        widths += [(f"{port}, {name}", nbits) for port, kind in kinds.items() for name, nbits in kind.fields]
        for port, nbits in (*widths, *self.statics):
            if nbits < 1:
                raise ValueError(f"{port}: nbits is {nbits}; give a whole number from 1 up")
        for port, kind in kinds.items():
            total = sum(nbits for _, nbits in kind.fields)
            if total not in (0, kind.nbits):
                raise ValueError(f"{port}: its fields have {total} bits, and nbits is {kind.nbits}")
        for memory in self.memory:
            if wrong := memory.port.wrong():
                raise ValueError(wrong)
        return Ports(
            self.request,
            self.response,
            tuple((name, Message(nbits)) for name, nbits in self.statics),
            tuple(MemoryMessages(port.name, port.opaque, port.address, port.nbits) for port in self.memory),
        )


@dataclass(frozen=True)
class Workload:
    """The content of a workload.json."""

    protocol: Literal["stream", "system"] = "stream"
    ports: Ports | None = None  # only of a stream
    names: dict[str, str] = field(default_factory=dict)
    max_cycles: int = MOST_CYCLES
    rows: tuple[Row, ...] = ()
    energy: dict[str, Row] = field(default_factory=dict)
    drawn: dict[str, tuple[Row, ...]] = field(default_factory=dict)  # by the same names
    memory: tuple[MemoryPort, ...] = ()  # of `ports`
    memory_nbytes: int = MEMORY_NBYTES
    memory_settled: bool = True

    def memory_of(self, rows: Sequence[Row]) -> MemorySettings:
        """The memory in a run of these rows."""
        delays = [row.memory_delay for row in rows for _ in row.requests]
        return MemorySettings(self.memory, self.memory_nbytes, delays, self.memory_settled)

    @property
    def programs(self) -> list[tuple[str, Row]]:
        """All rows by name, energy workloads last."""
        return [*((row.name, row) for row in self.rows), *self.energy.items()]


class _File(msgspec.Struct):
    ports: PortsText | None = None


def text(path: Path) -> str:
    """The text of a workload.json; BadInput if it cannot be read as text."""
    return read_text(path, "give a workload.json, as docs/reference/flow.md shows it")


def load(path: Path) -> Workload:
    """Read a workload; BadInput if it is invalid."""
    content = text(path)
    try:
        data = json.loads(content)
        given = msgspec.convert(data, _File).ports
        memory = tuple(port.port for port in given.memory) if given else ()
        work = msgspec.convert({**data, "ports": None, "memory": ()}, Workload, dec_hook=_number)
        work = replace(work, memory=memory)
        if work.protocol == STREAM and given is None:
            raise ValueError("it has no ports")
        return _checked(work, given.ports() if given and work.protocol == STREAM else None)
    except msgspec.ValidationError as error:
        reason = typed_toml.explained(str(error), Workload)
    except ValueError as error:
        reason = str(error)
    raise BadInput(f"{path} is no workload.json ({reason}): docs/reference/flow.md shows one")


def _number(kind: type[Number], value: Any) -> Number:
    try:
        number = kind(value if isinstance(value, int) else int(value, 0))
    except (TypeError, ValueError):
        raise ValueError(f'{value!r} is no number; write 5, "5" or "0x5"') from None
    if number < 0:
        raise ValueError(f"{number} is negative; write the bits of the message as a number from 0 up")
    return number


def _checked(work: Workload, ports: Ports | None) -> Workload:
    """The workload with names for all rows; ValueError or BadInput for messages wider than their ports,
    unknown static ports, and a wrong number of responses.
    """

    def checked(row: Row, name: str) -> Row:
        name = row.name or name
        warm_up = None if row.warm_up is None else warming(row.warm_up, f"{name}, warm-up", row)
        if len(row.requests) != len(row.expected):
            raise ValueError(f"{name} has {len(row.requests)} requests and {len(row.expected)} answers")
        if ports is not None:
            ports.pack_statics(row.statics)
            sent, received = (ports.request, row.requests), (ports.response, row.expected)
            for port, (kind, values) in {"request": sent, "response": received}.items():
                for value in values:
                    if value >> kind.nbits:
                        raise ValueError(
                            f"{name}: {value:#x} does not fit into the {kind.nbits} bits of the {port}"
                        )
        _check_blocks(row, name, work)
        return msgspec.structs.replace(row, name=name, warm_up=warm_up)

    def warming(row: Row, name: str, operation: Row) -> Row:
        if not row.requests:
            raise ValueError(f"{name} has no requests; give those of another operation, or drop warm_up")
        answers = row.expected or (Number(0),) * len(row.requests)
        row = msgspec.structs.replace(row, statics=row.statics or operation.statics)
        made = checked(msgspec.structs.replace(row, expected=answers), name)
        return msgspec.structs.replace(made, expected=row.expected)

    if warmed := [row.name or f"row {index}" for index, row in enumerate(work.rows) if row.warm_up]:
        raise ValueError(f"{warmed[0]} is a test and has a warm_up; move it to an operation of energy")
    return replace(
        work,
        ports=ports,
        rows=tuple(checked(row, f"row {index}") for index, row in enumerate(work.rows)),
        energy={name: checked(row, name) for name, row in work.energy.items()},
        drawn={
            name: tuple(checked(row, f"{name}, drawn {number}") for number, row in enumerate(rows, 1))
            for name, rows in work.drawn.items()
        },
    )


def _check_blocks(row: Row, name: str, work: Workload) -> None:
    """ValueError for contents of a memory that is not there, or that do not fit."""
    for kind, blocks in {"memory": row.memory, "left": row.left}.items():
        if not blocks:
            continue
        if not work.memory:
            raise ValueError(f'{name} has "{kind}", but there is no memory port; add "memory" to ports')
        if len(blocks) != len(row.requests):
            raise ValueError(
                f'{name}: {len(row.requests)} requests, but {len(blocks)} lists in "{kind}"; give one each'
            )
        for contents in blocks:
            if wrong := wrong_image({at: bytes.fromhex(data) for at, data in contents}, work.memory_nbytes):
                raise ValueError(f"{name}, {kind}: {wrong}")


def check_names(work: Workload, top: str, verilog: str) -> None:
    """BadInput for a port of the vectors whose name does not occur in the Verilog."""
    if work.ports is None:
        return
    usual = [*STREAM_PORTS, *(name for name, _ in work.ports.statics)]
    usual += [f"{port.name}__{signal}" for port in work.ports.memory for signal in MEMORY_SIGNALS]
    for name in work.names:
        if name not in usual:
            raise BadInput(f"names of the vectors: there is no {name}; the names are of {', '.join(usual)}")
    for name in usual:
        port = work.names.get(name, name)
        if not re.search(rf"(?<![\w$]){re.escape(port)}(?![\w$])", verilog):
            raise BadInput(
                f"the vectors are for a port {port}, and {top} has none: say in `names` what {name} is "
                "called there"
            )


def ports_json(ports: Ports, memory: Sequence[MemoryPort] = ()) -> dict[str, Any]:
    """Ports in the form of workload.json."""
    writes = {port.name: port.writes for port in memory}
    found = [
        MemoryText(port.name, port.data, port.opaque, port.address, writes[port.name])
        for port in ports.memory
    ]
    return {
        "request": {"nbits": ports.request.nbits, "fields": ports.request.fields},
        "response": {"nbits": ports.response.nbits, "fields": ports.response.fields},
        "statics": [(name, kind.nbits) for name, kind in ports.statics],
        **({"memory": msgspec.to_builtins(found)} if found else {}),
    }


def program(row: Row) -> "Program":
    """The program of a row."""
    from ..proc.software.elf import Program

    data = row.program
    if data is None:
        raise BadInput(f"{row.name} of the workload has no program: a system runs nothing else")
    segments = tuple((addr, bytes.fromhex(content)) for addr, content in data["segments"])
    return Program(data["name"], data["entry"], segments, data.get("symbols", {}))


def program_json(program: "Program") -> dict[str, Any]:
    """A program in the form of workload.json."""
    return {
        "name": program.name,
        "entry": program.entry,
        "segments": [(addr, content.hex()) for addr, content in program.segments],
        "symbols": {name: addr for name, addr in program.symbols.items() if name == "tohost"},
    }


def simulate_rtl(design_sv: Path, design: Description, workload_json: Path, out_dir: Path) -> Simulated:
    """Simulate the design before synthesis and write rtl_sim.json; a wrong answer is a failed test, not an
    error.
    """
    elapsed = stopwatch()
    report = run_text(design_sv.read_text(), design.top, load(workload_json))
    report.seconds = elapsed()
    report.write(out_dir, RTL_SIM)
    return report


def run_text(verilog: str, top: str, work: Workload) -> Simulated:
    """Simulate a workload with Verilator on the module `top` of a Verilog text."""
    text = ModuleText(verilog, top, work.ports, work.names)
    if work.protocol == SYSTEM:
        from ..proc.sim.native import NativeProcSimulation

        with NativeProcSimulation(text, Options()) as system:
            return run_programs(system, work)
    assert work.ports is not None
    with NativeSimulation(text, Options()) as simulation:
        return run_streams(simulation, work)


def run_streams(
    simulation: NativeSimulation, workload: Workload, progress: Progress | None = None
) -> Simulated:
    """Simulate all rows in one run and each energy workload in a run of its own; the result for rtl_sim.json
    or gate_sim.json.
    """
    failures: list[Failure] = []
    cycles = {}
    try:
        if workload.rows:
            _run_rows(simulation, workload, workload.rows, failures, progress)
        for name, row in workload.energy.items():
            run = _run_rows(simulation, workload, [row], failures)
            if row.requests:
                cycles[name] = run.done[-1] - run.accepted[0]
    except BROKEN as error:
        return Simulated.hopeless(workload, str(error))
    return Simulated.of(workload, failures, cycles)


def _run_rows(
    simulation: NativeSimulation,
    workload: Workload,
    rows: Sequence[Row],
    failures: list[Failure],
    progress: Progress | None = None,
) -> Run:
    """Simulate rows in one run; wrong responses are added to `failures`."""
    run = simulation.run(
        [request for row in rows for request in row.asked(simulation.ports)],
        statics=[row.statics for row in rows for _ in row.requests],
        source_delays=[
            0 if index else row.source_delay for row in rows for index in range(len(row.requests))
        ],
        sink_delays=[row.sink_delay for row in rows for _ in row.requests],
        max_cycles=workload.max_cycles,
        memory=workload.memory_of(rows),
        progress=progress,
    )
    pack = simulation.ports.response.pack
    memory = bytearray(workload.memory_nbytes if workload.memory else 0)
    end = 0
    for row in rows:
        start, end = end, end + len(row.requests)
        responses = run.responses[start:end]
        got = [pack(response, "response") for response in responses]
        wrong = row.wrong_memory(memory, responses)
        if got != list(row.expected) or wrong:
            expected, found = list(map(hex, row.expected)), list(map(hex, got))
            failures.append(
                Failure(row.name, expected, found, reason=f"in memory, {wrong}" if wrong else None)
            )
    return run


def run_programs(simulation: "NativeProcSimulation", workload: Workload) -> Simulated:
    """Run all programs, one after the other."""
    failures: list[Failure] = []
    cycles: dict[str, int] = {}
    for name, row in workload.programs:
        outcome = simulation.run(program(row), max_cycles=workload.max_cycles)
        note_outcome(name, outcome, failures, cycles)
    return Simulated.of(workload, failures, cycles)


def note_outcome(name: str, outcome: "Execution", failures: list[Failure], cycles: dict[str, int]) -> None:
    """Record a program's failure, if it failed, and the cycles of its window."""
    if outcome.exit_code:
        failures.append(Failure(name, exit_code=outcome.exit_code, reason=outcome.reason))
    if outcome.window.cycles is not None:
        cycles[name] = outcome.window.cycles
