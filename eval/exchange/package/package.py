"""IP package: an accelerator behind an interface, as a folder that another team uses without modexlab.

It has Verilog, testbench, properties, FuseSoC core, SystemRDL, C, constraints and data sheet; its tests need
a simulator, and nothing of modexlab.
"""

import functools
import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ....fl import axi4lite, axi4lite_000
from ....fl.errors import BadInput
from ....fl.register_map import Register
from ....flow.kit.constraints import CLOCK_NS
from ....flow.prove.assertions import script as proof_script
from ....rtl.interfaces.amba_ports import amba_ports
from ....rtl.interfaces.axi4lite_properties import PROPERTIES
from ....rtl.sim.translation.module_files import module_files
from ....rtl.verilog.read import ports_of
from ....rtl.verilog.tree import Port
from ...designs.interfaces import AXI4LITE, AXI4LITE_000, Interface
from ...designs.machine import Machine
from ...designs.runnable import Runnable
from ...designs.verilog.machine import verilog
from ...designs.verilog_header import origin
from ...lab.store.rows import Row
from . import datasheet
from .block_diagram import block_diagram
from .exponentiation import Exponentiation
from .subject import Subject, filled
from .timing import diagrams
from .vectors import vectors

TEMPLATE = Path(__file__).parent / "template"  # by the kinds of packages that have the files
COCOTB = Path(__file__).with_name("cocotb_bench.py")
CHANGES = TEMPLATE / "all" / "CHANGES.md"
ECP5_PINS = 365
RDL_HEAD = """\
// The registers of {name}, by modexlab: 32 bits each, byte addresses.

addrmap {name} {{
  name = {title};
  default regwidth = 32;
  default accesswidth = 32;
"""


@dataclass(frozen=True)
class Package:
    """An accelerator behind an interface, to be packed."""

    machine: Runnable
    interface: Interface
    rows: list[Row] = field(default_factory=list)  # of the store

    @property
    def name(self) -> str:
        """The name of the top module and of the core, with a digest of non-default settings."""
        machine = self.machine
        digest = hashlib.blake2b(" ".join(machine.changed).encode(), digest_size=4).hexdigest()
        return machine.top(self.interface) + (f"_{digest}" if machine.changed else "")

    @property
    def core(self) -> str:
        """Vendor, library and name of the FuseSoC core."""
        return f"modexlab:ip:{self.name}"

    @functools.cached_property
    def subject(self) -> Subject:
        """The machine with its requests, and in words."""
        kind = Exponentiation if isinstance(self.machine, Machine) else Subject
        return kind(self.machine, self.interface)

    @functools.cached_property
    def hardware(self) -> str:
        """The Verilog."""
        return verilog(self.machine, self.interface.name, self.name)

    @functools.cached_property
    def ports(self) -> tuple[Port, ...]:
        """The ports of the top module."""
        return amba_ports(ports_of(self.subject.component))

    def files(self, progress: Callable[[str], object] = lambda _: None) -> dict[str, str]:
        """The texts by path; `progress` is called with the name of each part before it is generated."""
        subject, name, interface = self.subject, self.name, self.interface
        progress("Verilog")
        hardware = self.hardware
        modules = {f"rtl/{file}": text for file, text in module_files(hardware).items()}
        progress("vectors")
        tests = vectors(subject, name)
        progress("diagrams")
        drawn = diagrams(interface, *subject.shown)
        pictures = {"block.svg": block_diagram(subject.component, name)}
        pictures |= {f"wave_{diagram.name}.svg": diagram.svg for diagram in drawn}
        progress("files")
        modexlab, licence = origin()
        words = subject.words | {
            "name": name,
            "core": self.core,
            "files": f"src/{self.core.replace(':', '_')}_{version()}",
            "title": subject.title,
            "version": version(),
            "modexlab": modexlab,
            "licence": licence,
            "properties": PROPERTIES.stem if interface.on_bus else "stream_properties",
            "address_nbits": str(axi4lite.address_nbits(self.machine.shape)) if interface is AXI4LITE else "",
            "rtl": " \\\n\t".join(modules),
            "types": next(iter(modules)),
            "rtl_list": "".join(f"      - {file}\n" for file in modules),
            "rtl_above": " ".join(f"../{file}" for file in modules),
            "clock": interface.clock,
            "period": f"{CLOCK_NS:g}",
            "inputs": self._sdc_ports(is_input=True),
            "outputs": self._sdc_ports(is_input=False),
            "transfers": str(len(tests.requests)),
        }
        sheet = datasheet.markdown(subject, words, tests, drawn, self.ports, self.rows)
        fits = sum(port.type.width for port in self.ports) <= ECP5_PINS
        kinds = {*subject.kinds, "all", "pins" if fits else "core"}
        kinds.add("bus" if interface.on_bus else "stream")
        made = {
            "LICENSE": licence_text(),
            **modules,
            "bench/vectors.svh": tests.macros,
            "bench/rows.svh": tests.rows,
            "bench/cocotb_bench.py": COCOTB.read_text(),
            "doc/datasheet.md": sheet,
            "doc/datasheet.html": datasheet.page(sheet, f"{name} {version()}", pictures),
            **{f"doc/{file}": text for file, text in pictures.items()},
        }
        if interface.on_bus:
            made[f"properties/{PROPERTIES.name}"] = PROPERTIES.read_text()
        if interface is AXI4LITE_000:
            made[f"regs/{name}.rdl"] = axi4lite_000.MAP.read_text()
        if interface is AXI4LITE:
            kinds.add("axi4lite")
            made |= self._axi4lite_files(list(modules), licence)
        return template(kinds, words) | made

    def _axi4lite_files(self, modules: list[str], licence: str) -> dict[str, str]:
        """The register map, the driver, and the script that proves the properties."""
        registers = self.interface.registers(self.machine.shape, self.machine.traits)
        sources = [*modules, f"properties/{PROPERTIES.name}", "properties/proof.sv"]
        script = proof_script([f"../{source}" for source in sources], "proof")
        head = f"# SPDX-License-Identifier: {licence}\nverilog_defines -DSYNTHESIS\n"
        return {
            f"regs/{self.name}.rdl": register_rdl(self.name, self.subject.title, registers),
            **{f"sw/{file}": text for file, text in self.subject.software.items()},
            "properties/prove.ys": head + script,
        }

    def _sdc_ports(self, *, is_input: bool) -> str:
        """The ports of one direction, without the clock."""
        names = (port.name for port in self.ports if port.is_input == is_input)
        return " ".join(name for name in names if name != self.interface.clock)


