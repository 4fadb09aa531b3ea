"""A chip with an accelerator, and programs that run on it in Verilator.

The program of a machine of the catalogue is RSA there and back; any other accelerator is called with requests
of its table.

    chip = Chip(find("mont").at(64), "vexriscv")
    trip = round_trip(chip, interrupt=True)

The model is compiled once for each machine and CPU, by rtl/sim/build.py, and kept in the cache; the program
comes as a file that the ROM reads.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....fl.accelerator import Message, Row
from ....fl.axi4lite import address_nbits
from ....fl.errors import BadInput
from ....fl.xcel import WORD_NBITS, words_of
from ....proc.software.compiler import DRIVER_FILES
from ....proc.software.seeded_keys import seeded_key
from ....rtl.sim import build
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
LOAD, START, WAIT, READ, END = range(1, 6)  # marks of round_trip.c
MOST_ROWS = 8  # of a table that are called


def require_litex(cpu: str) -> None:
    """A missing package, before long work."""
    for module in ("migen", "litex", f"pythondata_cpu_{cpu}"):
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)


class ChipError(RuntimeError):
    """A program that did not come to its end."""


@dataclass
class Output:
    """Output of the serial port."""

    text: list[str] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)  # the mark, the cycle
    code: int | None = None
    cycles: int = 0


class Chip:
    """The chip with this accelerator and CPU."""

    def __init__(self, machine: Runnable, cpu: str) -> None:
        self.machine: Any = machine
        self.cpu = cpu

    @functools.cached_property
    def top(self) -> str:
        """The name of the accelerator's module."""
        return self.machine.top(AXI4LITE)

    @functools.cached_property
    def accelerator(self) -> str:
        """Its Verilog, as `modexlab verilog` writes it."""
        return verilog(self.machine, AXI4LITE.name)

    @functools.cached_property
    def board(self) -> Board:
        """Return the board around it."""
        from .board import make_board

        return make_board(self.top, self.cpu, address_nbits(self.machine.shape))

    @functools.cached_property
    def verilog(self) -> str:
        """All of it."""
        return NETTYPE.join((self.board.verilog, *self.board.cpu_verilog.values(), self.accelerator))

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
        """The files from which the memories are filled."""
        return self.board.memories | {ROM: "".join(f"{word:08x}\n" for word in program.image())}

    def run(
        self, program: Software, max_cycles: int, progress: Callable[[int], object] | None = None
    ) -> Output:
        """Run a program to its end."""
        output = Output()
        with tempfile.TemporaryDirectory(prefix="modexlab-") as own:
            for name, text in self.memories(program).items():
                (Path(own) / name).write_text(text)
            with subprocess.Popen(
                [str(self.model), str(max_cycles)], cwd=own, stdout=subprocess.PIPE, text=True
            ) as process:
                assert process.stdout is not None
                try:
                    for line in process.stdout:
                        _take(output, line.rstrip("\n"), progress)
                except BaseException:
                    process.kill()
                    raise
        if output.code is None:
            said = "; ".join(output.text) or "nothing"
            raise ChipError(f"the program has not ended after {max_cycles} cycles; it printed: {said}")
        return output


def _take(output: Output, line: str, progress: Callable[[int], object] | None) -> None:
    """A line of the bench."""
    kind, _, rest = line.partition(" ")
    if kind == "text":
        output.text.append(rest)
        return
    numbers = [int(word) for word in rest.split()]
    if kind == "word":
        output.words.append(numbers[0])
    elif kind == "mark":
        output.marks.append((numbers[0], numbers[1]))
    elif kind == "stop":
        output.code, output.cycles = numbers
    elif kind == "cycles" and progress is not None:
        progress(numbers[0])


# ---- the round trip


@dataclass(frozen=True)
class Call:
    """An exponentiation as the CPU sees it, in cycles."""

    operation: str
    load: int  # of the key
    start: int  # write the base, start
    wait: int
    read: int
    machine: int  # by its own counter
    result: int
    expected: int

    @property
    def whole(self) -> int:
        return self.load + self.start + self.wait + self.read


@dataclass(frozen=True)
class RoundTrip:
    """Encryption and decryption by one program."""

    chip: Chip
    interrupt: bool
    calls: tuple[Call, ...]
    output: Output

    @property
    def key_nbits(self) -> int:
        return works(self.chip.machine)[0].mod.bit_length()

    @property
    def ok(self) -> bool:
        """The program found all right, and so does who has read what it put out."""
        return self.output.code == 0 and all(call.result == call.expected for call in self.calls)


def works(machine: Machine) -> tuple[Workload, Workload]:
    """With the longest key that the machine takes; BadInput for one that does not encrypt."""
    if machine.keyed:
        raise BadInput(
            f"{machine.design.name} with CRT, blinding or a check only decrypts, and the chip's program "
            "encrypts with it, too; "
            "leave out crt, blind and verify, or run `modexlab proc systems`, whose processor drives such a "
            "machine"
        )
    nbits = machine.modulus_nbits // 2 * 2
    return key_operations(nbits, seeded_key(nbits))


