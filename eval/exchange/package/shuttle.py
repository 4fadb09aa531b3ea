"""Tiny Tapeout: an accelerator as a project of this shuttle, behind eight pins each way.

Area and slack of the whole project are those of our synthesis with the cells of the shuttle. Words that our
flow keeps in latches are flip-flops here, as in the flow of the shuttle.
"""

import functools
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ....fl.errors import BadInput
from ....flow.graph import graph
from ....flow.progress import Report
from ....flow.source import VerilogFiles
from ....rtl.sim.translation.module_files import module_files
from ...designs.interfaces import DEFAULT
from ...designs.runnable import Runnable
from ...designs.verilog_header import origin
from ...folders import write_folder
from ...lab.flow_settings import check_flow
from .package import Package, licence_text, template
from .subject import table
from .vectors import vectors

if TYPE_CHECKING:
    from ....flow.graph.summary import Summary

BENCH = Path(__file__).with_name("shuttle_bench.py")
NAME, KIT = "tiny-tapeout", "sky130hd"
# um; tile_sizes.yaml of Tiny Tapeout's tt-support-tools, for sky130A
TILES: Mapping[str, tuple[float, float]] = {
    "1x1": (161.00, 111.52),
    "1x2": (161.00, 225.76),
    "2x2": (334.88, 225.76),
    "3x2": (508.76, 225.76),
    "4x2": (682.64, 225.76),
    "6x2": (1030.40, 225.76),
    "8x2": (1378.16, 225.76),
}
EDGES = 2 * 2.76, 2 * 2.72  # um without cells: six sites and a row on each side
DENSITY = 60  # %, the template's
CLOCK_NS = 20
BYTE = 8  # bits, and the step between widths that are tried
FIRST = 16, 32  # widths that the estimate begins with


def core_um2(tiles: str) -> float:
    """The area of these tiles in which cells can be placed."""
    width, height = TILES[tiles]
    return (width - EDGES[0]) * (height - EDGES[1])


def room_um2(tiles: str) -> float:
    """The area that the cells may have before layout."""
    return core_um2(tiles) * DENSITY / 100


class Shuttle(Package):
    """The project of a machine with streams."""

    @property
    def top(self) -> str:
        """The top module, with the pins of the shuttle."""
        return f"tt_um_{self.name}"

    @functools.cached_property
    def _words(self) -> dict[str, str]:
        """Words of all files."""
        subject, shape = self.subject, self.machine.shape
        request, response = (sum(nbits for _, nbits in fields) for fields in (shape.request, shape.response))
        in_bytes, out_bytes = (-(-nbits // BYTE) for nbits in (request, response))
        word = BYTE * max(in_bytes, out_bytes)
        modexlab, licence = origin()
        return {
            "name": self.name,
            "title": subject.title,
            "about": f"{subject.title}: {self.machine.design.summary}",
            "modexlab": modexlab,
            "licence": licence,
            "request_nbits": str(request),
            "response_nbits": str(response),
            "request_bytes": str(in_bytes),
            "response_bytes": str(out_bytes),
            "word_nbits": str(word),
            "first": str(word - BYTE * in_bytes),
            "density": str(DENSITY),
        }

    @functools.cached_property
    def sources(self) -> dict[str, str]:
        """The Verilog by the name of its file, types first."""
        made = template({"shuttle"}, self._words, "src/*.sv")
        wrapper = {Path(name).name: text for name, text in made.items()}
        return module_files(self.hardware.replace("(* latch *) ", "")) | wrapper

    def measured(self, clock_ns: float, report: Report) -> "Summary":
        """Area and slack of the project."""
        from ....flow.kit import kit
        from ...lab.asic_run import run_asic

        library = kit.named(KIT)
        kit.find(library)  # BadInput if it is not installed
        with tempfile.TemporaryDirectory() as directory:
            write_folder(Path(directory), self.sources)
            files = tuple(Path(directory) / name for name in self.sources)
            wanted, parameters = graph.with_judges("timing"), check_flow({"clock_period": clock_ns})
            return run_asic(wanted, VerilogFiles(files, self.top), parameters, report, adk=library)[1]

    def project(self, tiles: str, found: "Summary", progress: Callable[[str], object]) -> dict[str, str]:
        """The texts by path, for these tiles and with these figures."""
        progress("vectors")
        tests = vectors(self.subject, self.name)
        shape = self.machine.shape
        rows = []
        for message, fields in (("request", shape.request), ("response", shape.response)):
            high = sum(nbits for _, nbits in fields)
            for name, nbits in fields:
                rows.append((message, name, f"{high - 1}:{high - nbits}"))
                high -= nbits
        assert found.area_um2 is not None and found.wns_ns is not None
        words = self._words | {
            "tiles": tiles,
            "period": f"{found.clock_ns:g}",
            "clock_hz": str(round(1e9 / found.clock_ns)),
            "messages": table(("message", "field", "bits"), rows),
            "longest": f"{tests.longest}",
            "rows": str(len(tests.requests)),
            "sources": " ".join(self.sources),
            "source_list": "\n".join(f'    - "{name}"' for name in self.sources),
            "core_um2": f"{core_um2(tiles):,.0f}",
            "area_um2": f"{found.area_um2:,.0f}",
            "share": f"{100 * found.area_um2 / core_um2(tiles):.0f}",
            "slack_ns": f"{found.wns_ns:.2f}",
        }
        made = {f"src/{name}": text for name, text in self.sources.items()}
        bench = {"test/test.py": BENCH.read_text(), "test/rows.svh": tests.rows}
        return template({"shuttle"}, words) | made | bench | {"LICENSE": licence_text()}


def project(
    make: Callable[[int], Runnable],
    nbits: int | None,
    tiles: str | None,
    clock_ns: float,
    report: Report,
    progress: Callable[[str], object],
) -> "tuple[Shuttle, str, Summary]":
    """The project with its tiles and figures: the smallest tiles for a width, or the widest machine for
    tiles; without either, the widest machine for one tile.
    """

    @functools.cache
    def measured(width: int) -> "tuple[Shuttle, Summary]":
        progress(f"area of {width} bits")
        machine = make(width)
        found = Shuttle(machine, machine.interface(DEFAULT.name))
        return found, found.measured(clock_ns, report)

    def area(width: int) -> float:
        um2 = measured(width)[1].area_um2
        assert um2 is not None
        return um2

    if nbits is not None:
        needed = area(nbits)
        fitting = [name for name in ([tiles] if tiles else TILES) if needed <= room_um2(name)]
        if not fitting:
            most = tiles or max(TILES, key=core_um2)
            raise BadInput(
                f"--nbits {nbits}: its cells have {needed:,.0f} um2, and {most} tiles have room for "
                f"{room_um2(most):,.0f} at {DENSITY} %; take fewer bits or other --tiles"
            )
        tiles, width = fitting[0], nbits
    else:
        tiles = tiles or next(iter(TILES))
        room, (low, high) = room_um2(tiles), map(area, FIRST)
        slope = (high - low) / (FIRST[1] - FIRST[0])
        width = max(BYTE, int(FIRST[0] + (room - low) / slope) // BYTE * BYTE)
        while area(width) > room:
            if (width := width - BYTE) < BYTE:
                raise BadInput(f"no width fits the {room:,.0f} um2 of {tiles} tiles; take more --tiles")
        while area(width + BYTE) <= room:
            width += BYTE
    shuttle, found = measured(width)
    if not found.met:
        raise BadInput(
            f"--clock {clock_ns:g}: {width} bits miss it by {-(found.wns_ns or 0):.2f} ns; take a longer one"
        )
    return shuttle, tiles, found
