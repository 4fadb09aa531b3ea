"""FPGA resources of a design: LUTs, registers, DSP blocks, block RAM and carry chains of Artix-7, Cyclone V,
ECP5 and Virtex-E.

The papers use these devices: 002 the Artix-7 XC7A100T, 003 a Virtex-E XCV2000E, 000 the Cyclone V
5CGXFC5C6, 004 a Cyclone V. `measure` reads a design once (read_slang), then runs yosys' own synthesis for
each family, flat, and counts the cells of the netlist. DEVICES has the resources of every kind of cell; an
unknown kind is rejected and not ignored. Nothing is placed or routed, so there is no frequency.

ALMs are an estimate, as yosys does not pack them. An ALM of Cyclone V has eight inputs, two adders and four
registers, and implements one function of 6 inputs, or one of 5 and one of 3, or two of 4 (Cyclone V Device
Handbook, volume 1, chapter 1). So:

    ALMs = max(n6 + n5 + ceil((n4 + max(0, n3 - n5)) / 2) + ceil(adder bits / 2) + ceil(LUT RAM bits / 2),
               ceil(registers / 4))

with n6, n5, n4 functions of 6, 5, 4 inputs and n3 of up to 3. Functions that share inputs could be packed
more tightly, and registers of other functions may keep some ALMs from being filled.

Results are kept in the cache (rtl/sim/cache.py) under the contents of the design, the version of the tool and
this source.
"""

import json
import math
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput, unknown
from ...rtl.sim import cache
from .. import product
from ..files import scratch
from ..netlist import yosys
from ..netlist.document import Document, Module
from ..progress import Report
from ..synth import source_latches
from ..synth.read_design import CONFLICT, check_given, slang_source
from .report import DeviceReport, Number, made

JOBS = 2
# LUTs are sites of the fabric, so that a carry chain that occupies them counts too
RESOURCES = ("luts", "ffs", "dsps", "brams", "carries")
UNDRIVEN = re.compile(r"Warning: Wire (\S+?)(?: \[(\d+)\])? is used but has no driver")
# limit of a netlist; larger ones take hours and more memory than a small computer has
MAX_LUTS = 500_000
LUTS_A_PRODUCT_BIT = 0.15  # of a wide multiplier, to add up its DSP blocks

Cells = Mapping[str, int]
Prices = Mapping[str, Mapping[str, float]]
Estimate = Callable[[Cells, Mapping[str, float]], int]


@dataclass(frozen=True)
class Device:
    """An FPGA family: the part whose capacity is compared, and the resources of each kind of cell."""

    name: str
    family: str
    part: str
    synthesis: str  # command of yosys
    capacity: Mapping[str, int]
    prices: Prices
    counting: str
    # blocks into which the family packs LUTs and registers, and their estimate
    packs: tuple[str, Estimate] | None = None
    usual: bool = True  # counted by default

    def count(self, cells: Cells) -> dict[str, Number]:
        """The resources of a netlist with these numbers of cells by kind; BadInput for a kind that the family
        lacks.
        """
        sums: dict[str, float] = defaultdict(float)
        for kind, number in cells.items():
            if kind.startswith("$_TBUF_"):
                raise BadInput(
                    f"{number} nets have three states, which {self.family} only has at pins: use a "
                    "multiplexer"
                )
            if kind not in self.prices:
                raise BadInput(
                    f"the netlist for {self.family} has {number} cells of kind {kind}, which is no part of "
                    "it: "
                    "give the module's source as well"
                )
            for resource, price in self.prices[kind].items():
                sums[resource] += price * number
        sums["dsps"] = math.ceil(sums["dsps"] - 1e-9)  # a block in partial use counts as one
        counts = {
            name: int(sums[name]) if sums[name] == int(sums[name]) else sums[name] for name in RESOURCES
        }
        if self.packs is not None:
            block, estimate = self.packs
            counts[block] = estimate(cells, counts)
        return counts


