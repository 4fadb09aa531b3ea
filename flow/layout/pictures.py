"""Pictures of a layout: who lies where, how densely, which way the worst path goes, and the layout itself.

`amoeba` colours every cell by the module that it belongs to, as Figures 15 and 16 of paper 001, with area and
share of each module in the legend and the worst path of timing.json over it. `density` is two maps: how full
the rows are and how much wire crosses each spot. `layout` is what KLayout shows of layout.gds, whole and a
part of it enlarged.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...fl.errors import BadInput
from ..files import replacing
from ..kit.kit_file import Drawn
from ..kit.lef import Lef, Point
from ..netlist.hierarchy import Hierarchy
from ..timing.report import TimingReport
from .placement import HOLD, TREE, Placement
from .routing import Routing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

GROUPS = 11  # modules in the legend; more of them no eye tells apart
SPLIT_SHARE = 0.06  # a module smaller than this is not divided further
# Okabe and Ito's colours, which colour-blind people tell apart, and tints of them; by area, the largest first
COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1",
    "#a6761d", "#66c2a4", "#f4a582", "#7f7f7f", "#bcbd22",
)  # fmt: skip
PATH_COLOUR = "#ffe600"  # the paper draws its paths yellow, too
ADDED = {TREE: "clock tree", HOLD: "delays for hold"}  # by placement, and what the legend calls it
ADDED_COLOURS = {"clock tree": "#d7191c", "delays for hold": "#000000"}
NEW_LINE, LINE, LONGEST = "\n", 36, 48  # letters of a line of the legend, wanted and at most
LEGEND_X = 0.725  # its left edge, in widths of the figure
FONT_SIZES = (8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0, 4.5, 4.0)
CORNER = 0.05  # of a side without port names: those of the next side begin there
TILE_UM = 5.0  # of the density maps
ENLARGED_UM = 12.0  # side of the part of the layout that is enlarged
PIXELS = 1100


@dataclass(frozen=True)
class Group:
    """Cells of one colour."""

    name: str
    cells: list[str]
    area_um2: float


def groups(placement: Placement, hierarchy: Hierarchy, lef: Lef) -> list[Group]:
    """The cells by module, the largest first: the module of most area is divided into its parts while there
    are colours left.
    """
    owner, modules = hierarchy.cells, hierarchy.modules
    added = {name: kind for kind in ADDED for name in placement.instances if name.startswith(f"{kind}.")}
    path = {name: "" if name in added else owner.get(name, "") for name in placement.instances}
    area: dict[str, float] = defaultdict(float)  # of a module with all that is in it
    for name, instance in placement.instances.items():
        size = lef.macro(instance.kind).width * lef.row_height
        levels = path[name].split(".")
        for depth in range(len(levels) + 1):
            area[".".join(levels[:depth])] += size
    tops = {""}

    def children(module: str) -> set[str]:
        start = f"{module}." if module else ""
        depth = start.count(".") + 1
        return {
            ".".join(item.split(".")[:depth])
            for item in area
            if item and item.startswith(start) and item != module
        }

    total = _area(placement, lef)
    refused: set[str] = set()
    while candidates := [item for item in tops - refused if area[item] > SPLIT_SHARE * total]:
        module = max(candidates, key=lambda candidate: (area[candidate], candidate))
        parts = children(module)
        if not parts or len(tops) + len(parts) > GROUPS:
            refused.add(module)
        else:
            tops |= parts
            refused.add(module)
    cells: dict[str, list[str]] = defaultdict(list)
    sizes: dict[str, float] = defaultdict(float)
    for name, instance in placement.instances.items():
        module = added.get(name) or max((top for top in tops if _inside(path[name], top)), key=len)
        cells[module].append(name)
        sizes[module] += lef.macro(instance.kind).width * lef.row_height
    found = [
        Group(
            _title(module, modules, placement.design, divided=bool(children(module) & tops)),
            cells[module],
            sizes[module],
        )
        for module in cells
    ]
    return sorted(found, key=lambda group: (group.name in ADDED.values(), -group.area_um2, group.name))


def _inside(path: str, module: str) -> bool:
    return not module or path == module or path.startswith(f"{module}.")


def _title(module: str, modules: dict[str, str], design: str, *, divided: bool) -> str:
    if module in ADDED:
        return ADDED[module]
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
    parts = [part.split("__") for part in module.split(".")]
    return ".".join(
        part[0] + "".join(f"[{item}]" for item in part[1:])
        if all(item.isdigit() for item in part[1:])
        else "__".join(part)
        for part in parts
    )


def amoeba(placement: Placement, lef: Lef, hierarchy: Hierarchy, timing: TimingReport, out: Path) -> None:
    """Draw the cells by module, with the worst path."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    found = groups(placement, hierarchy, lef)
    total = sum(group.area_um2 for group in found)
    figure = _figure(11, 8.2, dpi=130)
    axes = figure.add_axes((0.07, 0.07, 0.64, 0.83))
    _frame(axes, placement)
    handles: list[Any] = []
    path = _worst_path(timing, placement, lef)
    for index, group in enumerate(found):
        colour = ADDED_COLOURS.get(group.name) or COLOURS[index % len(COLOURS)]
        corners = [_corners(placement, lef, name) for name in group.cells]
        axes.add_collection(
            PolyCollection(corners, facecolors=colour, edgecolors="white", linewidths=0.1, alpha=0.9)
        )
        share = 100 * group.area_um2 / total
        handles.append(Patch(color=colour, label=f"{group.name}\n{group.area_um2:,.0f} µm², {share:.1f} %"))
    if path:
        handles.append(_draw_path(axes, *path))
    _draw_ports(axes, placement)
    axes.set_title(_heading(placement, lef), loc="left", fontsize=11)
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


