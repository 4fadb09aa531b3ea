"""Pictures of a layout: cells by module, densities, the worst path, and the layout itself.

`amoeba` colours every cell by its module, as in Figures 15 and 16 of paper 001, with area and share of each
module in the legend, and draws the worst path of timing.json. `density` is two maps: the utilisation of the
rows, and the length of wire in each spot. `layout` shows layout.gds as drawn by KLayout, whole and with a
part enlarged.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from ..files import replacing, scratch
from ..kit.kit_file import Drawn
from ..kit.lef import Lef, Point, middle
from ..netlist.hierarchy import Hierarchy
from ..timing.report import TimedPath, TimingReport
from . import fill
from .placed import Placed
from .placement import HOLD, TREE, Placement
from .routing import Routing

GROUPS = 11  # modules in the legend; more of them no eye tells apart
SPLIT_SHARE = 0.06  # a module smaller than this is not divided further
# Okabe and Ito's colours, which colour-blind people tell apart, and tints of them; by area, the largest first
COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1",
    "#a6761d", "#66c2a4", "#f4a582", "#7f7f7f", "#bcbd22",
)  # fmt: skip
PATH_COLOUR = "#ffe600"  # the paper draws its paths yellow, too
# by placement: what the legend calls it, and its colour
ADDED = {TREE: ("clock tree", "#d7191c"), HOLD: ("delays for hold", "#000000")}
NEW_LINE, LINE, LONGEST = "\n", 36, 48  # letters of a line of the legend, wanted and at most
LEGEND_X = 0.725  # its left edge, in widths of the figure
FONT_SIZES = (8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0, 4.5, 4.0)
CORNER = 0.05  # of a side without port names: those of the next side begin there
TILE_UM = 5.0  # of the density maps
BOXES = 10_000  # that are spread over the tiles at a time
WIRE_UM = 1e-3  # width of a wire on them
ENLARGED_UM = 12.0  # side of the part of the layout that is enlarged
PIXELS = 1100


class Group(NamedTuple):
    """Cells of one colour, which only those added by placement have of their own."""

    name: str
    cells: list[str]
    area_um2: float
    colour: str


def groups(placed: Placed, hierarchy: Hierarchy) -> list[Group]:
    """The cells by module, the largest first: the module of most area is divided into its parts while there
    are colours left.
    """
    instances, row = placed.placement.instances, placed.lef.row_height
    added = {name: kind for kind in ADDED for name in instances if name.startswith(f"{kind}.")}
    path = {name: "" if name in added else hierarchy.cells.get(name, "") for name in instances}
    size = {name: placed.lef.macro(place.kind).width * row for name, place in instances.items()}
    area: dict[str, float] = defaultdict(float)  # of a module with all that is in it
    for name, module in path.items():
        for place in _with_above(module):
            area[place] += size[name]
    parts = defaultdict(list)
    for module in filter(None, area):
        parts[module.rpartition(".")[0]].append(module)
    tops, undivided = {""}, {""}
    while large := [item for item in undivided if area[item] > SPLIT_SHARE * area[""]]:
        module = max(large, key=lambda item: (area[item], item))
        undivided.remove(module)
        if len(tops) + len(parts[module]) <= GROUPS:
            tops |= set(parts[module])
            undivided |= set(parts[module])
    cells = defaultdict(list)
    for name, module in path.items():
        top = next(place for place in _with_above(module) if place in tops)
        cells[added.get(name, top)].append(name)
    found = []
    for module, members in cells.items():
        divided = bool({*parts[module]} & tops)
        usual = _title(module, hierarchy.modules, placed.placement.design, divided), ""
        title, colour = ADDED.get(module, usual)
        found.append(Group(title, members, sum(size[name] for name in members), colour))
    return sorted(found, key=lambda group: (bool(group.colour), -group.area_um2, group.name))


def _with_above(module: str) -> Iterator[str]:
    """A module and those that it is in, the nearest first."""
    yield module
    while module:
        module = module.rpartition(".")[0]
        yield module


def _title(module: str, modules: dict[str, str], design: str, divided: bool) -> str:
    if not module:
        return f"{design} itself" if divided else design
    # a generated module has the design's name in front of its own
    kind = modules.get(module, "").removeprefix(f"{design}_")
    rest = ", the rest" if divided else ""
    path = _short(_plain(module), LONGEST)
    if not kind:
        return f"{path}{rest}"
    return f"{path}{NEW_LINE if len(path) + len(kind + rest) > LINE else ' '}({kind}{rest})"


def _plain(module: str) -> str:
    """The path as the source writes it: PyMTL3 spells units[0] as units__0."""
    return re.sub(r"__(\d+)(?=__\d|\.|$)", r"[\1]", module)


def amoeba(placed: Placed, hierarchy: Hierarchy, timing: TimingReport, out: Path) -> None:
    """Draw the cells by module, with the worst path."""
    found = groups(placed, hierarchy)
    total = sum(group.area_um2 for group in found)
    figure = Figure((11, 8.2), dpi=130)
    axes = figure.add_axes((0.07, 0.07, 0.64, 0.83))
    _frame(axes, placed.placement)
    handles: list[Any] = []
    for index, group in enumerate(found):
        colour = group.colour or COLOURS[index % len(COLOURS)]
        boxes = map(placed.box, group.cells)
        corners = [[(x0, y0), (x1, y0), (x1, y1), (x0, y1)] for x0, y0, x1, y1 in boxes]
        axes.add_collection(
            PolyCollection(corners, facecolors=colour, edgecolors="white", linewidths=0.1, alpha=0.9)
        )
        share = 100 * group.area_um2 / total
        handles.append(Patch(color=colour, label=f"{group.name}\n{group.area_um2:,.0f} µm², {share:.1f} %"))
    handles += _draw_path(axes, timing, placed)
    _draw_ports(axes, placed.placement)
    axes.set_title(_heading(placed), loc="left", fontsize=11)
    _legend(figure, handles)
    _save(figure, out)


def _legend(figure: Figure, handles: list[Any]) -> Legend:
    """The legend right of the die, in the largest letters with which it fits into the figure."""
    for size in FONT_SIZES:
        legend = figure.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(LEGEND_X, 0.885),
            fontsize=size,
            frameon=False,
            labelspacing=0.9,
            title="Modules: area and share",
            title_fontsize=9.5,
            alignment="left",
        )
        box = legend.get_window_extent()
        if box.x1 <= figure.bbox.x1 and box.y0 >= figure.bbox.y0:
            break
        if size > FONT_SIZES[-1]:
            legend.remove()
    return legend


def _frame(axes: Axes, placement: Placement) -> None:
    width, height = placement.die_um
    axes.set(xlim=(-0.02 * width, 1.02 * width), ylim=(-0.02 * height, 1.02 * height))
    axes.set(aspect="equal", xlabel="x (µm)", ylabel="y (µm)")
    axes.add_patch(Rectangle((0, 0), width, height, fill=False, edgecolor="black", linewidth=1.2))


def _heading(placed: Placed) -> str:
    placement = placed.placement
    width, height = placement.die_um
    return (
        f"{placement.design}: {len(placement.instances):,} cells, {placed.area_um2:,.0f} µm² of "
        f"{placed.library.kit.name} cells\ndie {width:.0f} µm x {height:.0f} µm, "
        f"rows {100 * placement.density:.0f} % full"
    )


def _way(path: TimedPath, placed: Placed) -> list[Point]:
    """The middles of the cells that a path goes through."""
    names = dict.fromkeys(point.cell for point in path.points if point.cell in placed.placement.instances)
    return [middle([(x0, y0), (x1, y1)]) for x0, y0, x1, y1 in map(placed.box, names)]


def _draw_path(axes: Axes, timing: TimingReport, placed: Placed) -> list[Line2D]:
    """Draw the first path that has cells, the worst one first; its entry of the legend, if there is one."""
    ways = [(path, points) for path in timing.paths if len(points := _way(path, placed)) > 1]
    if not ways:
        return []
    path, points = min(ways, key=lambda way: way[0].slack_ns)
    xs, ys = zip(*points, strict=True)
    outline = [patheffects.Stroke(linewidth=4.0, foreground="black"), patheffects.Normal()]
    halo = [patheffects.withStroke(linewidth=3, foreground="white")]
    line: dict[str, Any] = {"color": PATH_COLOUR, "linewidth": 2.0, "path_effects": outline}
    mark: dict[str, Any] = {"color": PATH_COLOUR, "markeredgecolor": "black"}
    axes.plot(xs, ys, zorder=5, **line)
    axes.plot(xs[1:-1], ys[1:-1], "o", markersize=3.5, markeredgewidth=0.6, zorder=6, **mark)
    for at, text, marker in ((0, "start", "s"), (-1, "end", "D")):
        axes.plot(xs[at], ys[at], marker, markersize=8, zorder=7, **mark)
        left = xs[at] > sum(axes.get_xlim()) * 0.85
        axes.annotate(
            text,
            (xs[at], ys[at]),
            (-8 if left else 8, 7),
            ha="right" if left else "left",
            textcoords="offset points",
            fontsize=10,
            weight="bold",
            path_effects=halo,
            zorder=10,
        )
    ends = f"from {_short(path.start)}\nto {_short(path.end)}"
    label = f"worst path, {len(points)} cells, slack {path.slack_ns:+.3f} ns\n{ends}"
    return [Line2D([], [], label=label, **line)]


def _short(name: str, length: int = 34) -> str:
    return name if len(name) <= length else "..." + name[3 - length :]


def _draw_ports(axes: Axes, placement: Placement) -> None:
    """Ports as ticks at the edge of the die, each bus named once, about the middle of its bits."""
    pins = placement.pins.values()
    xs, ys = [pin.x_um for pin in pins], [pin.y_um for pin in pins]
    axes.plot(xs, ys, "s", color="black", markersize=2.5, zorder=4, clip_on=False)
    buses: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, pin in placement.pins.items():
        buses[pin.side][name.split("[")[0]].append(pin.y_um if pin.side in "WE" else pin.x_um)
    width, height = placement.die_um
    inset = 0.013 * max(width, height)
    box = {"facecolor": "white", "alpha": 0.8, "pad": 0.6, "edgecolor": "none"}
    style: dict[str, Any] = {"fontsize": 6, "ha": "center", "va": "center", "zorder": 9, "bbox": box}
    for side, names in buses.items():
        upright = side in "WE"
        for text, at in _labels(names, height if upright else width):
            x = {"W": inset, "E": width - inset}.get(side, at)
            y = {"S": inset, "N": height - inset}.get(side, at)
            axes.text(x, y, text, rotation=90 if upright else 0, **style)


def _labels(names: dict[str, list[float]], length: float) -> list[tuple[str, float]]:
    """Names along a side with their positions, shifted until none overlap; names without room are omitted."""
    letter = 0.0082 * length  # width of a letter of the size in use
    texts = {name: f"{name} ({len(bits)})" if len(bits) > 1 else name for name, bits in names.items()}
    wanted = sorted(
        (sum(bits) / len(bits), texts[name], letter * (len(texts[name]) + 1)) for name, bits in names.items()
    )
    while sum(size for *_, size in wanted) > (1 - 2 * CORNER) * length:
        wanted.remove(max(wanted, key=lambda item: item[2]))
    found = []
    free = CORNER * length
    last = (1 - CORNER) * length - sum(size for *_, size in wanted)  # where the gaps have all been used up
    for centre, text, size in wanted:
        start = min(max(centre - size / 2, free), last)
        found.append((text, start + size / 2))
        free = start + size
        last += size
    return found


def density(placed: Placed, routing: Routing, out: Path) -> None:
    """Draw how full the rows are and how much wire crosses each spot."""
    wires = wire_density(placed.placement, routing)
    maps = [
        ("Cells: share of the rows that is filled", "%", 100 * cell_density(placed), 100.0),
        ("Wires of the global routing", "µm per µm²", wires, float(wires.max()) or 1.0),
    ]
    figure = Figure((13.2, 6.4), dpi=110)
    width, height = placed.placement.die_um
    for axes, (title, unit, values, most) in zip(figure.subplots(1, 2), maps, strict=True):
        image = axes.imshow(
            values,
            origin="lower",
            extent=(0, width, 0, height),
            vmin=0.0,
            vmax=most,
            cmap="viridis",
            interpolation="nearest",
        )
        _frame(axes, placed.placement)
        axes.set_title(title, fontsize=10)
        figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03).set_label(unit)
    figure.suptitle(_heading(placed), fontsize=11, x=0.06, ha="left")
    figure.subplots_adjust(left=0.06, right=0.94, bottom=0.09, top=0.86, wspace=0.3)
    _save(figure, out)


class Tiles:
    """A die in tiles: a map of areas."""

    def __init__(self, placement: Placement) -> None:
        self.columns, self.rows = (max(round(length / TILE_UM), 4) for length in placement.die_um)
        self.dx, self.dy = placement.die_um[0] / self.columns, placement.die_um[1] / self.rows

    def covered(self, boxes: np.ndarray) -> np.ndarray:
        """The area of each tile that boxes (x0, y0, x1, y1) cover, in um^2."""
        tiles = np.zeros((self.rows, self.columns))
        for part in np.array_split(boxes, len(boxes) // BOXES + 1):
            widths = _within(part[:, ::2], self.dx, self.columns)
            tiles += _within(part[:, 1::2], self.dy, self.rows).T @ widths
        return tiles


def cell_density(placed: Placed) -> np.ndarray:
    """Filled share of the core in each tile; 0 outside of the core."""
    tiles = Tiles(placed.placement)
    filled = tiles.covered(np.array([placed.box(name) for name in placed.placement.instances]))
    room = tiles.covered(np.array([placed.placement.core_um]))
    return np.divide(filled, room, out=np.zeros_like(room), where=room > 0.02 * tiles.dx * tiles.dy)


def _within(intervals: np.ndarray, step: float, count: int) -> np.ndarray:
    """How much of each interval (a row) lies in each step (a column)."""
    low, high = intervals.T[:, :, None]
    edges = step * np.arange(count + 1)
    return np.clip(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0, None)


def wire_density(placement: Placement, routing: Routing) -> np.ndarray:
    """Length of wire an area in each tile."""
    tiles = Tiles(placement)
    found = [ends[1:] for net in routing.nets.values() for ends in net.segments]
    segments = np.array(found).reshape(-1, 2, 2)
    low, high = segments.min(axis=1), segments.max(axis=1)
    high += WIRE_UM * (low == high)  # a wire covers area if it has a width
    return tiles.covered(np.hstack([low, high])) / (WIRE_UM * tiles.dx * tiles.dy)


def unrouted(routing: Routing) -> str:
    """The line of a heading that says why a layout has no wires; empty if it has some."""
    if routing.detailed.done:
        return ""
    return f"\ncells, rails and ports only, without detailed routing: {routing.detailed.why_not}"


def layout(gds: Path, placed: Placed, routing: Routing, out: Path) -> None:
    """The GDS as KLayout draws it, without a display: the whole, and the middle of it enlarged."""
    import klayout.db as db
    import klayout.lay as lay

    view = lay.LayoutView()
    for key, value in (("background-color", "#ffffff"), ("grid-visible", "false"), ("text-visible", "false")):
        view.set_config(key, value)
    view.load_layout(str(gds), True)
    fill.remove(view.cellview(0).layout())
    box = view.cellview(0).layout().top_cell().dbbox()
    layers = _colour_layers(view, placed.lef.kit.picture)
    view.max_hier()
    middle = box.center()
    half = ENLARGED_UM / 2
    part = db.DBox(middle.x - half, middle.y - half, middle.x + half, middle.y + half)
    enlarged = f"{ENLARGED_UM:.0f} µm x {ENLARGED_UM:.0f} µm in its middle"
    figure = Figure((14, 7.6), dpi=110)
    with scratch() as directory:
        for index, (where, title) in enumerate(((box, "whole die"), (part, enlarged))):
            png = directory / f"{index}.png"
            size = PIXELS, round(PIXELS * where.height() / where.width())
            view.resize(*size)  # KLayout keeps the aspect of its canvas
            view.zoom_box(where)
            view.save_image(str(png), *size)
            shown = view.box()
            axes = figure.add_axes((0.05 + 0.46 * index, 0.08, 0.39, 0.78))
            axes.imshow(imread(png), extent=(shown.left, shown.right, shown.bottom, shown.top))
            axes.set(xlim=(where.left, where.right), ylim=(where.bottom, where.top))
            axes.set(xlabel="x (µm)", ylabel="y (µm)")
            axes.set_title(title, fontsize=10)
    handles = [
        Patch(facecolor=drawn.colour, edgecolor="black", linewidth=0.4, label=drawn.name) for drawn in layers
    ]
    figure.legend(
        handles=handles, loc="upper right", bbox_to_anchor=(0.995, 0.88), fontsize=8.5, frameon=False
    )
    figure.suptitle(_heading(placed) + unrouted(routing), fontsize=11, x=0.05, ha="left")
    _save(figure, out)


def _colour_layers(view: Any, layers: Iterable[Drawn]) -> list[Drawn]:
    """Show only these layers, filled, in their colours; returns those that the layout has."""
    view.clear_layers()
    content = view.cellview(0).layout()
    there = {
        (info.layer, info.datatype)
        for index, info in zip(content.layer_indexes(), content.layer_infos(), strict=True)
        if not content.top_cell().bbox_per_layer(index).empty()
    }
    shown = [layer for layer in layers if layer.drawn and layer.number in there]
    for layer in shown:
        number, datatype = layer.number
        _show(view, f"{number}/{datatype}", layer.colour, dither_pattern=0, transparent=False)  # 0: solid
    return shown


def _show(view: Any, source: str, colour: str, **properties: Any) -> None:
    """Add a layer to those that KLayout shows."""
    import klayout.lay as lay

    made = lay.LayerProperties()
    made.source = f"{source}@1"
    made.frame_color = made.fill_color = int(colour[1:], 16) | 0xFF000000  # opaque
    for name, value in properties.items():
        setattr(made, name, value)
    view.insert_layer(view.end_layers(), made)


# KLayout's patterns of layers that the kit gives none, by turns, so that one sees through them
METAL_DITHERS = (9, 10, 6, 7, 8, 11)


def layer_properties(gds: Path, lef: Lef, out: Path) -> None:
    """Names and colours of all layers of the GDS for KLayout's window: `klayout layout.gds -l layout.lyp`."""
    import klayout.lay as lay

    wiring = lef.kit.layers
    names = {wiring.number(name): name for name in wiring.gds}
    known = {item.number: item for item in lef.kit.picture}
    # texts and pins share the number of their metal
    parts = {wiring.label_type: "labels", wiring.pin_type: "pins"}
    drawings = {number: (number, datatype) for number, datatype in [*reversed(names), *reversed(known)]}
    view = lay.LayoutView()
    view.load_layout(str(gds), True)
    view.clear_layers()
    infos = view.cellview(0).layout().layer_infos()
    for number, datatype in sorted((info.layer, info.datatype) for info in infos):
        own = (number, datatype)
        of = own if own in known or own in names else drawings.get(number, own)
        drawn = known.get(of) or Drawn(of, names.get(of, "layer"), "#252525")
        labels = f" {parts[datatype]}" if of != own and datatype in parts else ""
        source = f"{number}/{datatype}"
        dither = METAL_DITHERS[number // 2 % len(METAL_DITHERS)] if drawn.dither is None else drawn.dither
        _show(
            view,
            source,
            drawn.colour,
            name=f"{drawn.name}{labels} ({source})",
            dither_pattern=dither,
            visible=drawn.shown,
        )
    with replacing(out) as part:
        view.save_layer_props(str(part))


def _save(figure: Figure, out: Path) -> None:
    with replacing(out) as part:
        figure.savefig(part, metadata={"Software": None})  # the same picture is the same file
