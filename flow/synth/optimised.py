"""Optimised synthesis: rewrites the arithmetic of a design before Yosys and abc map it.

The design is read once (read_design.py). The passes of PASSES rewrite it: one adder serves several sums that
differ in a condition (sharing.py), chains of sums stay in carry-save form (carry_save.py), and the goal
`area` uses the inverted outputs of registers (complements.py). Designs that differ only in the form of a sum
therefore become nearly the same netlist. Then the script of the goal runs (scripts/GOAL.ys, with its
reasons). Adders that the design names become cells (named_cells.py), and registers that it marks become
latches (latches.py).

abc sizes cells and builds buffer trees for MARGINS of the clock, with the kit's wire per fan-out on each net,
so that sizes allow for placement.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ...fl.errors import BadInput, unknown
from ..kit import kit, liberty
from ..netlist import logic, yosys
from ..netlist.document import Document, Module
from ..progress import say
from . import estimate, role_cells, script, source_latches
from .carry_save import narrow, save_carries
from .complements import use_complements
from .latches import map_latches
from .mapped import MOST_CHOSEN, Mapped, show_scripts
from .named_cells import instances
from .netlist_files import name_cells, tie_and_split
from .read_design import COARSE, HIERARCHY, KEPT, Reading, read_design
from .sharing import share_adders

STYLE = "optimised"
PARTS = ("coarse", "registers", "finish")
BEFORE_ABC = "before_abc.il"
REPEATED = ("mapped.json", "map.log")  # files that a style's script writes from abc on

FULL_ADDERS, SPARSE = "full-adders", "sparse-adders"
ADDERS = {  # kinds of carries: arguments of techmap
    "mixed": "-D MIXED -map carry.v",
    "ripple": "-map carry.v",
    FULL_ADDERS: "-map full_adders.v -map carry.v",
    SPARSE: "-map sparse_adders.v -map carry.v",
    "brent-kung": "",
    "sklansky": "-map +/choices/sklansky.v",
    "kogge-stone": "-map +/choices/kogge-stone.v",
    "han-carlson": "-map +/choices/han-carlson.v",
}
MAPPING = re.compile(r"-map (\w+\.v)")
AUTO = "auto"  # ripple if the clock leaves time for the carries of subtractions, otherwise mixed
BEFORE_NAMED = "sklansky"  # for AUTO, if named cells wait for sums: the quotient of a digit
CARRIES_SHARE = 0.75  # of the clock
CLOCK, SMALLEST, FAST = "clock", "area", "fast"
GOALS = (CLOCK, SMALLEST, FAST)
MARGINS = {CLOCK: script.MARGIN, SMALLEST: 1.5, FAST: script.MARGIN}  # of the clock, for abc's sizing
PASSES = ("sharing", "carry-save", "complements", "named-cells")
# a caveat for comparisons of designs that differ in the form of a sum
FORM = (
    "synthesis rewrites conditional sums (one adder where several differ in a condition, carries saved), so "
    "that designs that differ in the form of a sum alone, such as the values textbook and koc of add_red, "
    "become nearly the same netlist; the style plain leaves sums as they are written"
)
# The structures from which abc chooses gates, in place of @structure@ in a style's NAME.abc: the area
# network, and one balanced for depth, with which a mapping that is LATE is repeated. If sizing meets the
# clock from the first one, it is smaller: mont at 3 ns takes 10,451 um^2 and with the second one 11,118
# (delay before sizing: 1.14 times the clock), mont-001's unit at 2.9 ns 11,528 and 12,047 (1.16). At 1.175
# times the clock sizing misses it from the first: mont at 2.9 ns, -0.07 ns and +0.02, and mont-ct at 3 ns,
# -0.04 ns and +0.02.
LATE = 1.15  # times the clock; sizing makes up for less
STRUCTURES = {"area": "&dch -f", "depth": "&if -g\n&st\n&dch"}
# for a design of more than MOST_CHOSEN cells
WITHOUT_CHOICES = {"area, no choices": "", "depth, no choices": "&if -g\n&st"}
# The style `area` maps in both ways, by the shapes of cells and by cuts, and keeps the smaller netlist. Cuts
# suit control logic (tiny with 16 bits: 555 um^2 in 252 cells, and by shapes 558 in 267), and shapes suit
# arithmetic. A design of more than MOST_CHOSEN cells is mapped in the first way only.
AREA_STRUCTURES = {
    "shapes": "dch -f\namap -m",
    "cuts": "&get -n\n&syn3\n&syn3\n&dch -f\n&nf -R 1000 -F 20\n&put",
}
ABC_DELAY = re.compile(r"\bDelay = *([\d.]+) ps")


@dataclass(frozen=True)
class Options:
    """Options of the style."""

    goal: str = CLOCK
    adders: str = AUTO
    booth: bool = True
    clock_gating: bool = True
    hierarchy: bool = False  # map each module separately
    leave_out: str = ""  # some of PASSES, separated by commas, to measure the contribution of each

    def __post_init__(self) -> None:
        """BadInput for an unknown value."""
        for kind, value, known in (
            ("goal of synthesis", self.goal, GOALS),
            ("kind of adder", self.adders, (AUTO, *ADDERS)),
            *(("pass of synthesis", name, PASSES) for name in self.left_out),
        ):
            if value not in known:
                raise unknown(kind, value, known)

    @property
    def left_out(self) -> list[str]:
        """The passes that do not run."""
        return self.leave_out.split(",") if self.leave_out else []

    def does(self, name: str) -> bool:
        """Whether this pass runs."""
        return name not in self.left_out


def mapped(design_sv: Path, top: str, out: Path, clock_ns: float, options: Options, files: kit.Kit) -> Mapped:
    """Rewrite and map a design."""
    if options.goal == FAST and options.adders == AUTO:
        options = replace(options, adders="mixed")
    adders = ("full_adder", "half_adder") if options.adders in (FULL_ADDERS, SPARSE) else ()
    if not all(role_cells.find(files.library, role).network for role in adders):
        raise BadInput(f"the kit {files.source} has too few gates for adders={options.adders}")
    work = out / "work"
    say("reading")
    whole = not options.hierarchy
    named = whole and options.does("named-cells")
    reading = read_design(design_sv, top, work, files=files if named else None)
    hierarchy = json.loads((work / HIERARCHY).read_text())
    design = json.loads((work / (COARSE if whole else KEPT)).read_text())
    say("mapping")
    made = _Mapper(clock_ns, options, files, hierarchy, reading).mapped(design, top, work)
    show_scripts(work, ("map.ys", "map.log", f"{options.goal}.abc", *source_latches.FILES), out)
    cells = made.module["cells"]
    return Mapped(
        made.module,
        made.owners,
        made.options,
        max(reading.peak_memory_mib, made.peak_memory_mib),
        {
            **made.counts,
            "named_cells": dict(Counter(cells[name]["type"] for name in reading.named & cells.keys())),
            "caveats": (FORM,) if made.counts["shared_adders"] or made.counts["carry_save_rows"] else (),
            "structure": made.structure,
        },
    )


class _Made(NamedTuple):
    """A mapped design, the path of each cell's module, and how it was made."""

    module: Module
    owners: dict[str, str]
    options: Options
    counts: dict[str, Any]  # fields of the report
    structure: str
    peak_memory_mib: float


