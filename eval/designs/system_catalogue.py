"""Catalogue of the systems in paper 001's Table 1: RSA in software or on an accelerator, measured in cycles.

`proc-naive` is the processor alone with the kernel `naive` of `modexlab.proc.software.kernels`;
`procxcel-mont` is the processor with the catalogue's `mont` at its accelerator port; `procbus-mont` has
`mont` on the bus, polled by a driver in C. `procbus-irq-mont` sleeps until the interrupt, and in
`procbus-key-mont` the key is loaded in advance. Cycles are those of the stats window, which contains only the
call of the kernel. Normalised cycles, as in the paper's section 5.1, exclude the window of the dummy, which
returns the expected answer.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ...fl.errors import BadInput, bits, shown, unknown
from ...fl.rsa_keys import SMALLEST_NBITS
from ...proc.iss.outcome import Execution
from ...proc.software import kernels
from ..errors import NoMeasurement
from ..papers.published import by_name
from .catalogue import designs, entry, find
from .interfaces import AXI4LITE, PROCESSOR_PORT
from .soc_system import HARDWARE, ON_BUS, SOFTWARE, SOFTWARE_FAMILY, System, Xcel
from .widths import MAX_NBITS
from .workload_names import NBITS_001, OPERATIONS, Workload, private_operation, workloads

if TYPE_CHECKING:  # not at run time: figures of systems depend on no source of a machine (lab/keys.py)
    from .machine import Design
    from .own import OwnDesign

# Table 1 of the paper, normalised. Our accelerators are compared with the paper's of the same kind.
PUBLISHED = by_name("001", "1")
# the paper's four, and our fastest with each kind of multiplier
DEFAULT_SYSTEMS = (*PUBLISHED, "procxcel-ssmm", "procxcel-heap")

DUMMY, BY_XCEL, BY_BUS = "dummy", "xcel", "bus"  # kernels that do not name a system
# kernels of systems on the bus, by prefix of the name
WAYS = {ON_BUS: BY_BUS, f"{ON_BUS}irq-": "bus-irq", f"{ON_BUS}key-": "bus-key"}
WORD = 32

# systems that the table of couplings compares with the same machine on the bus: the paper's, and our fastest
DEFAULT_ON_BUS = ("procxcel-mont", "procxcel-heap")

# why an operation was not run
DECRYPTS_ALONE = "not run: a machine with the numbers of a private key only decrypts with it"

# software of 2048 bits takes hundreds of millions of cycles
MOST_SOFTWARE_NBITS = 1024


@dataclass(frozen=True)
class SystemKind:
    """A system at any width: its kernel, and its accelerator if it has one."""

    name: str
    kernel: str
    design: "Design | None"
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the design

    @property
    def on_bus(self) -> bool:
        """Whether its accelerator is loosely coupled."""
        return self.name.startswith(ON_BUS)

    @property
    def hardware(self) -> tuple[str, bool, tuple[tuple[str, Any], ...]]:
        """Its hardware, shared by systems that differ only in their program."""
        name = self.design.name if self.design is not None else ""
        return name, self.on_bus, tuple(self.settings.items())

    def xcel(self, nbits: int, mod: int) -> Xcel:
        """The accelerator at this width; a machine with a built-in modulus gets this one."""
        if self.design is None:
            return Xcel()
        own_modulus = any(param.name == "modulus" for param in self.design.params)
        settings = ({"modulus": mod} if own_modulus else {}) | dict(self.settings)
        return Xcel(self.design, nbits, settings, (AXI4LITE if self.on_bus else PROCESSOR_PORT).name)

    @property
    def modulus(self) -> int:
        """The modulus set by hand in place of the key's; 0: none."""
        return self.settings.get("modulus", 0)

    @property
    def caveat(self) -> str:
        """Why its operations differ from those of other systems; empty if they do not."""
        said = f"not RSA: the base and the exponent of the key's operations on modulus {shown(self.modulus)}"
        return said if self.modulus else ""

    def own_work(self, nbits: int, work: Workload) -> Workload | None:
        """Its version of an operation, with its machine's modulus or key; None for an encryption on a machine
        that only decrypts.
        """
        machine = self.xcel(nbits, work.mod).machine
        if machine is None or not machine.keyed:
            return work.on(self.modulus)
        return private_operation(nbits, machine.key) if work.name == "decrypt" else None

    def require(self, nbits: int, work: Workload) -> None:
        """BadInput if the accelerator cannot be built or rejects the operands."""
        machine = self.xcel(nbits, work.mod).machine
        own = self.own_work(nbits, work)
        if machine is not None and own is not None:
            machine.require(*own.operands)


def check_key_width(nbits: int) -> int:
    """Return `nbits`; BadInput if there are no keys or machines of that width."""
    if nbits % 2 or not SMALLEST_NBITS <= nbits <= MAX_NBITS:
        raise BadInput(
            f"an RSA key of {bits(nbits)} is not possible; give an even number, {SMALLEST_NBITS} to "
            f"{MAX_NBITS}"
        )
    return nbits


