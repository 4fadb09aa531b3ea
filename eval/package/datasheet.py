"""The data sheet of a package: Markdown, and a page of the same with its pictures inside."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...fl import axi4lite, axi4lite_000
from ...fl.axi4lite_000 import is_padded
from ...fl.moduli import has_known_factors
from ...fl.xcel import words_of
from ..designs.interfaces import AXI4LITE, AXI4LITE_000, Interface
from ..designs.machine_verilog import codes, computes, constant_time
from ..designs.verilog_header import without_paths
from ..designs.workloads import some_operands
from ..lab.metrics import METRICS
from ..lab.stages import FPGA, LAYOUT, NETLIST, STAGES

if TYPE_CHECKING:
    from ...fl.register_map import Register
    from ..designs.machine import Machine
    from ..lab.rows import Row
    from .timing import Diagram

SHOWN = (
    "area_um2",
    "cells",
    "flops",
    "wns_ns",
    "fmax_mhz",
    "power_mw",
    "time_ns",
    "energy_nj",
    "lut",
    "ff",
    "dsp",
)
STYLE = Path(__file__).with_name("datasheet.css")


@dataclass(frozen=True)
class Facts:
    """What the sheet is made of, beside the machine."""

    machine: Machine
    interface: Interface
    name: str
    version: str
    ports: Sequence[str]  # declarations of the top module
    rows: Sequence[Row]  # of the ledger
    diagrams: Sequence[Diagram]
    transfers: int
    tried: Sequence[str]  # what the rows of the testbench are for


def markdown(facts: Facts) -> str:
    """The whole sheet."""
    machine, interface = facts.machine, facts.interface
    design = machine.design
    paper = f", after paper {design.paper}" if design.paper else ""
    lines = [
        f"# {facts.name}",
        "",
        f"Modular exponentiation of {machine.nbits} bits {interface.title}: design `{design.name}`{paper}. Version {facts.version}, "
        "made by modexlab.",
        "",
        *_table(("property", "value"), _properties(facts)),
        "",
        "![Block diagram](block.svg)",
        "",
        "## Ports",
        "",
        "One clock; reset is synchronous and active high.",
        "",
        *_table(("port", "direction", "bits"), [_port(line) for line in facts.ports]),
        "",
        "## Protocol",
        "",
        *_protocol(facts),
        *_register_map(facts),
        "## Status codes",
        "",
        *_table(
            ("code", "meaning"),
            [(str(code), meaning) for code, meaning in codes(machine, interface).items()],
        ),
        "",
        "## Timing",
        "",
        *(
            line
            for each in facts.diagrams
            for line in (each.caption, "", f"![{each.caption}](wave_{each.name}.svg)", "")
        ),
        "## Cycles",
        "",
        *_cycles(machine, interface),
        "## Area and energy",
        "",
        *_figures(facts),
        "## Security",
        "",
        *(f"- {line}" for line in _security(facts)),
        "",
        "## Known limits",
        "",
        *(f"- {line}" for line in _limits(facts)),
        "",
        "## Tested",
        "",
        f"The testbench in this package makes {facts.transfers} transfers, with pauses on all sides, and compares every answer; expected "
        "answers are by a model whose results are those of Python's `pow`. Beside it stand assertions of the protocol (`properties/`). "
        "It tries:",
        "",
        *(f"- {each}" for each in _tried(facts.tried)),
        "",
    ]
    return "\n".join(lines)


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
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return [line(head), line(["---"] * len(head)), *map(line, rows)]


def _properties(facts: Facts) -> list[tuple[str, str]]:
    machine = facts.machine
    return [
        ("computes", computes(machine)),
        ("width", f"{machine.nbits} bits, {words_of(machine.nbits)} words of 32"),
        ("interface", facts.interface.title.removeprefix("behind ")),
        ("multiplier", machine.design.family),
        ("domain", machine.design.domain),
        ("schedule", str(machine.parameters.get("schedule", "that of the published work"))),
        ("constant time", constant_time(machine)),
        *((name, f"`{_short(value)}`") for name, value in machine.parameters.items() if name != "schedule"),
    ]


def _short(value: object) -> str:
    text = hex(value) if isinstance(value, int) and value.bit_length() > 64 else str(value)
    return text if len(text) <= 40 else f"{text[:20]}...{text[-12:]}"


def _port(declaration: str) -> tuple[str, str, str]:
    direction, *_, name = declaration.split()
    width = re.search(r"\[(\d+):0\]", declaration)
    return f"`{name}`", direction, str(int(width[1]) + 1) if width else "1"


def _protocol(facts: Facts) -> Iterator[str]:
    """What the header of the Verilog says, without the registers, which have a table."""
    from ...rtl.sim.base import elaborate

    component = facts.machine.exported(facts.interface)
    elaborate(component)
    text = facts.interface.protocol(component, facts.machine.nbits, facts.machine.given_fields)
    if facts.interface in (AXI4LITE, AXI4LITE_000):
        first = text.index("")
        source = axi4lite if facts.interface is AXI4LITE else axi4lite_000
        begin = "An access is" if source is axi4lite else "The key is"
        document = source.__doc__ or ""
        yield " ".join(text[:first])
        yield ""
        yield from _paragraphs(without_paths(document[document.index(begin) :]).strip())
    else:
        yield "```"
        yield from text
        yield "```"
    yield ""
    if facts.machine.keyed:
        yield from _private_key(facts)
    for number, each in enumerate(facts.machine.given):
        place = facts.interface.place_of_given(number)
        yield f"Given with an operation, and not checked: `{each.name}` = {each.meaning} ({place})."
        yield ""


def _private_key(facts: Facts) -> Iterator[str]:
    """The numbers that stand in a request behind the modulus."""
    machine, interface = facts.machine, facts.interface
    yield (
        "Given with an operation are numbers of the private key. Random ones must be new for each operation, uniform, and secret; x is 2 "
        f"or more and below the modulus. The exponent is {'the public one' if machine.parameters['crt'] else 'the private one'}."
    )
    yield ""
    rows = [
        (f"`{name}`", str(nbits), meaning, interface.place_of_given(number))
        for number, (name, nbits, meaning) in enumerate(machine.programmed.fields)
    ]
    yield from _table(("number", "bits", "what it is", "place"), rows)
    yield ""


def _paragraphs(text: str) -> Iterator[str]:
    """Text of a docstring: paragraphs, and indented lines as items."""
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        if all(line.startswith("    ") for line in lines):
            yield from (f"- {line.strip()}" for line in lines)
        else:
            yield " ".join(line.strip() for line in lines)
        yield ""


def _register_map(facts: Facts) -> Iterator[str]:
    if facts.interface is AXI4LITE:
        registers = axi4lite.register_map(facts.machine.nbits, len(facts.machine.given_fields))
    elif facts.interface is AXI4LITE_000:
        registers = axi4lite_000.register_map()
    else:
        return
    yield "## Registers"
    yield ""
    yield "Byte addresses; operands are rows of words, the least significant first. The source of the map is `regs/`, in SystemRDL."
    yield ""
    yield from _table(
        ("address", "register", "access", "bits", "what it is"), list(_register_rows(registers))
    )
    yield ""


def _register_rows(registers: Mapping[str, Register]) -> Iterator[tuple[str, ...]]:
    for each in registers.values():
        access = "rw" if each.readable and each.writable else "r" if each.readable else "w"
        last = f" to {each.address + 4 * (each.count - 1):#05x}" if each.count > 1 else ""
        yield f"{each.address:#05x}{last}", f"**{each.name}**", access, "", each.text
        for field in each.fields if each.fields[0].text else ():
            bits = f"{field.high}:{field.low}" if field.high > field.low else str(field.low)
            yield "", "", "", bits, f"{field.name}: {field.text}"


def _cycles(machine: Machine, interface: Interface) -> Iterator[str]:
    if machine.keyed:
        yield from _private_cycles(machine, interface)
        return
    base, exp, mod = some_operands(machine)
    ones = (1 << machine.nbits) - 1
    exponents = {
        "65537": 65537,
        f"{machine.nbits} bits, pseudo-random": exp,
        f"2^{machine.nbits} - 1, all ones": ones,
    }
    rows = [
        (name, f"{machine.cycles(base, each, mod):,}")
        for name, each in exponents.items()
        if each.bit_length() <= machine.nbits
    ]
    yield "Of the machine, from request to answer, by its closed formula, which tests compare with the hardware cycle by cycle:"
    yield ""
    yield from _table(("exponent", "cycles"), rows)
    yield ""
    if interface.counts_accesses:
        count = interface.transfers(machine.nbits, machine.carried(base, exp, mod))
        yield f"Loading all operands, starting, and reading the result are {count} accesses beside that."
        yield ""


def _private_cycles(machine: Machine, interface: Interface) -> Iterator[str]:
    key = machine.key
    assert key.d is not None
    count = machine.cycles(0, key.d, key.n)
    waits = machine.programmed.timing.loading_cycles
    yield (
        f"A private operation with a key of {key.n.bit_length()} bits takes the machine {count:,} cycles from request to answer; before, "
        f"the request is looked at for {waits}."
    )
    yield ""
    if interface.counts_accesses:
        transfers = interface.transfers(machine.nbits, machine.carried(0, key.d, key.n))
        yield f"Loading all operands, starting, and reading the result are {transfers} accesses beside that."
        yield ""


def _figures(facts: Facts) -> Iterator[str]:
    command = f"modexlab asic {facts.machine.design.name} --nbits {facts.machine.nbits} --interface {facts.interface.name}"
    shown = [row for row in facts.rows if row.metric in SHOWN and row.stage in (*NETLIST, LAYOUT, FPGA)]
    if not shown:
        yield f"Nothing has been measured of this machine behind this interface yet: `{command}` does."
        yield ""
        return
    order = {name: place for place, name in enumerate(SHOWN)}
    rows = []
    for row in sorted(shown, key=lambda each: (each.stage, order[each.metric], each.operation)):
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
    yield from _table(("stage", "figure", "value", "measured", "mark"), rows)
    yield ""
    yield f"From the ledger of modexlab; a netlist of the FreePDK45 library, its tests passed. `{command}` measures again."
    if facts.interface in (AXI4LITE, AXI4LITE_000):
        yield ""
        yield "Measured with the small master that drives the slave in the laboratory, which is not in this package."
    yield ""


def _tried(comments: Sequence[str]) -> Iterator[str]:
    """The rows in words; pseudo-random ones are a number."""
    drawn = sum(each.startswith("random ") for each in comments)
    yield from (each for each in comments if not each.startswith("random "))
    if drawn:
        yield f"pseudo-random operands, {drawn} times"


def _security(facts: Facts) -> Iterator[str]:
    machine, interface = facts.machine, facts.interface
    yield f"Constant time: {constant_time(machine).replace(': ', ', ', 1)}. Nothing is claimed of power, radiation or faults."
    if machine.keyed:
        yield from _keeps(machine)
    if interface is AXI4LITE:
        also = ", and the numbers of the key," if machine.keyed else ""
        yield f"Base, exponent and modulus{also} cannot be read; the result can, as soon as there is one, and not before."
        yield (
            "Zeroise clears operands and result, and then computes once on zeros: no register of slave or machine hangs on the key "
            "afterwards (tested at RTL over all designs, and in the state of netlists). Reset clears operands and result, not the machine."
        )
        yield "Whoever is on the bus can use the key that is loaded: a system keeps others off this address."
    elif interface is AXI4LITE_000:
        yield (
            "The key comes by ports, and cannot be read by the bus. There is no zeroise: reset clears input and output, but neither the "
            "machine's registers nor those of padding, where the last message still is."
        )
        yield (
            "What is wrong with an encoding cannot be told from answers or cycles. That it is wrong can: for strangers' ciphertexts that "
            "is enough for an attack (Bleichenbacher, 1998); use such a machine for keys of which no stranger asks."
        )
        yield "Random bytes must come from a true source; the health tests see bytes that are stuck or biased, and no more."
    elif machine.keyed:
        yield "The machine overwrites all that it holds of an operation before its answer leaves."
        if interface.counts_accesses:
            yield "Numbers that were pushed stay in the registers in front of it until others replace them."
    else:
        yield "Operands stay in the machine's registers until others replace them, or an operation ends; reset does not clear all of them."


def _keeps(machine: Machine) -> Iterator[str]:
    """What a program with a private key does for it."""
    recipe = machine.programmed.recipe
    if recipe.verify:
        yield "A result leaves only if it gives the message again by the public exponent."
    if recipe.blind_message or recipe.blind_exponent:
        hidden = [
            name
            for name, done in (("message", recipe.blind_message), ("exponent", recipe.blind_exponent))
            if done
        ]
        yield (
            f"{' and '.join(hidden).capitalize()} are hidden by the random numbers that come with the request: the machine draws none, and "
            "cannot tell whether they are new."
        )


def _limits(facts: Facts) -> Iterator[str]:
    machine = facts.machine
    if machine.design.odd_only:
        yield "Even moduli are refused: the machine computes in Montgomery form."
    if machine.design.reduced_only:
        yield "A base at or above the modulus is refused: reduce it first."
    if machine.modulus and not machine.keyed:
        known = has_known_factors(machine.modulus, machine.nbits)
        yield f"It is made for one modulus{', whose factors are known: arithmetic, and no key for RSA' if known else ''}."
    if facts.interface is AXI4LITE_000 and is_padded(machine.nbits):
        yield "Where the random source gives no bytes, an encryption does not end; reset ends it."
    if machine.modulus_nbits < machine.nbits:
        yield f"Moduli have {machine.modulus_nbits} bits at most."
    yield "RSA alone is no encryption and no signature: padding is the caller's, except where this sheet says otherwise."
    yield "One clock domain, no scan chain, no clock gating cells instantiated; AxPROT is ignored, and there is no exclusive access."
    yield "Figures of area and energy are of an open library of 45 nm; the SDC here is a beginning, not a sign-off."
