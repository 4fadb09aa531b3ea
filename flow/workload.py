"""Workloads: requests for a design in simulation (workload.json), and their run on Verilog at any stage of
the flow.

{
 "protocol": "stream", "ports": {"request": {"nbits": 24, "fields": [["base", 8], ...]}, "response": ...,
 "statics": [["modulus", 8]]},
 "names": {"istream__val": "in_valid", ...},      ports of the design that are called differently; may be left
                                                  out
 "max_cycles": 100000,                            of a run, which all rows are together; may be left out
 "rows": [{"name": "exponent 0", "requests": ["0x50023"], "expected": ["0x1"], "statics": {}, "source_delay":
 0, "sink_delay": 0}],
 "energy": {"encrypt": {"requests": ["0x..."], "expected": ["0x..."], "statics": {}, "whole_cycles": 397763},
 "decrypt": ...},
 "drawn": {"encrypt": [{"requests": ["0x..."], "expected": ["0x..."]}, ...], ...}    may be left out
}
An operation that is too long to be simulated as gates is given by a window, an operation of the same kind
with fewer products, and
`whole_cycles`, the exact count of the whole, by which its energy is scaled; may be left out. With
`window_cycles` beside it the operation
is the whole, and what moves is counted in so many of its first cycles: one that no operand makes shorter.
`drawn` has operations of the same kind on operands drawn at random, for the spread of the energy.
A message travels packed, its first field in the most significant bits. Protocol "system" has in place of
requests
a "program" for the processor, {"name", "entry", "segments": [[address, hex bytes]], "symbols"}: its exit code
is the verdict, and
what counts of it is the stats window, less that of the row "dummy".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from ..fl.errors import BadInput
from ..rtl.sim.base import Options
from ..rtl.sim.harness import harness
from ..rtl.sim.native import DRIVER, NativeSimulation
from ..rtl.sim.nativemodel import NativeModel
from ..rtl.sim.ports import Message, Ports
from ..rtl.sim.protocol import BrokenPromise, Progress, Run, SimulationTimeout, UnexpectedResponse
from .product import Product

if TYPE_CHECKING:
    from ..proc.iss.outcome import Outcome
    from ..proc.sim.native import NativeProcSimulation
    from ..proc.software.elf import Program

STREAM, SYSTEM = "stream", "system"
PROTOCOLS = (STREAM, SYSTEM)
BROKEN = (BrokenPromise, SimulationTimeout, UnexpectedResponse)
MOST_CYCLES = 20_000_000  # by default: a minute
STREAM_PORTS = (
    *("clk", "reset", "istream__val", "istream__rdy", "istream__msg"),
    *("ostream__val", "ostream__rdy", "ostream__msg"),
)
DUMMY = "dummy"  # the row with the overhead of a call


class Failure(msgspec.Struct, omit_defaults=True):
    """A row whose answers are wrong, or a program that says so."""

    name: str
    expected: list[str] | None = None
    got: list[str] | None = None
    exit_code: int | None = None
    reason: str | None = None


class Simulated(Product):
    """How the rows of a workload did somewhere, and the cycles of its energy workloads."""

    STEP: ClassVar[str] = "rtl-sim"

    tests_passed: int
    tests_failed: int
    failures: list[Failure]
    cycles: dict[str, int]
    seconds: float = 0.0

    @classmethod
    def of(cls, workload: Workload, failures: list[Failure], cycles: Mapping[str, int]) -> Simulated:
        """Return the result of programs, less the cycles of a dummy that does all but the computation."""
        dummy = cycles.get(DUMMY, 0)
        rows = len(workload.rows) + len(workload.energy)
        counted = {
            name: row.whole_cycles or cycles[name] - dummy
            for name, row in workload.energy.items()
            if name in cycles
        }
        return cls(
            tests_passed=rows - len(failures), tests_failed=len(failures), failures=failures, cycles=counted
        )

    @classmethod
    def hopeless(cls, workload: Workload, reason: str) -> Simulated:
        """Return the result of a design that hangs or breaks the protocol: no row has passed."""
        rows = len(workload.rows) + len(workload.energy)
        failures = [Failure("all rows", reason=reason)]
        return cls(tests_passed=0, tests_failed=rows, failures=failures, cycles={})


@dataclass(frozen=True)
class Row:
    """Requests that belong together, and what is right; or a program."""

    name: str
    requests: tuple[int, ...] = ()
    expected: tuple[int, ...] = ()
    statics: Mapping[str, int] = field(default_factory=dict)
    source_delay: int = 0
    sink_delay: int = 0
    program: Mapping[str, Any] | None = None
    whole_cycles: int = (
        0  # of an operation too long to be simulated as gates, of which this is a window; 0: it is the whole
    )
    window_cycles: int = 0  # the cycles, from the first request on, in which is counted what moves; 0: all

    @classmethod
    def of(cls, name: str, data: Mapping[str, Any]) -> Row:
        """From JSON."""
        numbers = {
            key: tuple(_number(value, f"{name}, {key}") for value in data.get(key, ()))
            for key in ("requests", "expected")
        }
        if len(numbers["requests"]) != len(numbers["expected"]):
            raise ValueError(
                f"{name} has {len(numbers['requests'])} requests and {len(numbers['expected'])} answers"
            )
        return cls(
            data.get("name", name),
            statics={
                port: _number(value, f"{name}, {port}") for port, value in data.get("statics", {}).items()
            },
            source_delay=int(data.get("source_delay", 0)),
            sink_delay=int(data.get("sink_delay", 0)),
            program=data.get("program"),
            whole_cycles=int(data.get("whole_cycles", 0)),
            window_cycles=int(data.get("window_cycles", 0)),
            **numbers,
        )


@dataclass(frozen=True)
class Workload:
    """A whole workload.json."""

    protocol: str
    ports: Ports | None  # of a stream
    names: Mapping[str, str]
    max_cycles: int
    rows: tuple[Row, ...]
    energy: Mapping[str, Row]
    drawn: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)  # of the same names

    @property
    def programs(self) -> list[tuple[str, Row]]:
        """All rows by name, those with an energy last."""
        return [*((row.name, row) for row in self.rows), *self.energy.items()]


def load(path: Path) -> Workload:
    """The workload in a file; BadInput if it is none."""
    try:
        data = json.loads(Path(path).read_text())
        protocol = data.get("protocol", STREAM)
        if protocol not in PROTOCOLS:
            raise ValueError(f"protocol {protocol!r}")
        loaded = Workload(
            protocol,
            _ports(data["ports"]) if protocol == STREAM else None,
            data.get("names", {}),
            data.get("max_cycles", MOST_CYCLES),
            tuple(Row.of(f"row {index}", row) for index, row in enumerate(data.get("rows", ()))),
            {name: Row.of(name, row) for name, row in data.get("energy", {}).items()},
            {
                name: tuple(Row.of(f"{name}, drawn {number}", row) for number, row in enumerate(rows, 1))
                for name, rows in data.get("drawn", {}).items()
            },
        )
        if loaded.ports is not None:
            _check_fit(loaded, loaded.ports)
        return loaded
    except OSError as error:
        raise BadInput(f"the vectors {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        reason = "it is not text"
    except json.JSONDecodeError as error:
        reason = f"line {error.lineno}, column {error.colno}: {error.msg}"
    except KeyError as error:
        reason = f"it has no {error.args[0]!r}"
    except (TypeError, AttributeError):
        reason = "a part of it is of another kind than in the example"
    except (ValueError, BadInput) as error:
        reason = str(error)
    raise BadInput(f"{path} is no workload.json ({reason}): flow/README.md shows one")


def _number(value: Any, where: str) -> int:
    try:
        number = value if isinstance(value, int) else int(value, 0)
    except (TypeError, ValueError):
        raise ValueError(f'{where}: {value!r} is no number; write 5, "5" or "0x5"') from None
    if number < 0:
        raise ValueError(
            f"{where}: {number} is negative; write the bits of the message as a number from 0 up"
        )
    return number


def _width(value: Any, where: str) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"{where}: nbits is {value!r}; give a whole number from 1 up")
    return value


def _ports(data: Mapping[str, Any]) -> Ports:
    def message(port: str) -> Message:
        kind = data[port]
        nbits = _width(kind["nbits"], port)
        fields = tuple((name, _width(width, f"{port}, {name}")) for name, width in kind.get("fields", ()))
        if fields and sum(width for _, width in fields) != nbits:
            raise ValueError(
                f"{port}: its fields have {sum(width for _, width in fields)} bits, and nbits is {nbits}"
            )
        return Message(nbits, fields)

    statics = tuple((name, Message(_width(nbits, name))) for name, nbits in data.get("statics", ()))
    return Ports(message("request"), message("response"), statics)


def _check_fit(work: Workload, ports: Ports) -> None:
    """ValueError or BadInput for messages wider than their ports, and for static ports that are not
    announced.
    """
    drawn = (row for rows in work.drawn.values() for row in rows)
    for row in (*work.rows, *work.energy.values(), *drawn):
        for port, kind, values in (
            ("request", ports.request, row.requests),
            ("response", ports.response, row.expected),
        ):
            for value in values:
                if value >> kind.nbits:
                    raise ValueError(
                        f"{row.name}: {value:#x} does not fit into the {kind.nbits} bits of the {port}"
                    )
        ports.pack_statics(row.statics)


def check_names(work: Workload, top: str, verilog: str) -> None:
    """BadInput for a port of the vectors that no word of the Verilog is."""
    if work.ports is None:
        return
    usual = [*STREAM_PORTS, *(name for name, _ in work.ports.statics)]
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


def ports_json(ports: Ports) -> dict[str, Any]:
    """The inverse, for those who write a workload.json."""
    return {
        "request": {"nbits": ports.request.nbits, "fields": ports.request.fields},
        "response": {"nbits": ports.response.nbits, "fields": ports.response.fields},
        "statics": [(name, kind.nbits) for name, kind in ports.statics],
    }


def program(row: Row) -> Program:
    """The program of a row."""
    from ..proc.software.elf import Program

    data = row.program
    if data is None:
        raise BadInput(f"{row.name} of the workload has no program: a system runs nothing else")
    segments = tuple((addr, bytes.fromhex(content)) for addr, content in data["segments"])
    return Program(data["name"], data["entry"], segments, data.get("symbols", {}))


def program_json(program: Program) -> dict[str, Any]:
    """The inverse, for those who write a workload.json."""
    return {
        "name": program.name,
        "entry": program.entry,
        "segments": [(addr, content.hex()) for addr, content in program.segments],
        "symbols": {name: addr for name, addr in program.symbols.items() if name == "tohost"},
    }


class TextSimulation(NativeSimulation):
    """Streams into and out of a design that is Verilog already."""

    def __init__(
        self, verilog: str, top: str, ports: Ports, names: Mapping[str, str], options: Options
    ) -> None:
        self._check(options)
        self.ports = ports
        self._model = NativeModel(verilog + harness(ports).verilog(top, names), DRIVER, options)


def run_streams(
    simulation: NativeSimulation, workload: Workload, progress: Progress | None = None
) -> Simulated:
    """All rows in one run, and each energy workload in one of its own: what rtl_sim.json and gate_sim.json
    say of them.
    """
    failures: list[Failure] = []
    cycles: dict[str, int] = {}
    try:
        if workload.rows:
            _run_rows(simulation, workload.rows, workload.max_cycles, failures, progress)
        for name, row in workload.energy.items():
            run = _run_rows(simulation, [row], workload.max_cycles, failures)
            if row.requests:
                cycles[name] = run.done[-1] - run.accepted[0]
    except BROKEN as error:
        return Simulated.hopeless(workload, str(error))
    return Simulated.of(workload, failures, cycles)


def _run_rows(
    simulation: NativeSimulation,
    rows: Sequence[Row],
    max_cycles: int,
    failures: list[Failure],
    progress: Progress | None = None,
) -> Run:
    """One run; what is answered wrongly goes to `failures`."""
    unpack = simulation.ports.request.unpack
    run = simulation.run(
        [unpack(request) for row in rows for request in row.requests],
        statics=[row.statics for row in rows for _ in row.requests],
        source_delays=[
            0 if index else row.source_delay for row in rows for index in range(len(row.requests))
        ],
        sink_delays=[row.sink_delay for row in rows for _ in row.requests],
        max_cycles=max_cycles,
        progress=progress,
    )
    pack = simulation.ports.response.pack
    answers = [pack(response, "response") for response in run.responses]
    end = 0
    for row in rows:
        start, end = end, end + len(row.requests)
        got = answers[start:end]
        if got != list(row.expected):
            failures.append(Failure(row.name, list(map(hex, row.expected)), list(map(hex, got))))
    return run


def run_programs(simulation: NativeProcSimulation, workload: Workload) -> Simulated:
    """All programs, one after the other."""
    failures: list[Failure] = []
    cycles: dict[str, int] = {}
    for name, row in workload.programs:
        outcome = simulation.run(program(row), max_cycles=workload.max_cycles)
        note_outcome(name, outcome, failures, cycles)
    return Simulated.of(workload, failures, cycles)


def note_outcome(name: str, outcome: Outcome, failures: list[Failure], cycles: dict[str, int]) -> None:
    """Record whether a program failed, and the length of its window."""
    if outcome.exit_code:
        failures.append(Failure(name, exit_code=outcome.exit_code, reason=outcome.reason))
    if outcome.window.cycles is not None:
        cycles[name] = outcome.window.cycles