def system_names() -> list[str]:
    """The names of all systems: software kernels, and the catalogue's accelerators."""
    software = [name for name, kernel in kernels.KERNELS.items() if name != DUMMY and not kernel.accelerated]
    return [f"{SOFTWARE}{name}" for name in software] + [
        f"{prefix}{design.name}" for prefix in (HARDWARE, *WAYS) for design in designs()
    ]


def find_system(name: str, settings: Mapping[str, Any] | None = None) -> SystemKind:
    """The system with these parameters of its accelerator, which can have a name of their own."""
    if name not in system_names():
        raise unknown("system", name, system_names())
    for prefix, kernel in sorted(({HARDWARE: BY_XCEL} | WAYS).items(), reverse=True):  # longer ones first
        if name.startswith(prefix):
            design, chosen = find(name.removeprefix(prefix)).form_of(settings or {})
            return SystemKind(f"{prefix}{design.name}", kernel, design, chosen)
    if settings:
        raise BadInput(f"{name} has no parameter {next(iter(settings))}: software has none; drop it")
    return SystemKind(name, name.removeprefix(SOFTWARE), None)


class PointSubject(NamedTuple):
    """The subject of points: its name in every process, and its design, which software lacks."""

    name: str
    design: "Design | OwnDesign | None"
    is_system: bool = False

    @property
    def family(self) -> str:
        """The family of its design; "software" without one."""
        return SOFTWARE_FAMILY if self.design is None else self.design.family


def subject_of(name: str) -> PointSubject:
    """The design or the system of this name."""
    if name.startswith((SOFTWARE, HARDWARE)):
        return PointSubject(name, find_system(name).design, is_system=True)
    design = entry(name)
    return PointSubject(design.reference, design)


def scanned_nbits(kernel: str, work: Workload) -> int | None:
    """Exponent bits that a constant-time kernel scans for a public exponent; None: the kernel's default."""
    # the length of the public exponent is public; only the private one must be hidden
    short = kernels.find_kernel(kernel).constant_time and work.name == "encrypt"
    return work.exp.bit_length() if short else None


@dataclass(frozen=True)
class Row:
    """One operation on one system. `outcome` is None if it was not run; `note` is the reason, or
    the error.
    """

    system: str
    operation: str
    nbits: int
    outcome: Execution | None
    dummy: int = 0
    note: str = ""
    work: int | None = None  # cycles of the machine itself, which a machine on the bus reports

    def is_tight_of(self, other: "Row") -> bool:
        """Whether `other` is the same operation on the same machine on the bus, and this row is at the
        accelerator port.
        """
        names = {f"{prefix}{self.system.removeprefix(HARDWARE)}" for prefix in WAYS}
        same = (self.operation, self.nbits) == (other.operation, other.nbits)
        return same and self.system.startswith(HARDWARE) and other.system in names

    @property
    def is_software(self) -> bool:
        """Whether the system is the processor alone."""
        return self.system.startswith(SOFTWARE)

    @property
    def transfer(self) -> int | None:
        """Normalised cycles without the machine's own: operands, start, the rest of the wait, the result."""
        return None if self.normalised is None or self.work is None else self.normalised - self.work

    @property
    def ok(self) -> bool:
        """The program found the expected result, or was not run."""
        return self.outcome is None or self.outcome.exit_code == 0

    @property
    def cycles(self) -> int | None:
        """Cycles of the stats window."""
        return self.outcome.window.cycles if self.outcome is not None else None

    @property
    def normalised(self) -> int | None:
        """Cycles without the overhead of the call."""
        return None if self.cycles is None else self.cycles - self.dummy

    @property
    def published(self) -> float | int | None:
        """The paper's figure, also normalised."""
        return PUBLISHED.get(self.system, {}).get(self.operation) if self.nbits == NBITS_001 else None

    @property
    def ratio(self) -> float | None:
        """Ratio to the published figure; below 1 is faster."""
        if self.normalised is None or self.published is None:
            return None
        return round(self.normalised / self.published, 3)


def loosely_coupled(kinds: Sequence[SystemKind]) -> list[SystemKind]:
    """The systems, each one at the accelerator port followed by the same machine on the bus."""
    found = {}
    for kind in kinds:
        found[kind.name] = kind
        if kind.kernel == BY_XCEL and kind.design is not None:
            names = (f"{prefix}{kind.design.name}" for prefix in WAYS)
            found |= {name: find_system(name, kind.settings) for name in names}
    return list(found.values())


