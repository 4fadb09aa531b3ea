"""The dot diagram of a compression tree, as SVG: paper 000's Figures 2 to 5 for any plan.

From top to bottom: the products before folding, the matrix before each level with a box around the inputs of
every compressor, and the two rows that are added. The column of weight 1 is at the right. The colour of a dot
shows the origin of the bit; an inverted bit is hollow, a bit of the correction is a square. In a column, the
dots of a compressor are drawn together, whatever their places; in small drawings, hovering over a dot shows
its place.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from ...fl.compression.compression_plan import (
    CELLS,
    SIZE,
    Plan,
    Run,
    product_count,
    product_range,
    product_weights,
)
from ...fl.errors import BadInput, shown

MAX_DOTS = 150_000
MAX_TITLED_DOTS = 6_000

PITCH_X, PITCH_Y, RADIUS = 15, 13, 4
LEFT, TOP, GAP = 190, 84, 44  # of the diagram; GAP is between two levels
LEGEND_WIDTH = 290

# origin -> colour, words of the legend; the order of the legend
ORIGINS = {
    "product": ("#3d3d3d", "product, in the column of its weight"),
    "folded": ("#0072b2", "product, folded back"),
    "folded-inverted": ("#d55e00", "product, folded back inverted"),
    "dropped": ("#c8c8c8", "product, dropped as a multiple of m"),
    "one": ("#3d3d3d", "correction: constant 1"),
    "zero": ("#3d3d3d", "correction: constant 0"),
    "pass": ("#a8a8a8", "passed on"),
    "sum": ("#009e73", "sum"),
    "carry": ("#e69f00", "carry"),
    "four": ("#cc79a7", "weight-4 output of a 5:3 compressor"),
    "around": ("#0072b2", "carry, folded back (end-around)"),
    "around-inverted": ("#d55e00", "carry, folded back inverted"),
}
BOXES = {
    "five": ("#f6e6f2", "#b0659a", "5:3 compressor"),
    "full": ("#e6eef8", "#6f8fbd", "full adder"),
    "half": ("#fcf2d2", "#c29b2c", "half adder"),
}
OUTPUT_ORIGINS = ("sum", "carry", "four")


@dataclass
class _Picture:
    """SVG elements in the order in which they are drawn, and the number of dots of each origin."""

    titled: bool
    boxes: list[str] = field(default_factory=list)
    dots: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    origins: Counter = field(default_factory=Counter)

    def _mark(self, kind: str, shape: str, title: str) -> str:
        """An SVG element, with its title if the drawing has titles."""
        note = f"<title>{escape(title)}</title>"
        return f"<{kind} {shape}>{note}</{kind}>" if self.titled else f"<{kind} {shape}/>"

    def dot(self, x: float, y: float, origin: str, title: str) -> None:
        self.origins[origin] += 1
        kind, shape = "circle", f'class="{origin}" cx="{x:g}" cy="{y:g}" r="{RADIUS}"'
        if origin in ("one", "zero"):
            kind, shape = "rect", f'class="{origin}" x="{x - 3.5:g}" y="{y - 3.5:g}" width="7" height="7"'
        self.dots.append(self._mark(kind, shape, title))

    def box(self, x: float, y: float, kind: str, title: str) -> None:
        """Draw a box around the inputs of a compressor, the first of which is at (x, y)."""
        height = (SIZE[kind] - 1) * PITCH_Y + 2 * RADIUS + 4
        corner = f'x="{x - RADIUS - 2:g}" y="{y - RADIUS - 2:g}"'
        shape = f'class="{kind}" {corner} width="{2 * RADIUS + 4}" height="{height}" rx="5.5"'
        self.boxes.append(self._mark("rect", shape, title))

    def text(self, x: float, y: float, text: str, style: str = "note") -> None:
        self.texts.append(f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(text)}</text>')


def draw(plan: Plan) -> str:
    """The drawing of a plan as the text of an SVG file."""
    total = sum(sum(plan.heights(level)) for level in range(len(plan.levels) + 1))
    if total > MAX_DOTS:
        raise BadInput(
            f"a drawing of {total} dots is too large to look at: draw a smaller modulus of the same shape "
            f"(up to {MAX_DOTS} dots)"
        )
    picture = _Picture(total <= MAX_TITLED_DOTS)
    widest = max(len(product_weights(plan.operation, plan.operand_nbits)), plan.columns)
    right = LEFT + (widest - 1) * PITCH_X
    y = _products(picture, plan, TOP, right)
    for level in range(len(plan.levels) + 1):
        y = _level(picture, plan, level, y, right)
    height = max(y + 4, _legend(picture, plan, right + 40))
    width = right + 40 + LEGEND_WIDTH
    _titles(picture, plan)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}">',
            f"<style>{''.join(_style())}</style>",
            f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
            *picture.lines,
            *picture.boxes,
            *picture.dots,
            *picture.texts,
            "</svg>\n",
        ]
    )


def _style() -> Iterator[str]:
    """The style sheet."""
    yield (
        "text{font-family:Helvetica,Arial,sans-serif;fill:#222}"
        ".title{font-size:19px;font-weight:bold}.sub{font-size:12.5px;fill:#555}"
        ".name{font-size:13px;font-weight:bold}.note{font-size:11.5px;fill:#555}"
        ".weight{font-size:9px;fill:#888;text-anchor:middle}"
        ".rule{stroke:#bbb;stroke-width:1;stroke-dasharray:3 3}"
    )
    for kind, (fill, stroke, _) in BOXES.items():
        yield f".{kind}{{fill:{fill};stroke:{stroke};stroke-width:1}}"
    for origin, (colour, _) in ORIGINS.items():
        hollow = origin.endswith("inverted") or origin in ("zero", "dropped")
        yield f".{origin}{{fill:{f'#fff;stroke:{colour};stroke-width:1.8' if hollow else colour}}}"


def _titles(picture: _Picture, plan: Plan) -> None:
    what = {"multiply": "a × b", "square": "a²", "reduce": "x"}
    modulus = plan.modulus
    power = "2" + str(modulus.n).translate(SUPERSCRIPTS)
    if modulus.k:
        power += f" {'−' if modulus.sign < 0 else '+'} {shown(modulus.k)}"
    picture.text(24, 32, f"{what[plan.operation]} mod {power}", "title")
    operands = f"{plan.operand_nbits}-bit operand{'s' if plan.operation == 'multiply' else ''}"
    area, delay = plan.cost
    depth = f"{len(plan.levels)} {_plural('level', len(plan.levels))}"
    words = f"{operands}, strategy {plan.strategy}: {depth}, about {area:,} gates, {delay} gates deep"
    picture.text(24, 52, words, "sub")


SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _products(picture: _Picture, plan: Plan, y: float, right: float) -> float:
    """Draw the products by weight, before anything is folded; return the y coordinate of the next panel."""
    weights = product_weights(plan.operation, plan.operand_nbits)
    counts = {weight: product_count(plan.operation, plan.operand_nbits, weight) for weight in weights}
    inverted = {  # how a weight enters the matrix
        run.column: run.inverted for column in plan.all_runs[0] for run in column if run.kind == "product"
    }
    _scale(picture, len(weights), y, right)
    for weight, count in counts.items():
        origin = "product"
        if weight >= plan.columns:
            folded = "folded-inverted" if inverted.get(weight) else "folded"
            origin = folded if weight in inverted else "dropped"
        for i in range(count):
            title = f"weight 2^{weight}: {_product_name(plan, weight, i)}"
            picture.dot(right - weight * PITCH_X, y + i * PITCH_Y, origin, title)
    for origin in ("product", "folded", "folded-inverted"):
        del picture.origins[origin]  # the legend counts them in the matrix
    bottom = y + (max(counts.values()) - 1) * PITCH_Y
    if len(weights) > plan.columns:
        x = right - (plan.columns - 0.5) * PITCH_X
        picture.lines.append(
            f'<line class="rule" x1="{x:g}" y1="{y - 24:g}" x2="{x:g}" y2="{bottom + 12:g}"/>'
        )
    picture.text(24, y + 5, "bits of x" if plan.operation == "reduce" else "products", "name")
    picture.text(24, y + 21, f"{sum(counts.values()):,} bits")
    return max(bottom, y + 21) + GAP


def _product_name(plan: Plan, weight: int, i: int) -> str:
    if plan.operation == "reduce":
        return f"x{weight}"
    first, count, total = product_range(plan.operation, plan.operand_nbits, weight)
    if i == count:
        return f"a{weight // 2}"
    return f"a{first + i} * {'a' if plan.operation == 'square' else 'b'}{total - first - i}"


def _scale(picture: _Picture, columns: int, y: float, right: float) -> None:
    """Draw the weights above the columns."""
    every = 1 if columns <= 40 else 4
    for column in range(0, columns, every):
        picture.text(right - column * PITCH_X, y - 13, str(column), "weight")


def _level(picture: _Picture, plan: Plan, level: int, y: float, right: float) -> float:
    last = level == len(plan.levels)
    heights = plan.heights(level)
    constants = iter(plan.constants if level == 0 else ())
    _scale(picture, plan.columns, y, right)
    for column, runs in enumerate(plan.all_runs[level]):
        x = right - column * PITCH_X
        bits = [
            (origin, f"level {level}, column {column}, place {place}: {name}")
            for place, (origin, name) in enumerate(_bits(plan, runs, constants))
        ]
        row = 0
        for kind, places in _groups(plan, level, column) if not last else [("", range(heights[column]))]:
            if kind:
                picture.box(x, y + row * PITCH_Y, kind, f"level {level}: {BOXES[kind][2]}, column {column}")
            for place in places:
                picture.dot(x, y + row * PITCH_Y, *bits[place])
                row += 1
    bottom = y + (max(heights) - 1) * PITCH_Y
    picture.text(24, y + 5, "rows A and B" if last else f"level {level}", "name")
    if last:
        subtracted = (f", −{j if j > 1 else ''}m" for j in range(1, len(plan.mod_sum.multiples) + 1))
        dropped = ", carry dropped" if plan.mod_sum.drops_carry else "".join(subtracted)
        picture.text(24, y + 21, f"A + B{dropped}")
        return max(bottom, y + 16) + GAP
    lines = [f"{sum(heights):,} bits, {max(heights)} high"]
    placed = [(kind, plan.levels[level].total(kind)) for kind in CELLS]
    lines += [f"{count:,} {_plural(BOXES[kind][2], count)}" for kind, count in placed if count]
    for i, line in enumerate(lines):
        picture.text(24, y + 21 + 15 * i, line)
    return max(bottom, y + 15 * len(lines)) + GAP


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _groups(plan: Plan, level: int, column: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The places of a column by compressor, then those that are passed on."""
    here = plan.levels[level]
    for kind in CELLS:
        for number in range(here.cells[kind][column]):
            yield kind, here.inputs(kind, column, number)
    yield "", tuple(range(here.first("pass", column), here.heights[column]))


