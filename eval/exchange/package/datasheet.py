"""Data sheet of a package, as Markdown and as one HTML page with its pictures inside."""

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ....rtl.verilog.tree import Port
from ...designs.verilog_header import without_paths
from ...lab.metrics import METRICS
from ...lab.point import Point
from ...lab.stages import FLOW, FPGA, LAYOUT, NETLIST, STAGES
from ...lab.store.rows import Row
from .subject import Subject, filled, table
from .timing import Diagram
from .vectors import Vectors

SHOWN = [
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
]
DRAWN = ("random ", "drawn ")  # rows of pseudo-random operands
SHEET = Path(__file__).with_name("datasheet.md")
STYLE = Path(__file__).with_name("datasheet.css")


def markdown(
    subject: Subject,
    words: Mapping[str, str],
    tests: Vectors,
    waves: Sequence[Diagram],
    ports: Sequence[Port],
    rows: Sequence[Row],
) -> str:
    """The whole sheet; `words` are those of the template, `rows` those of the store."""
    fields = subject.fields()
    shown = [row for row in rows if row.metric in SHOWN and row.stage in (*NETLIST, LAYOUT, FPGA)]
    statuses = [(str(code), meaning) for code, meaning in subject.codes().items()]
    blocks = {
        "properties": [table(("property", "value"), subject.properties)],
        "parameters": [table(("parameter", "value", "meaning"), subject.parameters)],
        "ports": [table(("port", "direction", "bits"), [*map(port_row, ports)])],
        "fields": [table(("message", "field", "bits", "place"), fields)],
        "protocol": _protocol(subject),
        "registers": _register_map(subject),
        "statuses": [table(("code", "meaning"), statuses)],
        "timing": (f"{wave.caption}\n\n![{wave.caption}](wave_{wave.name}.svg)" for wave in waves),
        "cycles": subject.cycles(),
        "figures": _figures(subject, shown),
        "refusals": [_items(f"Refused with status {code}: {text}." for code, text in subject.refusals())],
        "tried": [_items(_tried(tests.comments.values()))],
    }
    words = {**words, **{name: "\n\n".join(parts) for name, parts in blocks.items()}}
    sections = {"fields": fields, "parameters": subject.parameters, "figures": shown}
    sections["registers"] = words["registers"]
    kinds = {*subject.kinds, *(name for name, content in sections.items() if content)}
    return filled(SHEET.read_text(), kinds, words)


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def page(text: str, title: str, pictures: Mapping[str, str]) -> str:
    """The sheet as one self-contained HTML file."""
    import markdown as converter

    body = converter.markdown(text, extensions=["tables", "fenced_code"])
    for name, svg in pictures.items():
        drawn = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>", "", svg, flags=re.DOTALL)
        picture = rf'<p><img alt="[^"]*" src="{re.escape(name)}" ?/?></p>'
        body = re.sub(picture, f"<figure>{drawn}</figure>".replace("\\", r"\\"), body)
    style = STYLE.read_text()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" '
        f'content="width=device-width">\n<title>{html.escape(title)}</title>\n<style>\n{style}</style>\n'
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def port_row(port: Port) -> tuple[str, str, str]:
    """Name, direction and bits of a port."""
    return f"`{port.name}`", "input" if port.is_input else "output", str(port.type.width)


def _protocol(subject: Subject) -> Iterator[str]:
    """Return the header of the Verilog without the registers, which have a table."""
    interface, machine = subject.interface, subject.machine
    text = interface.protocol(subject.component, machine.shape, machine.traits)
    if not interface.on_bus:
        yield "\n".join(("```", *text, "```"))
    else:
        yield " ".join(text[: text.index("")])
        rules = without_paths(interface.rules(machine.shape, machine.traits))
        for paragraph in rules.strip().split("\n\n"):
            lines = paragraph.split("\n")
            if all(line.startswith("    ") for line in lines):
                yield _items(map(str.strip, lines))
            else:
                yield " ".join(map(str.strip, lines))
    yield from subject.given()


def _register_map(subject: Subject) -> Iterator[str]:
    registers = subject.interface.registers(subject.machine.shape, subject.machine.traits)
    rows = []
    for register in registers.values():
        last = f" to {register.last:#05x}" if register.count > 1 else ""
        place, name = f"{register.address:#05x}{last}", f"**{register.name}**"
        rows.append((place, name, register.access, f"{register.reset:#010x}", "", register.text))
        for field in register.fields if register.fields[0].text else ():
            rows.append(("", "", "", "", field.bits, f"{field.name}: {field.text}"))
    if rows:
        yield table(("address", "register", "access", "reset", "bits", "meaning"), rows)


def _figures(subject: Subject, shown: Sequence[Row]) -> Iterator[str]:
    machine, interface = subject.machine, subject.interface
    values = tuple(machine.parameters.items())
    point = Point(machine.design.reference, machine.nbits, values, interface.name, stage=FLOW)
    command = re.sub(r"(--accelerator) \S+", r"\1 FOLDER", " ".join(point.command[:-1]))
    if not shown:
        yield (
            f"No figures are recorded. `{command}` measures area, clock and energy, and `modexlab verilog "
            "--package` then shows them here. `make fpga` prints the clock frequency on an ECP5."
        )
        return
    rows = []
    for row in sorted(shown, key=lambda item: (item.stage, SHOWN.index(item.metric), item.operation)):
        metric = METRICS[row.metric]
        of = f" ({row.operation})" if row.operation else ""
        value = f"{row.value:,.5g} {metric.shown_unit}".strip()
        stage = STAGES[row.stage].title
        rows.append((stage, f"{metric.title}{of}", value, row.when[:10], "; ".join(row.marks)))
    yield table(("stage", "figure", "value", "measured", "mark"), rows)
    yield (
        f"From the store of modexlab; a netlist of the FreePDK45 library, its tests passed. `{command}` "
        "measures again."
    )
    if interface.on_bus:
        yield (
            "Measured with the small master that drives the slave in the laboratory, which is not in "
            "this package."
        )


def _tried(comments: Collection[str]) -> Iterator[str]:
    """The test rows in words; pseudo-random rows are only counted."""
    drawn = [comment for comment in comments if comment.startswith(DRAWN)]
    yield from (comment for comment in comments if comment not in drawn)
    if drawn:
        yield f"pseudo-random operands, {len(drawn)} times"