def with_work(rows: Sequence[Row]) -> list[Row]:
    """The rows, with the machine's own cycles copied from rows on the bus to those of the same machine at the
    accelerator port.
    """

    def place(row, prefix):
        return row.system.removeprefix(prefix), row.operation, row.nbits

    works = {place(row, ON_BUS): row.work for row in rows if row.work is not None}
    return [replace(row, work=works.get(place(row, HARDWARE), row.work)) for row in rows]


@dataclass(frozen=True)
class Measurement:
    """How rows are measured.

    full: run software at any width. begin: called with the name of the next step; progress: called with
    (cycles, 0) during long runs.
    """

    backend: str = "native"
    full: bool = False
    begin: Callable[[str], None] = lambda _: None
    progress: Callable[[int, int], None] | None = None

    def rows(
        self, kinds: Sequence[SystemKind], widths: Sequence[int], operations: Sequence[str] = OPERATIONS
    ) -> Iterator[Row]:
        """Measure rows, by width. BadInput, before anything runs, if an accelerator is impossible or rejects
        its operands.
        """
        asked = [(nbits, [work for work in workloads(nbits) if work.name in operations]) for nbits in widths]
        for nbits, works in asked:
            for work, kind in itertools.product(works, kinds):
                kind.require(nbits, work)
        self.begin(f"processor, {self.backend}")
        with System(backend=self.backend) as bare:
            for nbits, works in asked:
                dummies = {work.name: self._overhead(bare, nbits, work) for work in works}
                too_long = nbits > MOST_SOFTWARE_NBITS and not self.full
                for _, group in itertools.groupby(kinds, key=lambda kind: kind.hardware):
                    alike = list(group)
                    first = alike[0]
                    if first.design is not None:
                        self.begin(f"{first.name}, {nbits} bits, {self.backend}")
                    with self._system(first, nbits, works[0], bare) as system:
                        for kind, work in itertools.product(alike, works):
                            if kind.design is None and too_long:
                                row = Row(kind.name, work.name, nbits, None, note="not run; --full runs it")
                            else:
                                row = self._row_of(kind, system, nbits, work)
                            yield replace(row, dummy=dummies[work.name])

    def _system(
        self, kind: SystemKind, nbits: int, work: Workload, bare: System
    ) -> contextlib.AbstractContextManager[System]:
        """The hardware of a system; all software shares `bare`."""
        if kind.design is None:
            return contextlib.nullcontext(bare)
        return System(kind.xcel(nbits, work.mod), backend=self.backend)

    def row(self, kind: SystemKind, nbits: int, operation: str, dummy: int) -> Row:
        """One operation on one system, with the overhead of the call that `overhead` measured."""
        work = workloads(nbits)[OPERATIONS.index(operation)]
        kind.require(nbits, work)
        with System(kind.xcel(nbits, work.mod), backend=self.backend) as system:
            return replace(self._row_of(kind, system, nbits, work), dummy=dummy)

    def _row_of(self, kind: SystemKind, system: System, nbits: int, work: Workload) -> Row:
        own = kind.own_work(nbits, work)
        if own is None:
            return Row(kind.name, work.name, nbits, None, note=DECRYPTS_ALONE)
        row = self._run(system, kind.kernel, nbits, own)
        return replace(row, system=kind.name, note=row.note or kind.caveat)

    def overhead(self, nbits: int, operation: str) -> int:
        """Cycles of the dummy at this width."""
        with System(backend=self.backend) as bare:
            return self._overhead(bare, nbits, workloads(nbits)[OPERATIONS.index(operation)])

    def _overhead(self, bare: System, nbits: int, work: Workload) -> int:
        """Cycles of the dummy, which are subtracted from all others."""
        row = self._run(bare, DUMMY, nbits, work)
        if not row.ok or not row.cycles:
            why = row.note or "its stats window has no cycles"
            raise NoMeasurement(f"the dummy of {nbits} bits, {work.name}, which normalises all cycles: {why}")
        return row.cycles

    def _run(self, system: System, kernel: str, nbits: int, work: Workload) -> Row:
        self.begin(f"{kernel} on {system.xcel.name}, {nbits} bits, {work.name}, {self.backend}")
        machine = system.xcel.machine
        carried = work.operands if machine is None else machine.carried(*work.operands)
        base, exp, mod, *given = carried
        # with CRT the request has the public exponent, whose power is not the expected result
        more: dict[str, Any] = {} if carried[:3] == work.operands else {"expected": work.golden}
        more |= {"exp_nbits": scanned_nbits(kernel, work), "given": given}
        program = kernels.kernel_program(kernel, nbits, base, exp, mod, **more)
        outcome = system.run(program, progress=self.progress)
        note = "" if outcome.exit_code == 0 else outcome.explain(program)
        counted = None
        if system.xcel.on_bus and outcome.exit_code == 0:
            low, high = outcome.output[-2:]  # of the register, which counts one cycle too many
            counted = (high << WORD | low) - 1
        return Row(kernel, work.name, nbits, outcome, note=note, work=counted)
