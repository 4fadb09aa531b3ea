"""A chip with an accelerator, and programs that run on it in Verilator.

Machines of the catalogue run an RSA round trip; any other accelerator is called with requests of its table.

    chip = Chip(find("mont").at(64), "vexriscv")
    outcome = round_trip(chip, interrupt=True).run()

rtl/sim/build.py compiles the model once for each machine and CPU, and caches it; the program is a file that
the ROM reads.
"""

import functools
import importlib.util
import itertools
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ....fl.accelerator import Message
from ....fl.axi4lite import address_nbits
from ....fl.errors import BadInput
from ....fl.xcel import from_words, words_of
from ....proc.software.compiler import DRIVER_FILES
from ....proc.software.seeded_keys import seeded_key
from ....rtl.sim import build
from ....rtl.sim.toolchain import running
from ...designs.interfaces import AXI4LITE
from ...designs.levels import check_rows
from ...designs.machine import Machine
from ...designs.runnable import Runnable
from ...designs.verilog.machine import verilog
from ...designs.workload_names import Workload, key_operations
from .program import Software, calls_header, operands_header, software

if TYPE_CHECKING:
    from .board import Board

BENCH = Path(__file__).with_name("bench.cpp")
OPT = "-O2"
ROM = "soc_rom.init"
NETTYPE = "`default_nettype wire\n"
STATUS = "status"
MOST_ROWS = 8  # rows of a table that are called


def require_litex(cpu: str) -> None:
    """Raise ModuleNotFoundError for a missing package, before any long work."""
    for module in ("migen", "litex", f"pythondata_cpu_{cpu}"):
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)


class ChipError(RuntimeError):
    """A program that did not finish."""


@dataclass
class Output:
    """Output of the chip's port."""

    text: list[str] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)  # the mark, the cycle
    code: int | None = None
    cycles: int = 0