def version() -> str:
    """The version of packages: the latest in the list of changes."""
    return CHANGES.read_text().split("\n## ", 1)[1].split("\n")[0]


def template(kinds: Collection[str], words: Mapping[str, str], pattern: str = "*") -> dict[str, str]:
    """The files of the template for packages of these kinds, by path."""
    return {
        str(path.relative_to(TEMPLATE / kind)).replace("NAME", words["name"]): filled(
            path.read_text(), kinds, words
        )
        for kind in kinds
        for path in filter(Path.is_file, (TEMPLATE / kind).rglob(pattern))
    }


def register_rdl(name: str, title: str, registers: Mapping[str, Register]) -> str:
    """The register map of one accelerator as SystemRDL, with its constants as reset values."""
    lines = [RDL_HEAD.format(name=name, title=json.dumps(title))]
    for register in registers.values():
        count = f"[{register.count}]" if register.count > 1 else ""
        hw = "r" if register.writable and not register.clears else "w"
        access = "r" * register.readable + "w" * register.writable
        effects = " onwrite = woclr;" * register.clears + " singlepulse;" * (register.name == "CONTROL")
        lines += [
            f"  reg {{\n    name = {json.dumps(register.text)};",
            f"    default sw = {access};\n    default hw = {hw};",
        ]
        for part in register.fields:
            text = f" desc = {json.dumps(part.text)};" if part.text else ""
            text += effects
            place = f"{part.name}[{part.high}:{part.low}] = {part.reset}"
            lines.append(f"    field {{{text} }} {place};")
        lines.append(f"  }} {register.name}{count} @{register.address:#05x};")
    return "\n".join([*lines, "};", ""])


def licence_text() -> str:
    """The text that is installed with modexlab."""
    text = importlib.metadata.distribution("modexlab").read_text("licenses/LICENSE")
    if text is None:
        raise BadInput("the licence of modexlab is not installed; run `make setup` again")
    return text