def _figure(width: float, height: float, dpi: int) -> Figure:
    """A figure of so many inches that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=dpi)
    FigureCanvasAgg(figure)
    return figure


def _frame(axes: Axes, placement: Placement) -> None:
    from matplotlib.patches import Rectangle

    width, height = placement.die_um
    axes.set_xlim(-0.02 * width, 1.02 * width)
    axes.set_ylim(-0.02 * height, 1.02 * height)
    axes.set_aspect("equal")
    axes.add_patch(Rectangle((0, 0), width, height, fill=False, edgecolor="black", linewidth=1.2))
    axes.set_xlabel("x (µm)")
    axes.set_ylabel("y (µm)")


def _area(placement: Placement, lef: Lef) -> float:
    """All cells, in um^2."""
    return sum(lef.macro(cell.kind).width for cell in placement.instances.values()) * lef.row_height


def _heading(placement: Placement, lef: Lef) -> str:
    width, height = placement.die_um
    area = _area(placement, lef)
    return (
        f"{placement.design}: {len(placement.instances):,} cells, {area:,.0f} µm² of NanGate 45 nm cells\n"
        f"die {width:.0f} µm x {height:.0f} µm, rows {100 * placement.density:.0f} % full"
    )


def _corners(placement: Placement, lef: Lef, name: str) -> list[Point]:
    instance = placement.instances[name]
    x, y, width = instance.x_um, instance.y_um, lef.macro(instance.kind).width
    return [(x, y), (x + width, y), (x + width, y + lef.row_height), (x, y + lef.row_height)]


def _worst_path(
    timing: TimingReport, placement: Placement, lef: Lef
) -> tuple[list[Point], float, str, str] | None:
    """The middles of the cells of the first path that has any: (points, slack, start, end)."""
    for path in sorted(timing.paths, key=lambda path: path.slack_ns):
        points: list[Point] = []
        for point in path.points:
            name = point.cell
            if name not in placement.instances:
                if name in placement.pins:
                    points.append((placement.pins[name].x_um, placement.pins[name].y_um))
                continue
            instance = placement.instances[name]
            middle = (instance.x_um + lef.macro(instance.kind).width / 2, instance.y_um + lef.row_height / 2)
            if not points or points[-1] != middle:
                points.append(middle)
        if len(points) > 1:
            return points, path.slack_ns, path.start, path.end
    return None


def _draw_path(axes: Axes, points: list[Point], slack: float, start: str, end: str) -> Any:
    from matplotlib import patheffects
    from matplotlib.lines import Line2D

    xs, ys = zip(*points, strict=True)
    outline = [patheffects.Stroke(linewidth=4.0, foreground="black"), patheffects.Normal()]
    axes.plot(xs, ys, color=PATH_COLOUR, linewidth=2.0, path_effects=outline, zorder=5)
    axes.plot(
        xs[1:-1],
        ys[1:-1],
        "o",
        color=PATH_COLOUR,
        markersize=3.5,
        markeredgecolor="black",
        markeredgewidth=0.6,
        zorder=6,
    )
    for at, text, marker in ((0, "start", "s"), (-1, "end", "D")):
        axes.plot(xs[at], ys[at], marker, color=PATH_COLOUR, markersize=8, markeredgecolor="black", zorder=7)
        halo = [patheffects.withStroke(linewidth=3, foreground="white")]
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
    label = f"worst path, {len(points)} cells, slack {slack:+.3f} ns\nfrom {_short(start)}\nto {_short(end)}"
    return Line2D([], [], color=PATH_COLOUR, linewidth=2.0, path_effects=outline, label=label)


def _short(name: str, length: int = 34) -> str:
    return name if len(name) <= length else "..." + name[3 - length :]


def _draw_ports(axes: Axes, placement: Placement) -> None:
    """Ports as ticks at the edge of the die, each bus named once, about the middle of its bits."""
    xs = [pin.x_um for pin in placement.pins.values()]
    ys = [pin.y_um for pin in placement.pins.values()]
    axes.plot(xs, ys, "s", color="black", markersize=2.5, zorder=4, clip_on=False)
    buses: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, pin in placement.pins.items():
        along = pin.y_um if pin.side in "WE" else pin.x_um
        buses[pin.side][name.split("[")[0]].append(along)
    width, height = placement.die_um
    inset = 0.013 * max(width, height)
    for side, names in buses.items():
        length = height if side in "WE" else width
        for text, at in _labels(names, length):
            x = {"W": inset, "E": width - inset}.get(side, at)
            y = {"S": inset, "N": height - inset}.get(side, at)
            box = {"facecolor": "white", "alpha": 0.8, "pad": 0.6, "edgecolor": "none"}
            turn = 90 if side in "WE" else 0
            axes.text(x, y, text, fontsize=6, ha="center", va="center", rotation=turn, zorder=9, bbox=box)


def _labels(names: dict[str, list[float]], length: float) -> list[tuple[str, float]]:
    """Names along a side and where they stand, moved so far that none is on another; without those that find
    no room.
    """
    letter = 0.0082 * length  # width of a letter of the size in use
    wanted = []
    for name, places in names.items():
        text = f"{name} ({len(places)})" if len(places) > 1 else name
        wanted.append((sum(places) / len(places), text, letter * (len(text) + 1)))
    wanted.sort()
    while sum(size for *_, size in wanted) > (1 - 2 * CORNER) * length:
        wanted.remove(max(wanted, key=lambda item: item[2]))
    limit = (1 - CORNER) * length - sum(size for *_, size in wanted)  # where the gaps have all been used up
    found, free = [], CORNER * length
    taken = 0.0
    for middle, text, size in wanted:
        start = min(max(middle - size / 2, free), limit + taken)
        found.append((text, start + size / 2))
        free = start + size
        taken += size
    return found


def density(placement: Placement, lef: Lef, routing: Routing, out: Path) -> None:
    """Draw how full the rows are and how much wire crosses each spot."""
    wires = wire_density(placement, routing)
    maps = [
        ("Cells: share of the rows that is filled", "%", 100 * cell_density(placement, lef), (0.0, 100.0)),
        ("Wires of the global routing", "µm per µm²", wires, (0.0, float(wires.max()) or 1.0)),
    ]
    figure = _figure(6.6 * len(maps), 6.4, dpi=110)
    for index, (title, unit, values, (low, high)) in enumerate(maps):
        axes = figure.add_subplot(1, len(maps), index + 1)
        width, height = placement.die_um
        image = axes.imshow(
            values,
            origin="lower",
            extent=(0, width, 0, height),
            vmin=low,
            vmax=high,
            cmap="viridis",
            interpolation="nearest",
        )
        _frame(axes, placement)
        axes.set_title(title, fontsize=10)
        bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
        bar.set_label(unit)
    figure.suptitle(_heading(placement, lef), fontsize=11, x=0.06, ha="left")
    figure.subplots_adjust(left=0.06, right=0.94, bottom=0.09, top=0.86, wspace=0.3)
    _save(figure, out)


def _tiles(placement: Placement) -> tuple[int, int, float, float]:
    """Columns, rows and the size of the tiles of a map."""
    width, height = placement.die_um
    columns, rows = max(round(width / TILE_UM), 4), max(round(height / TILE_UM), 4)
    return columns, rows, width / columns, height / rows


def cell_density(placement: Placement, lef: Lef) -> np.ndarray:
    """Filled share of the core in each tile; 0 outside of the core."""
    columns, rows, dx, dy = _tiles(placement)
    filled, room = np.zeros((rows, columns)), np.zeros((rows, columns))
    cells = [
        (
            instance.x_um,
            instance.y_um,
            instance.x_um + lef.macro(instance.kind).width,
            instance.y_um + lef.row_height,
        )
        for instance in placement.instances.values()
    ]
    _spread(filled, np.array(cells), dx, dy)
    _spread(room, np.array([placement.core_um]), dx, dy)
    return np.divide(filled, room, out=np.zeros_like(room), where=room > 0.02 * dx * dy)


def _spread(tiles: np.ndarray, boxes: np.ndarray, dx: float, dy: float) -> None:
    """Add the area of each box (x0, y0, x1, y1) to the tiles that it covers."""
    rows, columns = tiles.shape
    box, column, width = _cut(boxes[:, 0], boxes[:, 2], dx, columns)
    part, row, height = _cut(boxes[box, 1], boxes[box, 3], dy, rows)
    np.add.at(tiles, (row, column[part]), width[part] * height)


def _cut(
    low: np.ndarray, high: np.ndarray, step: float, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Intervals cut at the multiples of a step: of each part its interval, the number of the step, and its
    length.
    """
    first = np.clip(np.floor(low / step).astype(int), 0, count - 1)
    last = np.clip(np.ceil(high / step).astype(int) - 1, first, count - 1)
    parts = last - first + 1
    which = np.repeat(np.arange(len(parts)), parts)
    number = first[which] + np.arange(len(which)) - (np.cumsum(parts) - parts)[which]
    ends = np.minimum(high[which], (number + 1) * step) - np.maximum(low[which], number * step)
    return which, number, np.clip(ends, 0, None)


