"""Data sheet of a package, as Markdown and as one HTML page with its pictures inside."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....fl.register_map import Register
from ...designs.verilog_header import without_paths
from ...lab.ledger_rows import Row
from ...lab.metrics import METRICS
from ...lab.point import Point
from ...lab.stages import FLOW, FPGA, LAYOUT, NETLIST, STAGES
from .subject import Subject, table
from .timing import Diagram

SHOWN = (
    "area_um2",
    "cells",
    "flops",
    "clock_ns",
    "wns_ns",
    "fmax_mhz",
    "power_mw",
    "time_ns",
    "energy_nj",
    "lut",
    "ff",
    "dsp",
)
LIMITS = (
    "One clock domain, no scan chain, no clock gating cells instantiated; AxPROT is ignored, and there "
    "is no exclusive access.",
    "Figures of area and energy are of an open library of 45 nm; the SDC here is a beginning, not a "
    "sign-off.",
)
DRAWN = ("random ", "drawn ")  # rows of pseudo-random operands
STYLE = Path(__file__).with_name("datasheet.css")


@dataclass(frozen=True)
class Facts:
    """The contents of the sheet."""

    subject: Subject
    name: str
    version: str
    ports: Sequence[str]  # declarations of the top module
    rows: Sequence[Row]  # of the ledger
    diagrams: Sequence[Diagram]
    transfers: int
    tried: Sequence[str]  # what the rows of the testbench are for


def markdown(facts: Facts) -> str:
    """The whole sheet."""
    subject = facts.subject
    fields = subject.fields()
    blocks = [
        f"# {facts.name}",
        f"{subject.about}. Version {facts.version}, made by modexlab.",
        table(("property", "value"), subject.properties),
        "![Block diagram](block.svg)",
        "## Ports",
        subject.interface.clocking,
        table(("port", "direction", "bits"), [_port(line) for line in facts.ports]),
        *(["## Fields", table(("message", "field", "bits", "place"), fields)] if fields else ()),
        "## Protocol",
        *_protocol(subject),
        *_register_map(subject),
        "## Status codes",
        table(("code", "meaning"), [(str(code), meaning) for code, meaning in subject.codes().items()]),
        "## Timing",
        *(
            block
            for diagram in facts.diagrams
            for block in (diagram.caption, f"![{diagram.caption}](wave_{diagram.name}.svg)")
        ),
        "## Cycles",
        *subject.cycles(),
        "## Area and energy",
        *_figures(facts),
        "## Security",
        _items(subject.security()),
        "## Known limits",
        _items((*subject.limits(), *LIMITS)),
        "## Tested",
        f"The testbench in this package makes {facts.transfers} transfers, with pauses on all sides, and "
        "compares every answer; "
        f"{subject.golden}. Beside it stand assertions of the protocol (`properties/`). "
        "It tries:",
        _items(_tried(facts.tried)),
    ]
    return "\n\n".join(blocks) + "\n"


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def page(text: str, title: str, pictures: Mapping[str, str]) -> str:
    """The sheet as one HTML file: nothing is fetched."""
    import markdown as converter

    body = converter.markdown(text, extensions=["tables", "fenced_code"])
    for name, svg in pictures.items():
        drawn = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>", "", svg, flags=re.DOTALL)
        picture = rf'<p><img alt="[^"]*" src="{re.escape(name)}" ?/?></p>'
        body = re.sub(picture, f"<figure>{drawn}</figure>".replace("\\", r"\\"), body)
    style = STYLE.read_text()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" '
        'content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _port(declaration: str) -> tuple[str, str, str]:
    direction, *_, name = declaration.split()
    width = re.search(r"\[(\d+):0\]", declaration)
    return f"`{name}`", direction, str(int(width[1]) + 1) if width else "1"


def _protocol(subject: Subject) -> Iterator[str]:
    """Return the header of the Verilog without the registers, which have a table."""
    interface, machine = subject.interface, subject.machine
    text = interface.protocol(subject.component, machine.shape, machine.traits)
    if interface.on_bus:
        yield " ".join(text[: text.index("")])
        for paragraph in without_paths(interface.rules(machine.shape)).strip().split("\n\n"):
            lines = paragraph.split("\n")
            if all(line.startswith("    ") for line in lines):
                yield _items(map(str.strip, lines))
            else:
                yield " ".join(map(str.strip, lines))
    else:
        yield "\n".join(("```", *text, "```"))
    yield from subject.given()


def _register_map(subject: Subject) -> Iterator[str]:
    registers = subject.interface.registers(subject.machine.shape, subject.machine.traits)
    if not registers:
        return
    yield "## Registers"
    yield (
        "Byte addresses; operands are rows of words, the least significant first. The source of the map "
        "is `regs/`, in SystemRDL."
    )
    head = ("address", "register", "access", "reset", "bits", "meaning")
    yield table(head, list(_register_rows(registers)))


def _register_rows(registers: Mapping[str, Register]) -> Iterator[tuple[str, ...]]:
    """Rows of the register table."""
    for register in registers.values():
        last = f" to {register.last:#05x}" if register.count > 1 else ""
        place, name = f"{register.address:#05x}{last}", f"**{register.name}**"
        yield place, name, register.access, f"{register.reset:#010x}", "", register.text
        for field in register.fields if register.fields[0].text else ():
            bits = f"{field.high}:{field.low}" if field.high > field.low else str(field.low)
            yield "", "", "", "", bits, f"{field.name}: {field.text}"


def _figures(facts: Facts) -> Iterator[str]:
    machine, interface = facts.subject.machine, facts.subject.interface
    values = tuple(machine.parameters.items())
    point = Point(machine.design.reference, machine.nbits, values, interface.name, stage=FLOW)
    chosen = [
        f"--set {name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in point.settings
    ]
    words = [facts.subject.command, f"--nbits {machine.nbits}", *chosen, f"--interface {interface.name}"]
    command = " ".join(words)
    shown = [row for row in facts.rows if row.metric in SHOWN and row.stage in (*NETLIST, LAYOUT, FPGA)]
    if not shown:
        yield f"Nothing has been measured of this machine behind this interface yet: `{command}` does."
        return
    order = {name: place for place, name in enumerate(SHOWN)}
    rows = []
    for row in sorted(shown, key=lambda item: (item.stage, order[item.metric], item.operation)):
        metric = METRICS[row.metric]
        of = f" ({row.operation})" if row.operation else ""
        marks = "; ".join(row.marks)
        rows.append(
            (
                STAGES[row.stage].title,
                f"{metric.title}{of}",
                f"{row.value:,.5g} {metric.shown_unit}".strip(),
                row.when[:10],
                marks,
            )
        )
    yield table(("stage", "figure", "value", "measured", "mark"), rows)
    yield (
        f"From the ledger of modexlab; a netlist of the FreePDK45 library, its tests passed. `{command}` "
        "measures again."
    )
    if interface.on_bus:
        yield (
            "Measured with the small master that drives the slave in the laboratory, which is not in "
            "this package."
        )


def _tried(comments: Sequence[str]) -> Iterator[str]:
    """The rows in words; pseudo-random ones are a number."""
    drawn = sum(comment.startswith(DRAWN) for comment in comments)
    yield from (comment for comment in comments if not comment.startswith(DRAWN))
    if drawn:
        yield f"pseudo-random operands, {drawn} times"