def round_trip_software(chip: Chip, interrupt: bool) -> Software:
    """Encrypts and decrypts."""
    machine = chip.machine
    encrypt, decrypt = works(machine)
    numbers = {
        "modulus": encrypt.mod,
        "public_exponent": encrypt.exp,
        "private_exponent": decrypt.exp,
        "message": encrypt.base,
        "ciphertext": decrypt.base,
    }
    _, _, _, *given = machine.carried(*encrypt.operands)
    return chip.software(
        "round_trip.c", operands_header(machine.nbits, numbers, given), by_interrupt=interrupt
    )


def expected_cycles(machine: Machine) -> int:
    """Return the cycles of the machine in a round trip."""
    return sum(machine.cycles(*work.operands) for work in works(machine))


def round_trip(chip: Chip, interrupt: bool, progress: Callable[[int], object] | None = None) -> RoundTrip:
    """Run it."""
    machine = chip.machine
    most = 2 * expected_cycles(machine) + 2000 * words_of(machine.nbits) + 100_000
    output = chip.run(round_trip_software(chip, interrupt), most, progress)
    words, count = iter(output.words), words_of(machine.nbits)
    calls = []
    for i, work in enumerate(works(machine)):
        marks = output.marks[5 * i : 5 * i + 5]
        if [mark for mark, _ in marks] != [LOAD, START, WAIT, READ, END]:
            break  # the program has ended before
        begin = [cycle for _, cycle in marks]
        low, high, *result = (next(words) for _ in range(2 + count))
        load, start, wait, read = (later - earlier for earlier, later in itertools.pairwise(begin))
        value = sum(word << (WORD_NBITS * place) for place, word in enumerate(result))
        calls.append(Call(work.name, load, start, wait, read, high << 32 | low, value, work.golden))
    return RoundTrip(chip, interrupt, tuple(calls), output)


# ---- calls of any accelerator


@dataclass(frozen=True)
class RowCall:
    """A call with a request of the table, in cycles of the CPU."""

    row: Row
    cycles: int
    response: Message
    expected: Message
    refused: bool

    @property
    def ok(self) -> bool:
        """The response is right; a refused request has no results."""
        return self.response[0] == self.expected[0] if self.refused else self.response == self.expected


@dataclass(frozen=True)
class TableCalls:
    """The calls of one program."""

    chip: Chip
    calls: tuple[RowCall, ...]
    output: Output

    @property
    def ok(self) -> bool:
        """All calls were made, and the program and this module found all right."""
        complete = len(self.calls) == len(rows_of(self.chip.machine))
        return self.output.code == 0 and complete and all(call.ok for call in self.calls)


def rows_of(accelerator: Runnable) -> Sequence[Row]:
    """The requests that are called: the first of the table, in order."""
    rows = accelerator.rows()[:MOST_ROWS]
    check_rows(accelerator, rows)
    return rows


def calls_software(chip: Chip) -> Software:
    """Calls the accelerator with each of these requests."""
    requests = [row.request for row in rows_of(chip.machine)]
    return chip.software(
        "call.c", calls_header(chip.machine, requests, chip.machine.answers(requests)), driver=()
    )


def calls_cycles(accelerator: Runnable) -> int:
    """Cycles of the accelerator in these calls at most."""
    return accelerator.most_cycles([row.request for row in rows_of(accelerator)])


def table_calls(chip: Chip, progress: Callable[[int], object] | None = None) -> TableCalls:
    """Run them."""
    machine, rows = chip.machine, rows_of(chip.machine)
    shape = machine.shape
    transfers = sum(AXI4LITE.transfers(shape, row.request) for row in rows)
    output = chip.run(calls_software(chip), 2 * calls_cycles(machine) + 500 * transfers + 100_000, progress)
    answers = machine.answers([row.request for row in rows])
    sizes = [1, *(words_of(nbits) for _, nbits in shape.results)]
    marks, size = [cycle for _, cycle in output.marks], sum(sizes)
    calls = []
    for index, (row, expected) in enumerate(zip(rows, answers, strict=True)):
        words = iter(output.words[size * index : size * (index + 1)])
        numbers = tuple(
            sum(word << WORD_NBITS * place for place, word in enumerate(itertools.islice(words, count)))
            for count in sizes
        )
        if len(marks) < 2 * (index + 1):
            break  # the program has ended before
        begin, end = marks[2 * index : 2 * index + 2]
        response = numbers if shape.has_status else numbers[1:]
        refused = shape.has_status and expected[0] != 0
        calls.append(RowCall(row, end - begin, response, expected, refused))
    return TableCalls(chip, tuple(calls), output)
