"""Pack a design as an IP core.

The folder has the Verilog, a self-checking testbench for Verilator and Icarus, the same for cocotb, the
protocol's rules as assertions, a FuseSoC core with targets for simulation, lint and an ECP5, constraints, a
data sheet (block diagram, timing, registers, cycles, area and energy from the store, security, limits);
behind AXI4-Lite also a bridge from APB, the register map in SystemRDL, a driver in C (for an accelerator of
your own, the header of its call), and a proof of the rules. The testbench of an accelerator of your own
sends the requests of its table. Nothing in the folder needs modexlab; its README.md lists the commands with
their prerequisites.

--shuttle writes the project that the template of Tiny Tapeout expects instead: the machine behind eight pins
each way, info.yaml, and a cocotb test through the pins. Area and slack are measured with the cells of
sky130hd, found in PDK_ROOT. Without --nbits it takes the widest machine that the tiles hold.

examples:
  modexlab verilog mont-ct --package --nbits 64 -o mont_ct
  modexlab verilog systolic --package --nbits 1024 --interface stream -o systolic
  modexlab verilog mont --package --nbits 128 --interface axi4lite-000 -o rsa
  modexlab verilog --package --accelerator gcd --nbits 16 -o gcd_ip
  modexlab verilog tiny --package --shuttle tiny-tapeout --tiles 2x2 -o tt_tiny
"""

from argparse import Namespace

from ....fl.errors import BadInput
from ...designs.interfaces import AXI4LITE, DEFAULT
from ...designs.runnable import Runnable
from ...exchange.package.package import Package
from ...exchange.package.shuttle import CLOCK_NS, NAME, TILES, project
from ...folders import new_directory, write_folder
from ...progress import Progress, step_progress
from ..arguments import accelerator_of, one_entry, program_settings, refuse, warn_of
from ..laboratory import store_of
from ..options import SETTINGS, Group, Interfaces, choice, shared
from ..render import answer, labelled

OPTIONS = (
    "design",
    "--accelerator",
    shared("--output", "the directory to write", required=True),
    "--nbits (default: 32, or the usual width of an accelerator of your own)",
    *SETTINGS,
    Interfaces(default=AXI4LITE.name),
    Group(
        "a project for a shuttle",
        (
            choice("--shuttle", [NAME], "the shuttle"),
            choice("--tiles", TILES, "its size (default: 1x1, with --nbits the smallest that holds it)"),
            shared("--clock", f"default: {CLOCK_NS}"),
        ),
    ),
    "--force",
    "--store",
    "--json",
)


def execute(args: Namespace) -> int:
    if args.shuttle is not None:
        return _shuttle(args)
    refuse(args, ("tiles", "clock"), " is for a shuttle; add --shuttle tiny-tapeout")
    machine = accelerator_of(args)
    name, nbits = machine.design.name, machine.nbits
    directory = new_directory("--output", args.output, args.force)
    store = store_of(args, read_only=True)
    rows = [
        row
        for row in store.rows(subject=name, nbits=nbits, interface=args.interface)
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


def _shuttle(args: Namespace) -> int:
    """Write the project for Tiny Tapeout."""
    refuse(args, ["store"], " with --shuttle: its figures are measured; drop one of them")
    if args.interface not in (AXI4LITE.name, DEFAULT.name):  # the first is the default of packages
        raise BadInput(f"--interface {args.interface} with --shuttle: its pins are the interface; drop one")
    directory = new_directory("--output", args.output, args.force)
    design = one_entry(args)

    def make(nbits: int) -> Runnable:
        return design.at(nbits, **program_settings(args, design, nbits))

    with step_progress(NAME, args.json) as report, Progress(NAME, quiet=args.json) as progress:
        shuttle, tiles, found = project(
            make, args.nbits, args.tiles, args.clock or CLOCK_NS, report, progress.describe
        )
        files = shuttle.project(tiles, found, progress.describe)
    write_folder(directory, files)
    warn_of(shuttle.machine)
    figures = {"area_um2": found.area_um2, "clock_ns": found.clock_ns, "slack_ns": found.wns_ns}
    told = {"top": shuttle.top, "directory": str(directory), "files": sorted(files), "tiles": tiles}
    rows = (
        ("  read", directory / "README.md"),
        ("  simulate", f"make -C {args.output}/test"),
        ("  cells", f"{found.area_um2:,.0f} um2 in {tiles} tiles, {found.clock_ns:g} ns"),
    )
    title = f"{args.output}: {shuttle.subject.title} for {NAME}, {len(files)} files"
    return answer(args, {**told, "nbits": shuttle.machine.nbits, **figures}, labelled(rows, title))