def wire_density(placement: Placement, routing: Routing) -> np.ndarray:
    """Length of wire an area in each tile."""
    columns, rows, dx, dy = _tiles(placement)
    tiles = np.zeros((rows, columns))
    found = [ends[1:] for net in routing.nets.values() for ends in net.segments]
    segments = np.array(found).reshape(-1, 4)
    low, high = np.minimum(segments[:, :2], segments[:, 2:]), np.maximum(segments[:, :2], segments[:, 2:])
    for axis, (along, across) in enumerate((((dx, columns), (dy, rows)), ((dy, rows), (dx, columns)))):
        wire, number, length = _cut(low[:, axis], high[:, axis], *along)
        line = np.clip(np.floor(low[wire, 1 - axis] / across[0]).astype(int), 0, across[1] - 1)
        np.add.at(tiles, (line, number) if axis == 0 else (number, line), length)
    return tiles / (dx * dy)


def unrouted(routing: Routing) -> str:
    """The line of a heading that says why a layout has no wires; empty if it has some."""
    if routing.detailed.done:
        return ""
    return f"\ncells, rails and ports only, without detailed routing: {routing.detailed.why_not}"


def layout(gds: Path, placement: Placement, lef: Lef, routing: Routing, out: Path) -> None:
    """The GDS as KLayout draws it, without a display: the whole, and the middle of it enlarged."""
    try:
        import klayout.db as db
        import klayout.lay as lay
    except ImportError:
        raise BadInput(
            "KLayout is missing, so there is no picture of the layout: run `pip install --no-deps "
            "klayout==0.30.12`"
        ) from None
    from matplotlib.image import imread

    view = lay.LayoutView()
    view.set_config("background-color", "#ffffff")
    view.set_config("grid-visible", "false")
    view.set_config("text-visible", "false")
    view.load_layout(str(gds), True)
    box = view.cellview(0).layout().top_cell().dbbox()
    names = _colour_layers(view, lay, lef.kit.picture)
    view.max_hier()
    side = ENLARGED_UM / 2
    middle = box.center()
    part = db.DBox(middle.x - side, middle.y - side, middle.x + side, middle.y + side)
    figure = _figure(14, 7.6, dpi=110)
    with tempfile.TemporaryDirectory(prefix="layout-") as directory:
        for index, (where, title) in enumerate(
            ((box, "whole die"), (part, f"{ENLARGED_UM:.0f} µm x {ENLARGED_UM:.0f} µm in its middle"))
        ):
            png = Path(directory) / f"{index}.png"
            view.zoom_box(where)
            view.save_image(str(png), PIXELS, round(PIXELS * where.height() / where.width()))
            shown = view.box()  # KLayout keeps the aspect of its canvas
            axes = figure.add_axes((0.05 + 0.46 * index, 0.08, 0.39, 0.78))
            axes.imshow(imread(png), extent=(shown.left, shown.right, shown.bottom, shown.top))
            axes.set_xlim(where.left, where.right)
            axes.set_ylim(where.bottom, where.top)
            axes.set_xlabel("x (µm)")
            axes.set_ylabel("y (µm)")
            axes.set_title(title, fontsize=10)
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=colour, edgecolor="black", linewidth=0.4, label=name) for name, colour in names
    ]
    figure.legend(
        handles=handles, loc="upper right", bbox_to_anchor=(0.995, 0.88), fontsize=8.5, frameon=False
    )
    heading = _heading(placement, lef) + unrouted(routing)
    figure.suptitle(heading, fontsize=11, x=0.05, ha="left")
    _save(figure, out)


