"""`modexlab asic --fpga`: FPGA resources of a design, and its frequency after place and route."""

import sys
from argparse import Namespace

from ....flow.fpga.parts import Event
from ....flow.fpga.report import FpgaRun, Routed
from ....flow.progress import Running
from ....flow.source import Source
from ...lab.stages import FPGA
from ...progress import Progress
from ..arguments import given, refuse
from ..laboratory import flow_point
from ..options import HARDWARE, VERILOG, Group, Option, flag
from ..render import Table, answer
from .asic import external

SUMMARY = "count the FPGA resources of a design"
TEXT = """\
Counts come from the yosys synthesis for each family,
flattened and before packing. Artix-7 compares with paper 002, Cyclone V (whose ALMs are an estimate) with
papers 000 and 004. --pnr places and routes for ECP5, and for Artix-7 if nextpnr-himbaechel with its Xilinx
part is on PATH, with registers at all ports, accessed through three pins, and reports the frequency."""
EXAMPLES = """\
  modexlab asic mont --fpga
  modexlab asic mont-001 --fpga --nbits 8 --set nstages=4 --pnr
  modexlab asic naive --fpga --device artix-7 cyclone-v --json
  modexlab asic --fpga --accelerator cores/mine/design.toml --device ecp5
  modexlab asic --fpga --verilog flow/examples/accumulator.v --top accumulator --device ecp5 --pnr"""


OPTIONS = (
    *("design", "--accelerator"),
    *HARDWARE,
    Group("Verilog from elsewhere instead of a design", VERILOG),
    Option("--device", nargs="+", metavar="NAME", help="artix-7, cyclone-v, ecp5 (default: all)"),
    flag("--pnr", "place and route, for the frequency"),
    "--json",
)


def execute(args: Namespace) -> int:
    from ....flow.fpga.fpga import DEVICES, find  # not at the top: it needs the extra [flow]

    devices = [find(name).name for name in dict.fromkeys(args.device or DEVICES)]
    report = _run(_source(args), devices, args.pnr, args.json)
    width = "" if report.nbits is None else f", {report.nbits} bits, {report.interface}"
    answer(
        args, report, f"{report.name}{width} (module {report.top})", _table(report), "\n".join(_notes(report))
    )
    return 0


def _source(args: Namespace) -> Source:
    """The design, or the Verilog; BadInput for what does not go together."""
    if given(args, "verilog"):
        return external(args)
    refuse(args, ["top"], " is for Verilog from elsewhere; add --verilog FILE")
    point = flow_point(args, FPGA)
    point.check()
    chip = point.chip()
    chip.check()
    return chip


def _run(source: Source, devices: list[str], pnr: bool, quiet: bool) -> FpgaRun:
    """The Verilog and its counts, with a line on stderr for every part that is done now."""
    from ...lab.asic_run import run_fpga

    running = Running()
    with Progress("Verilog", quiet=quiet) as progress:

        def report(event: Event) -> None:
            if running.take(event.part, event.state) and not quiet:
                print(f"{event.part:<22} {event.seconds:6.1f} s", file=sys.stderr, flush=True)
            progress.describe(str(running) or "FPGA")

        return run_fpga(source, devices, pnr, report)


# ---- as text

COLUMNS = {
    "luts": "LUT",
    "alms": "ALM",
    "slices": "slices",
    "ffs": "FF",
    "dsps": "DSP",
    "brams": "BRAM",
    "carries": "carry",
}


def _table(report: FpgaRun) -> Table:
    devices = report.devices.values()
    columns = [key for key in COLUMNS if any(device.count(key) is not None for device in devices)]
    routed = any(device.pnr for device in devices)
    rows = []
    for device in devices:
        most = max(device.shares, key=lambda resource: device.shares[resource])
        share = f"{device.shares[most]:.1%} of {device.capacity[most]:,} {COLUMNS[most]}, {device.part}"
        pnr = device.pnr
        counts = (device.count(key) for key in columns)
        rows.append(
            [
                device.family,
                *(None if count is None else f"{count:,}" for count in counts),
                share if device.fits else f"does not fit: {share}",
                *([f"{pnr.fmax_mhz:.1f}" if pnr else None] if routed else []),
                f"{device.seconds + (pnr.seconds if pnr else 0):.1f}",
            ]
        )
    head = ["device", *(COLUMNS[key] for key in columns), "of the part", *(["MHz"] if routed else []), "s"]
    return Table(head, rows)


def _notes(report: FpgaRun) -> list[str]:
    lines = [
        line
        for device in report.devices.values()
        if device.pnr
        for line in _routed(device.family, device.pnr)
    ]
    for device in report.devices.values():
        lines.append(f"{device.family}: {device.counting}; {device.tool}")
        lines += [f"  {device.pnr_note}"] if device.pnr_note else []
    return [*lines, f"{report.seconds} s in all"]


def _routed(family: str, pnr: Routed) -> list[str]:
    frame, path = pnr.frame, pnr.critical_path
    speed = f"{pnr.fmax_mhz:.1f} MHz, {1000 / pnr.fmax_mhz:.2f} ns"
    lines = [f"{family} routed in {pnr.part} ({pnr.settings}; seed {pnr.seed}): {speed}"]
    if path:
        times = f"{path.logic_ns:.2f} ns in cells, {path.routing_ns:.2f} ns in wires"
        lines.append(f"  worst path: {path.start} -> {path.end}, {path.cells} cells, {times}")
    registers = f"{frame.registers} registers, {frame.luts} LUTs, not in the counts"
    return [
        *lines,
        f"  out of context: {frame.ports} ports behind shift registers on three pins ({registers})",
    ]
