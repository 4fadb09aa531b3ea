"""Pack a design as an IP core.

The folder has the Verilog, a self-checking testbench for Verilator and Icarus, the same for cocotb, the
protocol's rules as assertions, a FuseSoC core with targets for simulation, lint and an ECP5, constraints, a
data sheet (block diagram, timing, registers, cycles, area and energy from the ledger, security, limits);
behind AXI4-Lite also a bridge from APB, the register map in SystemRDL, a driver in C (for an accelerator of
your own, the header of its call), and a proof of the rules. The testbench of an accelerator of your own
sends the requests of its table. Nothing in the folder needs modexlab; its README.md lists the commands with
their prerequisites.

examples:
  modexlab verilog mont-ct --package --nbits 64 -o mont_ct
  modexlab verilog systolic --package --nbits 1024 --interface stream -o systolic
  modexlab verilog mont --package --nbits 128 --interface axi4lite-000 -o rsa
  modexlab verilog --package --accelerator gcd --nbits 16 -o gcd_ip
"""

from argparse import Namespace

from ...designs.interfaces import AXI4LITE
from ...exchange.package.package import Package
from ...folders import new_directory, write_folder
from ...progress import Progress
from ..arguments import accelerator_of
from ..laboratory import ledger_of
from ..options import Interfaces, shared
from ..render import answer, labelled

OPTIONS = (
    *("design", "--accelerator"),
    shared("--output", "the directory to make", required=True),
    "--nbits (default: 32, of an accelerator of your own its usual width)",
    "--set",
    Interfaces(default=AXI4LITE.name),
    *("--force", "--ledger", "--json"),
)


def execute(args: Namespace) -> int:
    machine = accelerator_of(args)
    name, nbits = machine.design.name, machine.nbits
    directory = new_directory("--output", args.output, args.force)
    ledger = ledger_of(args, read_only=True)
    rows = [
        row
        for row in ledger.rows(subject=name, nbits=nbits, interface=args.interface)
        if dict(row.parameters) == machine.parameters
    ]
    package = Package(machine, machine.interface(args.interface), rows)
    label = f"{name}, {nbits} bits"
    with Progress(label, quiet=args.json) as progress:
        files = package.files(lambda part: progress.describe(f"{label}: {part}"))
    write_folder(directory, files)
    report = {
        "name": package.name,
        "directory": str(directory),
        "files": sorted(files),
        "figures": len(rows),
    }
    sim = f"fusesoc --cores-root {args.output} run --target=sim {package.core}"
    steps = (
        ("  read", directory / "doc" / "datasheet.html"),
        ("  simulate", f"{sim}, or make -C {args.output} sim"),
    )
    title = f"{args.output}: {package.subject.title}, {len(files)} files"
    return answer(args, report, labelled(steps, title))
