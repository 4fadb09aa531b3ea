"""`modexlab fpga`: what a design takes of an FPGA, and the frequency after place and route."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput
from ..machine import check_width
from ..progress import Progress
from ..table import table
from .arguments import (
    Commands,
    add_command,
    add_interface,
    add_json,
    add_settings,
    add_width,
    find_design,
    print_json,
    settings_of,
)

if TYPE_CHECKING:
    from ...flow.fpga import Event

DEFAULT_NBITS = 32
DEVICES = ("artix-7", "cyclone-v", "ecp5")

TEXT = """\
Counts are of yosys' own synthesis for each family, flat, before
packing: those of Artix-7 compare with paper 002, those of Cyclone V, whose ALMs are an estimate, with papers 000 and 004.
--pnr places and routes for ECP5 (and for Artix-7 where nextpnr-himbaechel with its Xilinx part is on PATH) with registers
at all ports, driven and read through three pins, and reports the frequency. Results are kept in the cache."""
EXAMPLES = """\
  modexlab fpga mont
  modexlab fpga mont-001 --nbits 8 --set nstages=4 --pnr
  modexlab fpga naive --device artix-7 cyclone-v --json
  modexlab fpga --verilog MontMulRem.v --top MontMulRem --device ecp5 --pnr"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "fpga",
        "count what a design takes of an FPGA",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument(
        "design", metavar="DESIGN", nargs="?", help="a design of the catalogue (see `modexlab designs`)"
    )
    add_width(parser, f"default: {DEFAULT_NBITS}")
    add_settings(parser)
    add_interface(parser)
    other = parser.add_argument_group("Verilog from elsewhere instead of a design")
    other.add_argument("--verilog", metavar="FILE", nargs="+", help="the files, packages before their users")
    other.add_argument("--top", metavar="NAME", help="the top module")
    parser.add_argument(
        "--device",
        nargs="+",
        metavar="NAME",
        choices=DEVICES,
        default=DEVICES,
        help=f"{', '.join(DEVICES)}; several may be given (default: all)",
    )
    parser.add_argument("--pnr", action="store_true", help="place and route, for the frequency")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    parameters = _parameters(args)
    start = time.monotonic()
    report = _run(parameters, list(dict.fromkeys(args.device)), args.pnr, args.json)
    report["seconds"] = round(time.monotonic() - start, 1)
    if args.json:
        print_json(report)
    else:
        print("\n".join(_text(report)))
    return 0


def _parameters(args: argparse.Namespace) -> dict[str, Any]:
    """Parameters of the flow's step `rtl`, which makes the Verilog; BadInput for what does not go together."""
    if args.verilog is None:
        if args.top is not None:
            raise BadInput("--top is for Verilog from elsewhere; add --verilog FILE")
        if args.design is None:
            raise BadInput("neither a design nor Verilog; give a DESIGN, or --verilog FILE --top NAME")
        design = find_design(args.design)
        nbits = DEFAULT_NBITS if args.nbits is None else check_width(args.nbits)
        settings = settings_of(design, args.settings)
        design.resolve(nbits, settings)
        return {
            "design": design.name,
            "nbits": nbits,
            "settings": ",".join(f"{name}={value}" for name, value in settings.items()),
            "interface": args.interface,
        }
    for option in ("design", "nbits", "settings"):
        if getattr(args, option):
            given = {"design": "DESIGN", "settings": "--set"}.get(option, f"--{option}")
            raise BadInput(f"{given} with --verilog: this is for designs of the catalogue; drop one of them")
    if args.top is None:
        raise BadInput("--verilog without --top: name the top module, as in --top MontMulRem")
    for path in args.verilog:
        if "," in path:
            raise BadInput(f"{path}: a comma in a path separates files; rename it")
        if not Path(path).is_file():
            raise BadInput(f"there is no file {path}; give Verilog files")
    return {"verilog": ",".join(str(Path(path).absolute()) for path in args.verilog), "top": args.top}


def _run(parameters: dict[str, Any], devices: list[str], pnr: bool, quiet: bool) -> dict[str, Any]:
    """The Verilog and its counts, with a line on stderr for every part that is done now."""
    from ...flow import fpga, graph, step

    running: list[str] = []
    with Progress("Verilog", quiet=quiet) as progress:

        def report(event: Event) -> None:
            if event.state == "begins":
                running.append(event.part)
            else:
                running.remove(event.part)
                if not quiet:
                    print(f"{event.part:<22} {event.seconds:6.1f} s", file=sys.stderr, flush=True)
            progress.describe(", ".join(running) or "FPGA")

        values = graph.checked(parameters)
        entry = step.execute("rtl", {}, {name: values[name] for name in graph.declaration("rtl").parameters})
        design = json.loads((entry / "design.json").read_text())
        measured = fpga.measure(entry / "design.sv", design["top"], devices, pnr=pnr, report=report)
    about = {key: design.get(key) for key in ("name", "top", "nbits", "interface", "parameters")}
    return about | {"devices": measured["devices"]}


# ---- as text

COLUMNS = {"luts": "LUT", "alms": "ALM", "ffs": "FF", "dsps": "DSP", "brams": "BRAM", "carries": "carry"}


def _text(report: dict[str, Any]) -> Iterator[str]:
    """A table, and below it what its figures are."""
    width = "" if report["nbits"] is None else f", {report['nbits']} bits, {report['interface']}"
    yield f"{report['name']}{width} (module {report['top']})"
    yield ""
    devices: dict[str, dict[str, Any]] = report["devices"]
    columns = {key: head for key, head in COLUMNS.items() if any(key in each for each in devices.values())}
    routed = any("pnr" in each for each in devices.values())
    head = ["device", *columns.values(), "of the part", *(["MHz"] if routed else []), "s"]
    rows = []
    for each in devices.values():
        most = max(each["shares"], key=lambda resource: each["shares"][resource])
        share = f"{each['shares'][most]:.1%} of {each['capacity'][most]:,} {COLUMNS[most]}, {each['part']}"
        pnr = each.get("pnr")
        rows.append(
            [
                each["family"],
                *(f"{each[key]:,}" if key in each else "-" for key in columns),
                share if each["fits"] else f"does not fit: {share}",
                *([f"{pnr['fmax_mhz']:.1f}" if pnr else "-"] if routed else []),
                f"{each['seconds'] + (pnr['seconds'] if pnr else 0):.1f}",
            ]
        )
    yield table(head, rows)
    yield ""
    for each in devices.values():
        if pnr := each.get("pnr"):
            yield from _routed(each["family"], pnr)
    for each in devices.values():
        yield f"{each['family']}: {each['counting']}; {each['tool']}"
        if "pnr_note" in each:
            yield f"  {each['pnr_note']}"
    yield f"{report['seconds']} s in all"


def _routed(family: str, pnr: dict[str, Any]) -> Iterator[str]:
    frame, path = pnr["frame"], pnr.get("critical_path")
    yield (
        f"{family} routed in {pnr['part']} ({pnr['settings']}; seed {pnr['seed']}): {pnr['fmax_mhz']:.1f} MHz, "
        f"{1000 / pnr['fmax_mhz']:.2f} ns"
    )
    if path:
        yield (
            f"  worst path: {path['start']} -> {path['end']}, {path['cells']} cells, {path['logic_ns']:.2f} ns in cells, "
            f"{path['routing_ns']:.2f} ns in wires"
        )
    yield (
        f"  out of context: {frame['ports']} ports behind shift registers on three pins ({frame['registers']} registers, "
        f"{frame['luts']} LUTs, not in the counts)"
    )
