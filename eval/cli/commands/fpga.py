"""`modexlab asic --fpga`: FPGA resources of a design, and its frequency after place and route."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....fl.errors import BadInput
from ....fl.param import PAPER_NBITS
from ...lab.stages import FPGA
from ...progress import Progress
from ...table import table
from ..arguments import (
    add_interface,
    add_json,
    add_manifests,
    add_settings,
    add_verilog,
    add_width,
    answer,
    flow_point,
    refuse_with_verilog,
)

if TYPE_CHECKING:
    from ....flow.fpga.parts import Event
    from ....flow.fpga.report import FpgaRun, Routed
    from ....flow.source import Source


SUMMARY = "count what a design takes of an FPGA"
TEXT = """\
Counts are of yosys' own synthesis for each family, flat, before
packing: those of Artix-7 compare with paper 002, those of Cyclone V, whose ALMs are an estimate, with papers 000 and 004.
--pnr places and routes for ECP5 (and for Artix-7 where nextpnr-himbaechel with its Xilinx part is on PATH) with registers
at all ports, driven and read through three pins, and reports the frequency. Results are kept in the cache."""
EXAMPLES = """\
  modexlab asic mont --fpga
  modexlab asic mont-001 --fpga --nbits 8 --set nstages=4 --pnr
  modexlab asic naive --fpga --device artix-7 cyclone-v --json
  modexlab asic --fpga --design cores/mine/design.toml --device ecp5
  modexlab asic --fpga --verilog flow/examples/accumulator.v --top accumulator --device ecp5 --pnr"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "design", metavar="DESIGN", nargs="?", help="a design of the catalogue (see `modexlab show`)"
    )
    add_manifests(parser)
    add_width(parser, f"default: {PAPER_NBITS}")
    add_settings(parser)
    add_interface(parser, units=True)
    add_verilog(parser)
    parser.add_argument(
        "--device",
        nargs="+",
        metavar="NAME",
        help="artix-7, cyclone-v, ecp5; several may be given (default: all)",
    )
    parser.add_argument("--pnr", action="store_true", help="place and route, for the frequency")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ....flow.fpga.fpga import DEVICES, find

    devices = [find(name).name for name in dict.fromkeys(args.device or DEVICES)]
    report = _run(_source(args), devices, args.pnr, args.json)
    answer(args, lambda: report, lambda: _text(report))
    return 0


def _source(args: argparse.Namespace) -> Source:
    """The design, or the Verilog; BadInput for what does not go together."""
    from ...lab.asic_run import verilog_files  # not at the top: --help must be quick

    if args.verilog is None:
        if args.top is not None:
            raise BadInput("--top is for Verilog from elsewhere; add --verilog FILE")
        point = flow_point(args, FPGA, {})
        point.check()
        chip = point.chip()
        chip.check()
        return chip
    refuse_with_verilog(args, ("design", "manifests", "nbits", "settings"))
    return verilog_files(args.verilog, args.top, include=args.include or (), define=args.define or ())


def _run(source: Source, devices: list[str], pnr: bool, quiet: bool) -> FpgaRun:
    """The Verilog and its counts, with a line on stderr for every part that is done now."""
    from ....flow.progress import Running
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


def _text(report: FpgaRun) -> Iterator[str]:
    """A table, and below it what its figures are."""
    width = "" if report.nbits is None else f", {report.nbits} bits, {report.interface}"
    yield f"{report.name}{width} (module {report.top})"
    yield ""
    devices = report.devices.values()
    columns = {
        key: head for key, head in COLUMNS.items() if any(device.count(key) is not None for device in devices)
    }
    routed = any(device.pnr for device in devices)
    head = ["device", *columns.values(), "of the part", *(["MHz"] if routed else []), "s"]
    rows = []
    for device in devices:
        most = max(device.shares, key=lambda resource: device.shares[resource])
        share = f"{device.shares[most]:.1%} of {device.capacity[most]:,} {COLUMNS[most]}, {device.part}"
        pnr = device.pnr
        counts = (device.count(key) for key in columns)
        rows.append(
            [
                device.family,
                *("-" if count is None else f"{count:,}" for count in counts),
                share if device.fits else f"does not fit: {share}",
                *([f"{pnr.fmax_mhz:.1f}" if pnr else "-"] if routed else []),
                f"{device.seconds + (pnr.seconds if pnr else 0):.1f}",
            ]
        )
    yield table(head, rows)
    yield ""
    for device in devices:
        if device.pnr:
            yield from _routed(device.family, device.pnr)
    for device in devices:
        yield f"{device.family}: {device.counting}; {device.tool}"
        if device.pnr_note:
            yield f"  {device.pnr_note}"
    yield f"{report.seconds} s in all"


def _routed(family: str, pnr: Routed) -> Iterator[str]:
    frame, path = pnr.frame, pnr.critical_path
    yield (
        f"{family} routed in {pnr.part} ({pnr.settings}; seed {pnr.seed}): {pnr.fmax_mhz:.1f} MHz, "
        f"{1000 / pnr.fmax_mhz:.2f} ns"
    )
    if path:
        yield (
            f"  worst path: {path.start} -> {path.end}, {path.cells} cells, {path.logic_ns:.2f} ns in cells, "
            f"{path.routing_ns:.2f} ns in wires"
        )
    yield (
        f"  out of context: {frame.ports} ports behind shift registers on three pins ({frame.registers} "
        "registers, "
        f"{frame.luts} LUTs, not in the counts)"
    )
