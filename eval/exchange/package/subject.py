"""Subject: the accelerator that a package contains, behind its interface, with its test requests and
documentation.

It has the requests of the testbench, the C by which a program calls it, and its paragraphs of the data
sheet. All of that follows from the protocol of accelerators; exponentiation.py is about RSA machines.
"""

import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....fl import axi4lite
from ....fl.accelerator import WORD_NBITS, Message
from ....fl.errors import BadInput
from ....fl.status import Status
from ....fl.xcel import GO, STATUS, operand_registers
from ....proc.software.call_header import call_header, identifier
from ....rtl.sim.base import elaborate
from ...designs.interfaces import AXI4LITE, STREAM, XCEL, Interface
from ...designs.levels import check_rows
from ...designs.runnable import Runnable
from ...designs.verilog.machine import codes, settings
from ...table import markdown_table

SPARE_CYCLES = 10_000
MOST_COMPARED = 64  # requests
ONLY = re.compile(r"^@([\w-]+): ?(.*\n)", re.MULTILINE)


@dataclass(frozen=True)
class Reuse:
    """Two requests of which the second writes some fields anew, for a bus that keeps the others."""

    first: Message
    second: Message
    rewritten: Collection[str]
    comments: tuple[str, str, str]  # of both, and of zeroise


class Subject:
    """An accelerator behind an interface."""

    golden = "expected answers are those of its functional model"  # where they come from, in a sentence
    operands = "all fields"  # of a request, in words

    def __init__(self, machine: Any, interface: Interface) -> None:
        self.machine: Any = machine
        self.interface = interface
        machine.require_no_memory(
            "which the testbench of a package does not drive yet; take `modexlab verilog`"
        )
        if machine.shape.statics:
            names = ", ".join(name for name, _ in machine.shape.statics)
            raise BadInput(
                f"{machine.name} has static ports ({names}), which the testbench of a package does not "
                "drive; make them fields of the request"
            )

    @functools.cached_property
    def component(self) -> Any:
        """The exported hardware, elaborated."""
        component = self.machine.exported(self.interface)
        elaborate(component)
        return component

    @property
    def title(self) -> str:
        """Accelerator, width and design."""
        return f"Accelerator {self.machine.name} of {self.machine.nbits} bits{self.place}"

    @property
    def place(self) -> str:
        """The interface in a title, unless it is the accelerator's own."""
        return f" {self.interface.title}" if self.interface.behind else ""

    @property
    def about(self) -> str:
        """The first words of the data sheet."""
        return f"{self.title}: {self.machine.design.summary}"

    # ---- the testbench

    @functools.cached_property
    def requests(self) -> list[tuple[str, Message]]:
        """Named requests: those of its table, and one with a field that is too wide."""
        shape, rows = self.machine.shape, self.machine.rows()
        check_rows(self.machine, rows)
        found = [(re.sub(r"[\s\\]+", " ", row.name), tuple(map(int, row.request))) for row in rows]
        if Status.TOO_WIDE in self.interface.more_statuses(shape):
            name, nbits = min(shape.request, key=lambda field: field[1])
            wide = tuple(1 << nbits if field == name else 0 for field, _ in shape.request)
            found.append((f"a value too wide for {name}", wide))
        return found

    def compute(self) -> Callable[..., Sequence[int]]:
        """The functional model, starting from reset."""
        return self.machine.computing()

    @property
    def longest(self) -> int:
        """An upper bound on the cycles of a request: twice the most, and SPARE_CYCLES."""
        return 2 * max(self.machine.most_cycles([request]) for request in self._fitting) + SPARE_CYCLES

    @property
    def _fitting(self) -> list[Message]:
        """The requests whose values fit the fields."""
        fields = self.machine.shape.request
        return [
            request
            for _, request in self.requests
            if not any(value >> nbits for value, (_, nbits) in zip(request, fields, strict=True))
        ]

    @property
    def reuse(self) -> Reuse:
        """Requests for a bus that keeps fields: the two of the table that share most."""

        def shared(pair):
            return pair[0] != pair[1], sum(one == other != 0 for one, other in zip(*pair, strict=True))

        table = self._fitting[:MOST_COMPARED]
        first, second = max(itertools.permutations(table, 2), key=shared, default=(table[0], table[0]))
        named = zip(self.machine.shape.request, first, second, strict=True)
        changed = [name for (name, _), one, other in named if one != other]
        comment = f"another, of which only {', '.join(changed)} is written" if changed else "the same again"
        return Reuse(first, second, {*changed}, ("a request", comment, "fields of 0"))

    @property
    def shown(self) -> tuple[Runnable, Message]:
        """The accelerator and the request of the timing diagrams: the quickest that is not refused."""
        machine, model, fitting = self.machine, self.compute(), self._fitting
        done = [request for request in fitting if not (machine.shape.has_status and model(*request)[0])]
        return machine, min(done or fitting, key=lambda request: machine.cycles(*request) or machine.longest)

    # ---- the program

    @property
    def software(self) -> dict[str, str]:
        """The C by which a program calls it on the bus, by file name."""
        machine = self.machine
        text = call_header(machine.name, machine.nbits, machine.shape, on_bus=True)
        return {f"{identifier(machine.name)}.h": text}

    # ---- the data sheet

    @property
    def properties(self) -> list[tuple[str, str]]:
        """The first table."""
        machine = self.machine
        return [
            ("computes", machine.design.summary),
            ("width", f"{machine.nbits} bits"),
            ("interface", self.interface.title.removeprefix("behind ")),
            ("constant time", self.promise),
        ]

    @property
    def parameters(self) -> list[tuple[str, str, str]]:
        """Its parameters, with what they mean."""
        return [(name, f"`{short(value)}`", meaning) for name, value, meaning in settings(self.machine)]

    @property
    def promise(self) -> str:
        """Whether the cycles depend on fields, in a sentence."""
        machine = self.machine
        names = dict(machine.shape.request)
        if machine.constant_time:
            which = ", ".join(name for name in names if name in machine.steady)
            return f"yes: the number of cycles does not depend on {which}"
        hidden = [name for name in machine.secret or names if name not in machine.steady]
        secret = ", which must stay secret" if machine.secret else ""
        return f"no: the number of cycles may depend on {', '.join(hidden)}{secret}"

    def fields(self) -> list[tuple[str, str, str, str]]:
        """Message, name, bits and place of all fields."""
        shape = self.machine.shape
        places: Sequence[str] = ["istream"] * len(shape.request)
        status = result = "ostream"
        if self.interface is AXI4LITE:
            places, status, result = axi4lite.operand_names(shape), "STATUS, code", "RESULT"
        elif self.interface is XCEL:
            places = [f"xr{number}" for number in operand_registers(shape)]
            status, result = f"xr{STATUS}", f"xr{GO}"
        rows = [
            ("request", f"`{name}`", str(nbits), place)
            for (name, nbits), place in zip(shape.request, places, strict=True)
        ]
        if shape.has_status:
            rows.append(("response", "`status`", str(shape.response[0][1]), status))
        for number, (name, nbits) in enumerate(shape.results):
            word = number * shape.stride // WORD_NBITS
            where = f", from word {word} on" if self.interface.counts_accesses else ""
            rows.append(("response", f"`{name}`", str(nbits), f"{result}{where}"))
        return rows

    def given(self) -> Iterator[str]:
        """Paragraphs about numbers that come with an operation."""
        return iter(())

    def codes(self) -> Mapping[int, str]:
        """The statuses in words."""
        return codes(self.machine, self.interface)

    def cycles(self) -> Iterator[str]:
        """The paragraphs and the table of the cycles."""
        machine, fitting = self.machine, self._fitting
        asked = {
            f"{name}, {len(requests)} request{'s' if len(requests) > 1 else ''}": list(requests)
            for name, requests in machine.workloads().items()
        }
        operations = [*asked.values(), *([request] for request in fitting)]
        formula = [[machine.cycles(*request) for request in requests] for requests in operations]
        how = "by its closed formula, which `modexlab check` compares with the hardware cycle by cycle"
        if any(None in counts for counts in formula):
            with machine.session(interface=STREAM.name) as session:
                formula = [[operated.cycles] for operated in session.operate(operations)]
            how = "measured in simulation of the hardware; it has no closed formula"
        yield f"Of the accelerator, from request to response, {how}:"
        totals = [*map(sum, formula)]
        counts = totals[len(asked) :]
        rows = [(name, f"{total:,}") for name, total in zip(asked, totals, strict=False)]
        rows += [
            (f"{name} of the {len(fitting)} requests of its table", f"{most(counts):,}")
            for name, most in (("fewest", min), ("most", max))
        ]
        yield table(("requests", "cycles"), rows)
        yield from self.transfers(fitting[0])

    def transfers(self, request: Message) -> Iterator[str]:
        """A sentence about the accesses of a request."""
        if self.interface.counts_accesses:
            count = self.interface.transfers(self.machine.shape, request)
            yield (
                f"Loading {self.operands}, starting, and reading the result are {count} accesses beside that."
            )

    @property
    def kinds(self) -> set[str]:
        """Kinds of paragraphs of the data sheet."""
        return {"own", "own-axi4lite" if self.interface is AXI4LITE else "own-stream", "refusals"}

    @property
    def words(self) -> dict[str, str]:
        """Words of these paragraphs."""
        requests = self.machine.in_flight
        return {
            "about": self.about,
            "call": identifier(self.machine.name),
            "wiping": axi4lite.wiping(self.machine.shape, self.machine.traits),
            "clocking": self.interface.clocking,
            "golden": self.golden,
            "constant": self.promise.replace(": ", ", ", 1),
            "in_flight": f"{requests} request{'s' if requests > 1 else ''}",
        }

    def refusals(self) -> list[tuple[int, str]]:
        """Status codes of refused requests, with the reasons."""
        return sorted((int(code), text) for code, text in self.machine.statuses.items())


def filled(text: str, kinds: Collection[str], words: Mapping[str, str]) -> str:
    """A text with @words@, and with lines that only some kinds of subjects have: `@kind: line`."""
    text = ONLY.sub(lambda line: line[2] if line[1] in kinds else "", text)
    return re.sub(r"@(\w+)@", lambda word: words[word[1]], text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    return "\n".join(markdown_table(head, rows))


def short(text: str) -> str:
    """A value as a table shows it."""
    return text if len(text) <= 40 else f"{text[:20]}...{text[-12:]}"