def _colour_layers(view: Any, lay: Any, layers: Iterable[Drawn]) -> list[tuple[str, str]]:
    """Show only these layers, filled, in their colours; returns those that the layout has."""
    view.clear_layers()
    content = view.cellview(0).layout()
    present = {
        info.layer
        for info, index in ((content.get_info(i), i) for i in content.layer_indexes())
        if info.datatype == 0 and not content.top_cell().bbox_per_layer(index).empty()
    }
    shown = []
    for layer in layers:
        if layer.gds not in present or not layer.drawn:
            continue
        properties = lay.LayerProperties()
        properties.source = f"{layer.gds}/0@1"
        properties.fill_color = properties.frame_color = _opaque(layer.colour)
        properties.dither_pattern = 0  # solid
        properties.transparent = False
        view.insert_layer(view.end_layers(), properties)
        shown.append((layer.name, layer.colour))
    return shown


def _opaque(colour: str) -> int:
    return int(colour[1:], 16) | 0xFF000000


# KLayout's patterns of layers that the kit gives none, by turns, so that one sees through them
METAL_DITHERS = (9, 10, 6, 7, 8, 11)


def layer_properties(gds: Path, lef: Lef, out: Path) -> None:
    """Names and colours of all layers of the GDS for KLayout's window: `klayout layout.gds -l layout.lyp`."""
    import klayout.lay as lay

    rules = lef.kit
    numbers = {number: name for name, number in rules.layers.gds.items()}
    known = {item.gds: item for item in rules.picture}
    view = lay.LayoutView()
    view.load_layout(str(gds), True)
    view.clear_layers()
    content = view.cellview(0).layout()
    for info in sorted(content.layer_infos(), key=lambda layer_info: (layer_info.layer, layer_info.datatype)):
        drawn = known.get(info.layer) or Drawn(info.layer, numbers.get(info.layer, "layer"), "#252525")
        properties = lay.LayerProperties()
        labels = " labels" if info.datatype and info.layer in numbers else ""
        properties.name = f"{drawn.name}{labels} ({info.layer}/{info.datatype})"
        properties.source = f"{info.layer}/{info.datatype}@1"
        properties.frame_color = properties.fill_color = _opaque(drawn.colour)
        index = METAL_DITHERS[info.layer // 2 % len(METAL_DITHERS)]
        properties.dither_pattern = index if drawn.dither is None else drawn.dither
        properties.visible = drawn.shown
        view.insert_layer(view.end_layers(), properties)
    with replacing(out) as part:
        view.save_layer_props(str(part))


def _save(figure: Figure, out: Path) -> None:
    with replacing(out) as part:
        figure.savefig(part, metadata={"Software": None})  # the same picture is the same file
