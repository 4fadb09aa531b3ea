"""Draw the schedule of an operation as a Gantt chart in SVG.

A bar is a step or a microinstruction, a conversion, or a product; its tooltip says more.

examples:
  modexlab show mont --schedule --nbits 8 --base 5 --exp 5 --mod 13 -o schedule.svg
  modexlab show mont-ct --schedule --nbits 8 -o ladder.svg
  modexlab show heap --schedule --nbits 32 --exp 65537 -o heap.svg
"""

import html
from argparse import Namespace
from collections.abc import Iterable
from typing import NamedTuple

from .....cl.mod_exp import ModExpCL
from .....fl.errors import BadInput
from .....rtl.sim import simulate
from ....designs.machine import Machine
from ...arguments import RSA_DESIGN
from ...options import RSA_OPERANDS
from . import draw

OPTIONS = (RSA_DESIGN, *RSA_OPERANDS, "--nbits", "--set", draw.OUTPUT)
MOST_CYCLES = 400
LEFT, TOP, LANE, CYCLE = 150, 56, 40, 24
COLOURS = {"step": ("#e8eaf6", "#5c6bc0"), "setup": ("#fff3e0", "#fb8c00"), "unit": ("#e8f5e9", "#43a047")}
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"
 font-family="sans-serif" font-size="12" fill="#263238" role="img"><title>{title}</title>
<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>
<text x="16" y="24" font-size="14" font-weight="bold">{title}</text>"""


class Bar(NamedTuple):
    """A stretch of cycles in a lane."""

    lane: str
    kind: str
    start: int
    end: int
    label: str
    tooltip: str


def execute(args: Namespace) -> int:
    machine, operands = draw.operation(args)
    operands = machine.carried(*operands)
    if machine.build.programmed is None:
        draw_bars, cycles = _of_model, machine.cycles(*operands[:3])
    else:
        draw_bars, cycles = _of_program, machine.programmed.cycles(*operands)
    if cycles > MOST_CYCLES:
        raise BadInput(f"{cycles} cycles: a chart has at most {MOST_CYCLES}; give a smaller --nbits or --exp")
    title = f"{machine.name}, {machine.nbits} bits: {cycles} cycles"
    return draw.put(args, chart([*draw_bars(machine, operands)], title), title)


def _of_model(machine: Machine, operands: tuple[int, ...]) -> Iterable[Bar]:
    """The steps, conversions and products of a machine without a program, from its cycle-level model."""
    model = machine.cl()
    if not isinstance(model, ModExpCL):
        raise BadInput(
            f"{machine.name} has no schedule to be drawn: its steps are in its converters or in a controller "
            "of its own; give a design such as mont, naive or ssmm"
        )
    bars: list[Bar] = []
    step, begun = 0, 0
    running: dict[str, tuple[int, str]] = {}  # by lane, with the cycle of the beginning

    def ended(lane: str, kind: str, now: int) -> None:
        start, label = running.pop(lane)
        bars.append(Bar(lane, kind, start, now, label, label))

    def record(now: int, _: str) -> None:
        nonlocal step, begun
        memory = model.memory
        if model.convert_done:
            ended("converter", "setup", now)
        if model.convert_val:
            register = memory.then.steps[0].converts
            running["converter"] = now, f"convert {register}"
        for i, unit in enumerate(model.units):
            if unit.ostream.val:
                ended(f"multiplier {i}", "unit", now)
            if unit.istream.val & unit.istream.rdy:
                product = next(offer.product for offer in memory.offers if offer.product.unit == i)
                running[f"multiplier {i}"] = now, str(product)
        if memory.begins and now:
            bars.append(Bar("step", "step", begun, now, str(step), f"step {step}"))
            step, begun = step + 1, now

    with simulate(model, "python", trace=record) as simulation:
        simulation.run([operands])
    return bars


def _of_program(machine: Machine, operands: tuple[int, ...]) -> Iterable[Bar]:
    """The microinstructions of a machine with a program, and their conversions and products."""
    programmed = machine.programmed
    trace, start = programmed.trace(operands), 0
    for step, end in zip(trace, programmed.timing.ends(trace, operands[1]), strict=True):
        word = step.word
        if end > start:
            yield Bar("microinstruction", "step", start, end, str(step.pc), str(word))
            if word.setup is not None:
                yield Bar("converter", "setup", start, end, word.setup.kind, str(word.setup))
            all_made = len(step.made) == len(word.products)
            for product in (item for item in word.products if all_made or not item.when):
                yield Bar("multiplier", "unit", start, end, str(product).partition(" ")[2], str(product))
        start = end


def chart(bars: list[Bar], title: str) -> str:
    """The chart of these bars."""
    lanes = sorted(
        {bar.lane for bar in bars}, key=lambda lane: (lane not in ("step", "microinstruction"), lane)
    )
    cycles = max(bar.end for bar in bars)
    longest = max(len(bar.label) * 7 / (bar.end - bar.start) for bar in bars)
    cycle = min(max(CYCLE, longest), 8_000 / cycles)
    width, height = round(LEFT + cycle * cycles + 24), TOP + LANE * len(lanes) + 16
    lines = [HEAD.format(width=width, height=height, title=html.escape(title))]
    every = max(1, round(40 / cycle))
    for now in range(0, cycles + 1, every):
        x = LEFT + now * cycle
        lines.append(f'<path d="M{x:.1f} {TOP - 8} V{height - 12}" stroke="#cfd8dc"/>')
        lines.append(f'<text x="{x:.1f}" y="{TOP - 12}" text-anchor="middle" font-size="11">{now}</text>')
    for row, lane in enumerate(lanes):
        lines.append(f'<text x="16" y="{TOP + LANE * row + 24}">{lane}</text>')
    for bar in bars:
        x, y, wide = (
            LEFT + bar.start * cycle,
            TOP + LANE * lanes.index(bar.lane),
            cycle * (bar.end - bar.start),
        )
        fill, stroke = COLOURS[bar.kind]
        lines.append(f"<g><title>{html.escape(f'{bar.start} to {bar.end}: {bar.tooltip}')}</title>")
        box = f'x="{x + 1:.1f}" y="{y + 6}" width="{wide - 2:.1f}" height="{LANE - 12}"'
        lines.append(f'<rect {box} rx="4" fill="{fill}" stroke="{stroke}"/>')
        if len(bar.label) * 6.5 <= wide:
            label = f'<text x="{x + wide / 2:.1f}" y="{y + 24}" text-anchor="middle">'
            lines.append(f"{label}{html.escape(bar.label)}</text>")
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])