@dataclass(frozen=True)
class _Mapper:
    """Maps a design as read."""

    clock_ns: float
    options: Options
    files: kit.Kit
    hierarchy: Document
    reading: Reading

    def mapped(self, design: Document, top: str, work: Path) -> _Made:
        """Map a design in `work`."""
        library = self.files.library
        # marks for coarse.ys; choices from constants stay multiplexers, which can be folded
        for choice in instances(design, ("$bmux",)):
            if {*choice["connections"]["A"]} - logic.CONSTANTS.keys():
                choice.setdefault("attributes", {})["modexlab_data"] = "1"
        shared, chains = 0, []
        if self.options.does("sharing"):
            shared = share_adders(design)
        if self.options.does("carry-save"):
            narrow(design)
            chains = save_carries(design)
        map_latches(design, top, library)
        cells = design["modules"][top]["cells"]
        own = self.reading.named & cells.keys()
        named = sorted({cells[name]["type"] for name in own})
        (work / "shared.json").write_text(json.dumps(design))
        kinds = self._adders(design, bool(named))
        self._write_inputs(work, kinds)
        few = estimate.cells(design) - len(own) <= MOST_CHOSEN
        results = []
        for adders, structures in itertools.product(kinds, self._structures(few)):
            options = replace(self.options, adders=adders)
            script = self._script(top, options, named, work)
            structure, mapping = self._map(script, work, structures)
            unmapped, module = (
                json.loads((work / name).read_text())["modules"][top]
                for name in ("unmapped.json", "mapped.json")
            )
            if self.options.goal == SMALLEST and self.options.does("complements"):
                use_complements(module, library)
            um2 = sum(library.cells[cell["type"]].area for cell in module["cells"].values())
            results.append((um2, unmapped, module, options, structure, mapping))
        _, unmapped, module, options, structure, mapping = min(results, key=lambda result: result[0])

        before = logic.read(unmapped, library)
        tie_and_split(module, library, module["ports"])
        owners = name_cells(
            before, module, self.hierarchy, top, library, self.reading.named, self.reading.latches.bits
        )
        return _Made(
            module,
            owners,
            options,
            {"shared_adders": shared, "carry_save_rows": sum(map(len, chains))},
            structure,
            mapping.peak_memory_mib,
        )

    def _structures(self, few: bool) -> list[Mapping[str, str]]:
        """The structures of each mapping to try, for a design with few cells or with many."""
        if self.options.goal == SMALLEST:
            ways: list[Mapping[str, str]] = [{name: way} for name, way in AREA_STRUCTURES.items()]
            return ways if few else ways[:1]
        return [STRUCTURES if few else WITHOUT_CHOICES]

    def _adders(self, design: Document, named: bool) -> list[str]:
        """The kinds of adders to map with: the requested one, or the one that suits the clock; several if the
        smallest netlist is wanted.
        """
        if self.options.adders != AUTO:
            return [self.options.adders]
        if named:
            return [BEFORE_NAMED]
        carries = max(estimate.carries(module) for module in design["modules"].values())
        late = carries * self.files.library.roles.carry_ns > CARRIES_SHARE * self.clock_ns
        if self.options.goal == SMALLEST and not late and self.files.library.roles.full_adder:
            return ["ripple", SPARSE]
        return ["mixed" if late else "ripple"]

    def _write_inputs(self, work: Path, adders: Sequence[str]) -> None:
        """Write the files that the scripts read."""
        library = self.files.library
        for name in {name for kind in adders for name in MAPPING.findall(ADDERS[kind])}:
            text = (script.FOLDER / name).read_text()
            (work / name).write_text(_with_adders(text, library))
        asked = library.kit.constraints
        (work / "drive.constr").write_text(script.constraints(asked.mapping_driver, asked.mapping_load_ff))
        wire_ff = asked.mapping_wire_ff
        (work / "wires.lib").write_text(
            with_wire_load(self.files.lib.read_text(), wire_ff / library.cap_unit_ff)
        )
        smallest = self.options.goal == SMALLEST
        early = next(iter(AREA_STRUCTURES.values())) if smallest else STRUCTURES["depth"]
        (work / "early.abc").write_text(self._abc(early))

    def _abc(self, structure: str) -> str:
        """The abc commands of the goal."""
        return script.filled_in(f"{self.options.goal}.abc", {"structure": structure})

    def _script(self, top: str, options: Options, named: list[str], work: Path) -> str:
        """The script of the goal with its parts and parameters filled in; the fan-in of the `named` kinds of
        cells is mapped separately.
        """
        library = self.files.library
        values = {
            "top": top,
            "lib": yosys.scripted(self.files.lib, work),
            "abc_lib": "wires.lib",
            "period_ps": f"{self.clock_ns * MARGINS[options.goal] * script.PS_PER_NS:.0f}",
            "booth": "booth" if options.booth else "",
            "adder_map": ADDERS[options.adders],
            "clock_gating": script.clock_gating(library) if options.clock_gating else "",
        }
        values["latches"] = source_latches.commands(self.reading.latches, library, top, work)
        values |= {part: script.filled_in(f"{part}.ys", values) for part in PARTS}
        text = script.filled_in(f"{options.goal}.ys", values)
        if not named:
            return text
        registers = ",".join(kind for kind, cell in library.cells.items() if cell.sequential)
        cells = " ".join(f"t:{kind}" for kind in named) + " %u" * (len(named) - 1)
        return ABC.sub(
            lambda match: EARLY.format(named=cells, registers=registers, abc=match[1]) + match[0],
            text,
            count=1,
        )

    def _map(self, text: str, work: Path, structures: Mapping[str, str]) -> tuple[str, yosys.Run]:
        """Run a script; if the result is late, repeat abc's part with the second structure, if there is one.
        Return the structure of the better result, and the run.
        """
        match, goal = BY_ABC.search(text), self.options.goal
        assert match, goal
        before, by_abc = text[: match.start()], text[match.start() :]

        def run(structure: str, commands: str) -> tuple[float, yosys.Run]:
            (work / f"{goal}.abc").write_text(self._abc(structures[structure]))
            done = yosys.run("map", commands, work)
            return max(map(float, ABC_DELAY.findall(done.log)), default=0.0), done

        first, *others = structures
        delay, done = run(first, f"{before}write_rtlil {BEFORE_ABC}\n{by_abc}")
        if not others or goal == FAST or delay <= LATE * self.clock_ns * script.PS_PER_NS:
            return first, done
        for name in REPEATED:
            (work / name).rename(work / f"{first}.{name}")
        second = others[0]
        faster, again = run(second, f"read_rtlil {BEFORE_ABC}\n{by_abc}")
        again = replace(again, peak_memory_mib=max(done.peak_memory_mib, again.peak_memory_mib))
        if faster < delay:
            return second, again
        for name in REPEATED:
            (work / f"{first}.{name}").replace(work / name)
        return first, done