class Chip:
    """The chip with this accelerator and CPU."""

    def __init__(self, machine: Runnable, cpu: str) -> None:
        machine.require_no_memory("which a chip of LiteX does not connect yet; take `modexlab proc`")
        self.machine: Any = machine
        self.cpu = cpu

    @functools.cached_property
    def top(self) -> str:
        """The name of the accelerator's module."""
        return self.machine.top(AXI4LITE)

    @functools.cached_property
    def accelerator(self) -> str:
        """The Verilog of the accelerator, as `modexlab verilog` writes it."""
        return verilog(self.machine, AXI4LITE.name)

    @functools.cached_property
    def board(self) -> "Board":
        """The board around the accelerator."""
        from .board import make_board

        return make_board(self.top, self.cpu, address_nbits(self.machine.shape))

    @functools.cached_property
    def verilog(self) -> str:
        """The Verilog of the whole chip, without the header of the accelerator, which names a commit."""
        hardware = self.accelerator.partition("\n\n")[2]
        return NETTYPE.join((self.board.verilog, *self.board.cpu_verilog.values(), hardware))

    @functools.cached_property
    def model(self) -> Path:
        """The compiled simulation."""
        return build.program(self.verilog, "soc", BENCH.read_text(), OPT)

    def software(
        self, main: str, operands: str = "", driver: Sequence[Path] = DRIVER_FILES, **macros: bool
    ) -> Software:
        """The program with this file's `main`."""
        from .board import BASE

        addresses = {"machine": BASE, **self.board.addresses}
        numbers = {"interrupt": self.board.interrupt}
        return software(main, self.cpu, addresses, numbers, operands, driver, **macros)

    def memories(self, program: Software) -> dict[str, str]:
        """The files that initialise the memories."""
        return self.board.memories | {ROM: "".join(f"{word:08x}\n" for word in program.image())}

    def run(
        self, program: Software, max_cycles: int, progress: Callable[[int], object] | None = None
    ) -> Output:
        """Run a program to its end."""
        output = Output()
        with tempfile.TemporaryDirectory(prefix="modexlab-") as own:
            for name, text in self.memories(program).items():
                (Path(own) / name).write_text(text)
            command: list[str | Path] = [self.model, str(max_cycles)]
            with running(command, name="the chip's simulation", cwd=own, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    _take(output, line.rstrip("\n"), progress)
        if output.code is None:
            said = "; ".join(output.text) or "nothing"
            raise ChipError(f"the program has not ended after {max_cycles} cycles; it printed: {said}")
        return output


def _take(output: Output, line: str, progress: Callable[[int], object] | None) -> None:
    """Parse a line of the bench."""
    match line.split(" "):
        case "text", *words:
            output.text.append(" ".join(words))
        case "word", word:
            output.words.append(int(word))
        case "mark", mark, cycle:
            output.marks.append((int(mark), int(cycle)))
        case "stop", code, cycle:
            output.code, output.cycles = int(code), int(cycle)
        case "cycles", cycle if progress is not None:
            progress(int(cycle))


# ---- programs that call the accelerator


class Call(NamedTuple):
    """A call of the accelerator; phases are in cycles of the CPU."""

    name: str
    phases: Mapping[str, int]
    request: Message
    response: Message
    expected: Message
    ok: bool


class ProgramRun(NamedTuple):
    """Calls of one program."""

    calls: tuple[Call, ...]
    output: Output
    complete: bool

    @property
    def ok(self) -> bool:
        """All calls were made, and both the program and this module found the right results."""
        return self.output.code == 0 and self.complete and all(call.ok for call in self.calls)


@dataclass(frozen=True)
class Program:
    """A program whose marks delimit the phases of its calls, and whose output words are their results."""

    chip: Chip
    software: Callable[[], Software]
    requests: Sequence[tuple[str, Message]]  # by name, one for each call
    expected: Sequence[Message]
    cycles: int  # an upper bound on those of the accelerator
    phases: tuple[str, ...]
    first: str  # first output of a call: the status, or the cycles that the accelerator counted
    first_words: int = 1

    def run(self, progress: Callable[[int], object] | None = None) -> ProgramRun:
        """Run the program to its end."""
        shape = self.chip.machine.shape
        transfers = sum(AXI4LITE.transfers(shape, request) for _, request in self.requests)
        output = self.chip.run(self.software(), 2 * self.cycles + 500 * transfers + 100_000, progress)
        marks, words = iter(cycle for _, cycle in output.marks), iter(output.words)
        sizes = [self.first_words, *(words_of(nbits) for _, nbits in shape.results)]
        calls = []
        for (name, request), expected in zip(self.requests, self.expected, strict=True):
            begin = [*itertools.islice(marks, len(self.phases) + 1)]
            if len(begin) <= len(self.phases):
                break  # the program ended early
            cycles = [later - earlier for earlier, later in itertools.pairwise(begin)]
            phases = dict(zip(self.phases, cycles, strict=True), whole=sum(cycles))
            first, *results = (from_words(itertools.islice(words, size)) for size in sizes)
            phases |= {self.first: first}
            has_status = self.first == STATUS and shape.has_status
            response = (first, *results) if has_status else tuple(results)
            compared = 1 if has_status and first else None  # a refused request has no results
            ok = response[:compared] == expected[:compared]
            calls.append(Call(name, phases, request, response, expected, ok))
        return ProgramRun(tuple(calls), output, len(calls) == len(self.requests))


def works(machine: Machine) -> tuple[Workload, Workload]:
    """Encryption and decryption with the longest key that fits; BadInput if the machine cannot encrypt."""
    if machine.keyed:
        raise BadInput(
            f"{machine.design.name} with CRT, blinding or a check only decrypts, and the chip's program "
            "encrypts with it, too; "
            "leave out crt, blind and verify, or run `modexlab proc systems`, whose processor drives such a "
            "machine"
        )
    nbits = machine.modulus_nbits // 2 * 2
    return key_operations(nbits, seeded_key(nbits))


def round_trip(chip: Chip, interrupt: bool) -> Program:
    """RSA on a machine of the catalogue: encryption and decryption."""
    machine = chip.machine
    encrypt, decrypt = works(machine)
    numbers = {
        "modulus": encrypt.mod,
        "public_exponent": encrypt.exp,
        "private_exponent": decrypt.exp,
        "message": encrypt.base,
        "ciphertext": decrypt.base,
    }
    requests = [(work.name, machine.carried(*work.operands)) for work in (encrypt, decrypt)]
    given = requests[0][1][3:]
    operands = operands_header(machine.nbits, numbers, given)
    return Program(
        chip,
        lambda: chip.software("round_trip.c", operands, by_interrupt=interrupt),
        requests,
        [(encrypt.golden,), (decrypt.golden,)],
        sum(machine.cycles(*work.operands) for work in (encrypt, decrypt)),
        ("load", "start", "wait", "read"),
        "machine",
        2,
    )


def table_calls(chip: Chip) -> Program:
    """Calls of any accelerator with the first requests of its table."""
    machine = chip.machine
    rows = machine.rows()[:MOST_ROWS]
    check_rows(machine, rows)
    requests = [row.request for row in rows]
    answers = machine.answers(requests)
    header = calls_header(machine, requests, answers)
    return Program(
        chip,
        lambda: chip.software("call.c", header, driver=()),
        [(row.name, row.request) for row in rows],
        answers,
        machine.most_cycles(requests),
        ("call",),
        STATUS,
    )