def cyclone_alms(cells: Cells, counts: Mapping[str, float]) -> int:
    """ALMs by the formula in the module's docstring."""
    n6, n5, n4, arithmetic, memory = (
        cells.get(f"MISTRAL_{kind}", 0) for kind in ("ALUT6", "ALUT5", "ALUT4", "ALUT_ARITH", "MLAB")
    )
    n3 = sum(cells.get(f"MISTRAL_{kind}", 0) for kind in ("ALUT3", "ALUT2", "NOT", "BUF"))
    logic = n6 + n5 + math.ceil((n4 + max(0, n3 - n5)) / 2)
    return max(logic + math.ceil(arithmetic / 2) + math.ceil(memory / 2), math.ceil(counts["ffs"] / 4))


def slices(luts: int, ffs: int) -> tuple[str, Estimate]:
    """An estimate of slices with this many LUTs and registers each: as many as LUTs or registers fill."""
    return "slices", lambda _, counts: math.ceil(max(counts["luts"] / luts, counts["ffs"] / ffs))


SLICES = "slices: estimated, as many as LUTs or registers fill"


def _each(kinds: str, **prices: float) -> dict[str, dict[str, float]]:
    return dict.fromkeys(kinds.split(), prices)


DEVICES = {
    device.name: device
    for device in (
        Device(
            "artix-7",
            "Artix-7",
            "XC7A100T",
            "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf",
            {"luts": 63_400, "ffs": 126_800, "dsps": 240, "brams": 135},
            {
                **_each("LUT1 LUT2 LUT3 LUT4 LUT5 LUT6 INV SRL16E SRLC16E SRLC32E RAM32X1S RAM64X1S", luts=1),
                **_each("RAM32X1D RAM64X1D RAM128X1S", luts=2),
                **_each("RAM128X1D RAM256X1S RAM32M RAM64M", luts=4),
                **_each("FDRE FDSE FDCE FDPE FDRE_1 FDSE_1 FDCE_1 FDPE_1", ffs=1),
                **_each("CARRY4", carries=1),
                **_each("DSP48E1", dsps=1),
                **_each("RAMB36E1", brams=1),
                **_each("RAMB18E1", brams=0.5),
                **_each("MUXF7 MUXF8 GND VCC"),
            },
            "LUT: cells of up to 6 inputs, inverters, shift registers and LUT RAM, one site each, before "
            "two small ones are packed "
            f"into one; carry: CARRY4 of 4 bits; DSP: DSP48E1; BRAM: of 36 kbit; {SLICES}",
            slices(4, 8),
        ),
        Device(
            "cyclone-v",
            "Cyclone V",
            "5CGXFC5C6",
            "synth_intel_alm -family cyclonev -noiopad -noclkbuf",
            {"alms": 29_080, "ffs": 116_320, "dsps": 150, "brams": 446},
            {
                **_each("MISTRAL_ALUT2 MISTRAL_ALUT3 MISTRAL_ALUT4 MISTRAL_ALUT5 MISTRAL_ALUT6", luts=1),
                **_each("MISTRAL_NOT MISTRAL_BUF MISTRAL_MLAB", luts=1),
                **_each("MISTRAL_ALUT_ARITH", luts=1, carries=1),
                **_each("MISTRAL_FF MISTRAL_SDFF", ffs=1),
                **_each("MISTRAL_MUL27X27", dsps=1),
                **_each("MISTRAL_MUL18X18", dsps=1 / 2),
                **_each("MISTRAL_MUL9X9", dsps=1 / 3),
                **_each("MISTRAL_M10K", brams=1),
            },
            "ALM: estimated from the functions, adder bits and registers by max(n6 + n5 + (n4 + max(0, n3 - "
            "n5)) / 2 + adder bits / 2 + "
            "LUT RAM bits / 2, registers / 4); LUT: functions of up to 6 inputs, adder bits included; "
            "carry: adder bits; DSP: blocks of "
            "one product of 27 bits, two of 18 or three of 9; BRAM: M10K",
            ("alms", cyclone_alms),
        ),
        Device(
            "ecp5",
            "ECP5",
            "LFE5U-85F",
            "synth_ecp5",
            {"luts": 83_640, "ffs": 83_640, "dsps": 156, "brams": 208},
            {
                **_each("LUT4", luts=1),
                **_each("CCU2C", luts=2, carries=1),
                **_each("TRELLIS_DPR16X4", luts=6),
                **_each("TRELLIS_FF", ffs=1),
                **_each("MULT18X18D", dsps=1),
                **_each("DP16KD PDPW16KD", brams=1),
                **_each("PFUMX L6MUX21 VLO VHI"),
            },
            "LUT: of 4 inputs, with two for each CCU2C and six for each LUT RAM of 16 x 4; carry: CCU2C of "
            "2 bits; DSP: multipliers "
            "MULT18X18D of 18 bits; BRAM: DP16KD",
        ),
        Device(
            "virtex-e",
            "Virtex-E",
            "XCV2000E",
            "synth_xilinx -family xcve -flatten -noiopad -noclkbuf",
            {"luts": 38_400, "ffs": 38_400, "brams": 160},
            {
                **_each("LUT1 LUT2 LUT3 LUT4 INV SRL16 SRL16E RAM16X1S RAM32X1S", luts=1),
                **_each("RAM16X1D", luts=2),
                **_each("FDRE FDSE FDCE FDPE FDRE_1 FDSE_1 FDCE_1 FDPE_1", ffs=1),
                **_each("MUXCY", carries=1),
                **_each("XORCY MUXF5 MUXF6 MULT_AND GND VCC"),
                **_each("RAMB4_S1 RAMB4_S2 RAMB4_S4 RAMB4_S8 RAMB4_S16", brams=1),
                **_each(
                    " ".join(
                        f"RAMB4_S{a}_S{b}" for a in (1, 2, 4, 8, 16) for b in (1, 2, 4, 8, 16) if a <= b
                    ),
                    brams=1,
                ),
            },
            "LUT: of up to 4 inputs, inverters, shift registers and LUT RAM; carry: MUXCY; BRAM: of 4 "
            f"kbit; {SLICES}; yosys calls "
            "its synthesis for this family experimental",
            slices(2, 2),
            usual=False,
        ),
    )
}