# The fan-in of named cells, such as the adder of a quotient's digit, is mapped first and for depth: abc sees
# no path through these cells, and would make it as slow as the slowest other path, such as the adder of a
# result.
EARLY = """\
select -set early {named} %ci*:-{registers}
{abc} -script early.abc @early
"""
ABC = re.compile(r"^(abc .*) -script \S+$", re.MULTILINE)
BY_ABC = re.compile(r"^(select -set early|abc) ", re.MULTILINE)  # beginning of abc's part of a script


def _with_adders(text: str, library: liberty.Library) -> str:
    """A mapping file with the library's adders in place of @full_adder(a, b, carry in, carry, sum)@ and
    @half_adder(...)@.
    """

    def instance(match: re.Match[str]) -> str:
        network = role_cells.find(library, match[1]).network
        assert network is not None, "refused before"
        *inputs, carry, total = match[2].split(", ")
        nets = dict(enumerate(inputs)) | dict(zip(network.outputs, (carry, total), strict=True))
        inner = {net for _, pins in network.cells for _, net in pins} - nets.keys()
        text = "".join(f"wire n{net}; " for net in sorted(inner))
        for number, (kind, pins) in enumerate(network.cells):
            ports = ", ".join(f".{pin}({nets.get(net, f'n{net}')})" for pin, net in pins)
            text += f"{kind} adder{number or ''} ({ports}); "
        return text.rstrip() if len(network.cells) == 1 else f"begin : cell {text}end"

    return re.sub(r"@(full_adder|half_adder)\((.*)\)@", instance, text)


def with_wire_load(lib_text: str, cap: float) -> str:
    """The library with a default wire-load model of this capacitance, in the library's unit, per reader of a
    net.
    """
    default = re.search(r"^\s*default_wire_load : .*$", lib_text, re.MULTILINE)
    default = default or re.search(r"(?<=\{)(?=\s)", lib_text)  # otherwise at the beginning of the library
    if default is None:
        raise BadInput("the Liberty file has no library in it")
    lengths = "".join(f"    fanout_length( {fanout}, {fanout} );\n" for fanout in range(1, 9))
    model = (
        f'  wire_load("by_reader") {{\n    capacitance : {cap:g};\n    resistance : 0;\n    slope : '
        f"1;\n{lengths}  }}\n"
        '  default_wire_load : "by_reader" ;'
    )
    return lib_text[: default.start()] + model + lib_text[default.end() :]