def _bits(plan: Plan, runs: list[Run], constants: Iterator[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    """The origin and the description of every bit of a column."""
    for run in runs:
        for i in range(run.size):
            folded = run.column + run.output >= plan.columns
            origin, name = "pass", "passed on"
            if run.kind == "correction":
                origin, name = "one" if next(constants)[1] else "zero", "correction"
            elif run.kind == "product":
                origin, name = "folded" if folded else "product", _product_name(plan, run.column, i)
            elif run.kind in BOXES:
                output = OUTPUT_ORIGINS[run.output]
                origin = "around" if folded else output
                name = f"{output} of {BOXES[run.kind][2]} {i} in column {run.column}"
            inverted = origin in ("folded", "around") and run.inverted
            yield f"{origin}-inverted" if inverted else origin, f"{name}, inverted" if run.inverted else name


def _legend(picture: _Picture, plan: Plan, x: float) -> float:
    """Draw the legend with the number of each mark; return its lower end."""
    y = float(TOP)
    picture.text(x, y + 5, "compressors", "name")
    for kind in CELLS:
        if count := plan.count(kind):
            y += 24
            fill, stroke, noun = BOXES[kind]
            picture.boxes.append(
                f'<rect x="{x:g}" y="{y - 8:g}" width="12" height="20" rx="5.5" fill="{fill}" '
                f'stroke="{stroke}"/>'
            )
            picture.text(x + 22, y + 6, f"{_plural(noun, count)}: {count:,}")
    y += 36
    picture.text(x, y + 5, "bits, in all levels", "name")
    counted = Counter(picture.origins)
    for origin, (_, words) in ORIGINS.items():
        if count := counted[origin]:
            y += 20
            if plan.operation == "reduce":
                words = words.replace("product", "bit of x")
            picture.dot(x + 6, y, origin, words)
            picture.text(x + 22, y + 4, f"{words}: {count:,}")
    y += 36
    if plan.rivals:
        picture.text(x, y + 5, "delay × area of the strategies", "name")
        for name, cost in plan.rivals:
            y += 18
            text = f"{cost.delay:,} × {cost.area:,}" if cost else "abandoned, more expensive"
            picture.text(x, y + 5, f"{name}: {text}{'  (chosen)' if name == plan.strategy else ''}")
        y += 18
    return y + 24