USUAL = tuple(name for name, device in DEVICES.items() if device.usual)

READ = """\
read_slang --ignore-timing --top {top} {source}
hierarchy -check -top {top}
proc
flatten -noscopeinfo
opt_expr
opt_clean
write_json design.json
"""

# separate, because it visits every pair of bits of a product: sizes are checked first
CHECK = """\
read_json design.json
check
"""

# abc9's check of its own result takes hours for wide arithmetic, and yosys ignores the answer
SYNTHESIZE = """\
read_json design.json
scratchpad -set abc9.verify false
{synthesis} -top {top}
clean
write_json netlist.json
"""


def find(name: str) -> Device:
    """The device with this name; BadInput if there is none."""
    if name not in DEVICES:
        raise unknown("device", name, DEVICES)
    return DEVICES[name]


def measure(
    design_sv: Path,
    top: str,
    devices: Collection[str] = USUAL,
    *,
    report: Report = lambda _: None,
    limit: float | None = None,
) -> dict[str, DeviceReport]:
    """Count the resources of module `top` on each device; BadInput if a synthesis exceeds `limit` in CPU
    time.
    """
    chosen = [find(name) for name in devices]
    design = elaborate(design_sv, top, report)

    def one(device: Device) -> DeviceReport:
        entry = _synthesize(device, design, top, report, limit)
        return product.read(entry / DeviceReport.FILE, DeviceReport)

    with ThreadPoolExecutor(JOBS) as pool:
        # the first BadInput cancels waiting devices
        return dict(zip([device.name for device in chosen], pool.map(one, chosen), strict=True))


