"""Count the FPGA resources of a design.

Counts come from the yosys synthesis for each family, flattened and before packing. Artix-7 compares with
paper 002, Cyclone V (whose ALMs are an estimate) with papers 000 and 004. Nothing is placed or routed; `make
fpga` in an IP package (`modexlab verilog DESIGN --package`) does that for an ECP5 and prints the frequency.

examples:
  modexlab asic mont --fpga
  modexlab asic mont-001 --fpga --nbits 8 --set nstages=4
  modexlab asic naive --fpga --device artix-7 cyclone-v --json
  modexlab asic --fpga --accelerator cores/mine/design.toml --device ecp5
  modexlab asic --fpga --verilog flow/examples/accumulator.v --top accumulator --device ecp5
"""

from argparse import Namespace
from collections.abc import Iterator

from ....flow.fpga.report import FpgaRun
from ...lab.stages import FPGA
from ...progress import step_progress
from ..arguments import ACCELERATORS, SUBJECT, source_of
from ..options import HARDWARE, VERILOG, Group, option
from ..render import Table, answer

OPTIONS = (
    SUBJECT,
    ACCELERATORS,
    *HARDWARE,
    Group("Verilog from elsewhere instead of a design", VERILOG),
    option("--device", "NAME", "artix-7, cyclone-v, ecp5 (default: these), virtex-e", nargs="+"),
    "--json",
)


def execute(args: Namespace) -> int:
    from ....flow.fpga.fpga import USUAL, find  # not at the top: it needs the extra [flow]
    from ...lab.asic_run import run_fpga

    devices = [find(name).name for name in dict.fromkeys(args.device or USUAL)]
    source, _ = source_of(args, FPGA)
    with step_progress("FPGA", args.json) as progress:
        report = run_fpga(source, devices, progress)
    width = "" if report.nbits is None else f", {report.nbits} bits, {report.interface}"
    title = f"{report.name}{width} (module {report.top})"
    return answer(args, report, title, _table(report), "\n".join(_notes(report)))


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
    rows = []
    for device in devices:
        most = max(device.shares, key=device.shares.__getitem__)
        share = f"{device.shares[most]:.1%} of {device.capacity[most]:,} {COLUMNS[most]}, {device.part}"
        counts = (device.count(key) for key in columns)
        rows.append(
            [
                device.family,
                *(None if count is None else f"{count:,}" for count in counts),
                share if device.fits else f"does not fit: {share}",
                f"{device.seconds:.1f}",
            ]
        )
    return Table(["device", *(COLUMNS[key] for key in columns), "of the part", "s"], rows)


def _notes(report: FpgaRun) -> Iterator[str]:
    for device in report.devices.values():
        yield f"{device.family}: {device.counting}; {device.tool}"
    yield f"{report.seconds} s in all"