def elaborate(design_sv: Path, top: str, report: Report = lambda _: None) -> Path:
    """The flat design before synthesis, the same for all families; BadInput if it is no circuit."""
    check_given(design_sv, top)

    def build(directory: Path) -> None:
        with scratch(directory.parent) as work:
            source = shutil.copyfile(slang_source(design_sv, work), work / "design.sv")
            read = yosys.run("read", READ.format(source=source.name, top=top), work)
            module = json.loads((work / "design.json").read_text())["modules"][top]
            if (estimate := estimated_luts(module)) > MAX_LUTS:
                raise BadInput(
                    f"{top} would take some {estimate:,} LUTs, and no more than {MAX_LUTS:,} can be "
                    f"synthesised here (the largest ECP5 has {DEVICES['ecp5'].capacity['luts']:,}): give a "
                    "smaller width or fewer units"
                )
            flat: Document = {"modules": {top: module}}
            source_latches.refuse_all(flat, top)
            _check_log(top, read.log + yosys.run("check", CHECK, work).log)
            shutil.move(work / "design.json", directory / "design.json")

    digest = cache.file_digest(design_sv)
    return made("read", "fpga-read", [top, digest, yosys.version()], build, report) / "design.json"


def _synthesize(device: Device, design: Path, top: str, report: Report, limit: float | None) -> Path:
    """The directory with counts.json of a family."""

    def build(directory: Path) -> None:
        with scratch(directory.parent) as work:
            shutil.copyfile(design, work / "design.json")
            script = SYNTHESIZE.format(synthesis=device.synthesis, top=top)
            run = yosys.run("synthesize", script, work, limit=limit)
            module = json.loads((work / "netlist.json").read_text())["modules"][top]
            # scope information is no cell
            kinds = Counter(cell["type"] for cell in module["cells"].values() if cell["type"] != "$scopeinfo")
            cells = dict(sorted(kinds.items()))
            counts: dict[str, Any] = device.count(cells)
            shares = {name: round(counts[name] / whole, 4) for name, whole in device.capacity.items()}
            result = DeviceReport(
                family=device.family,
                part=device.part,
                **counts,
                capacity=dict(device.capacity),
                shares=shares,
                fits=max(shares.values()) <= 1,
                cells=cells,
                counting=device.counting,
                tool=f"yosys {yosys.version()}: {device.synthesis}",
                seconds=round(run.seconds, 1),
                peak_memory_mib=run.peak_memory_mib,
            )
            result.write(directory)

    parts = [device.name, top, cache.file_digest(design), yosys.version(), device.synthesis]
    return made(device.family, "fpga-synthesis", parts, build, report)


def _check_log(top: str, log: str) -> None:
    """BadInput for loops, and for nets with two drivers or none."""
    if conflict := CONFLICT.search(log):
        net = conflict[1].rstrip(":").partition(".")[2].replace("\\", "")
        raise BadInput(f"{top}: {net} has more than one driver: give each net one")
    source_latches.check_loops(log, source_latches.ASSIGN)
    if undriven := UNDRIVEN.search(log):
        net = undriven[1].rpartition("\\")[2]
        raise BadInput(f"{top}: {net} is read, but nothing drives it: connect it")


def estimated_luts(module: Module) -> int:
    """One LUT per bit of an operator's result, more for products; accurate to a factor of two at best."""
    luts = 0.0
    for cell in module["cells"].values():
        widths = {key: int(value, 2) for key, value in cell["parameters"].items() if key.endswith("WIDTH")}
        if cell["type"] in ("$mul", "$div", "$mod", "$pow", "$divfloor", "$modfloor"):
            products = widths["A_WIDTH"] * widths["B_WIDTH"]
            luts += products * (LUTS_A_PRODUCT_BIT if cell["type"] == "$mul" else 1)
        elif not cell["type"].startswith(("$dff", "$adff", "$sdff", "$mem")):
            luts += widths.get("Y_WIDTH", widths.get("WIDTH", 1))
    return math.ceil(luts)
