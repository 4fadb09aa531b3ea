"""IP package: an accelerator behind an interface, as a folder that another team uses without modexlab.

It has Verilog, testbench, properties, FuseSoC core, SystemRDL, C, constraints and data sheet; its tests need
a simulator, and nothing of modexlab.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ....fl import axi4lite, axi4lite_000
from ....fl.errors import BadInput
from ....flow.kit.constraints import CLOCK_NS
from ....flow.prove.properties import script as proof_script
from ....rtl.interfaces.axi4lite_properties import PROPERTIES
from ...designs.interfaces import AXI4LITE, Interface
from ...designs.machine import Machine
from ...designs.runnable import Runnable
from ...designs.verilog.machine import verilog
from ...designs.verilog_header import origin, port_lines
from ...lab.ledger_rows import Row
from . import datasheet
from .block_diagram import block_diagram
from .exponentiation import Exponentiation
from .plain_verilog import plain_verilog
from .register_rdl import register_rdl
from .subject import Subject
from .timing import diagrams
from .vectors import vectors

BENCH = Path(__file__).parent / "bench"
TEXTS = Path(__file__).parent / "texts"  # with {fields}


@dataclass(frozen=True)
class Package:
    """An accelerator behind an interface, to be packed."""

    machine: Runnable
    interface: Interface
    rows: list[Row] = field(default_factory=list)  # of the ledger

    @property
    def name(self) -> str:
        """Return the name of the top module and of the core."""
        return self.machine.top(self.interface)

    @property
    def core(self) -> str:
        """Vendor, library and name of the FuseSoC core, with a digest of non-default settings."""
        defaults = {param.name: param.default_at(self.machine.nbits) for param in self.machine.design.params}
        changed = [
            f"{name}={value}" for name, value in self.machine.parameters.items() if value != defaults[name]
        ]
        digest = hashlib.blake2b(" ".join(changed).encode(), digest_size=4).hexdigest()
        return f"modexlab:ip:{self.name}" + (f"_{digest}" if changed else "")

    @functools.cached_property
    def subject(self) -> Subject:
        """The machine with its requests, and in words."""
        kind = Exponentiation if isinstance(self.machine, Machine) else Subject
        return kind(self.machine, self.interface)

    def files(self, progress: Callable[[str], object] = lambda _: None) -> dict[str, str]:
        """The texts by path; `progress` hears of each part before it is made."""
        name, subject = self.name, self.subject
        version, licence = origin()
        progress("Verilog")
        hardware = verilog(self.machine, self.interface.name)
        declarations = port_lines(hardware, name)
        progress("Verilog-2001")
        plain = plain_verilog(hardware, name)
        progress("vectors")
        tests = vectors(subject)
        progress("diagrams")
        drawn = diagrams(self.interface, *subject.shown)
        pictures = {"block.svg": block_diagram(subject.component, name, self._port_groups(declarations))}
        pictures |= {f"wave_{diagram.name}.svg": diagram.svg for diagram in drawn}
        facts = datasheet.Facts(
            subject,
            name,
            version,
            declarations,
            self.rows,
            drawn,
            len(tests.requests),
            list(tests.comments.values()),
        )
        sheet = datasheet.markdown(facts)
        properties = PROPERTIES if self.interface.on_bus else BENCH / "stream_properties.sv"
        words = {
            "name": name,
            "core": self.core,
            "title": subject.title,
            "version": version,
            "properties": properties.stem,
            "clock": self.interface.clock,
            "period": f"{CLOCK_NS:g}",
            "licence": licence,
        }
        more = self._more(hardware)
        proves = "properties/prove.ys" in more
        progress("files")
        return {
            "README.md": _text(
                "README.md",
                **words,
                more=self._more_lines(more),
                prove_needs="; Yosys with its abc, or PyPI's pyosys (`prove`)" if proves else "",
            ),
            "LICENSE": _licence(),
            "Makefile": _text(
                "Makefile",
                **words,
                more=_text("prove.mk") if proves else "",
                more_phony=" prove" if proves else "",
                more_help="# make prove    the rules of the bus, proved (yosys)\n" if proves else "",
            ),
            f"{name}.core": _text("package.core", **words),
            f"rtl/{name}.sv": hardware,
            f"rtl/{name}.v": plain,
            f"sdc/{name}.sdc": _text(
                "constraints.sdc",
                **words,
                inputs=" ".join(self._sdc_ports(declarations, "input")),
                outputs=" ".join(self._sdc_ports(declarations, "output")),
            ),
            f"properties/{properties.name}": properties.read_text(),
            "bench/tb.sv": (BENCH / ("tb_bus.sv" if self.interface.on_bus else "tb_stream.sv")).read_text(),
            "bench/tb_clock.sv": (BENCH / "tb_clock.sv").read_text(),
            "bench/main.cpp": (BENCH / "main.cpp").read_text(),
            "bench/vectors.svh": tests.macros,
            "bench/rows.svh": tests.rows,
            **more,
            "doc/datasheet.md": sheet,
            "doc/datasheet.html": datasheet.page(sheet, f"{name} {version}", pictures),
            **{f"doc/{file}": text for file, text in pictures.items()},
        }

    def _sdc_ports(self, declarations: list[str], direction: str) -> list[str]:
        """The ports of a direction but the clock, as patterns: a bus is all of its bits."""
        names = [declaration.split()[-1] for declaration in declarations if declaration.startswith(direction)]
        return [
            f"{name}*" if f"] {name}" in " ".join(declarations) or "__msg" in name else name
            for name in names
            if name != self.interface.clock
        ]

    def _port_groups(self, declarations: list[str]) -> list[tuple[str, str]]:
        names = [declaration.split()[-1] for declaration in declarations]
        clocking = (f"{self.interface.clock}, {self.interface.reset}", "in")
        if not self.interface.on_bus:
            return [clocking, ("istream (val/rdy)", "in"), ("ostream (val/rdy)", "out")]
        groups = [clocking, ("s_axi_* (AXI4-Lite)", "both"), ("irq", "out")]
        for prefix, title in (("key_", "key_*"), ("random", "random (val/rdy)")):
            if any(name.startswith(prefix) for name in names):
                groups.append((title, "in"))
        return groups

    def _more(self, hardware: str) -> dict[str, str]:
        """Return the files of one interface only: a map of registers, a driver, a proof."""
        if not self.interface.on_bus:
            return {}
        name = self.name
        if self.interface is not AXI4LITE:
            return {f"regs/{name}.rdl": axi4lite_000.MAP.read_text()}
        more = {f"regs/{name}.rdl": register_rdl(name, self.machine.shape, self.machine.traits)}
        more |= {f"sw/{file}": text for file, text in self.subject.software.items()}
        more["properties/proof.sv"] = self._proof_top(port_lines(hardware, name))
        files = [f"../rtl/{name}.sv", f"../properties/{PROPERTIES.name}", "../properties/proof.sv"]
        more["properties/prove.ys"] = proof_script(files, "proof")
        return more

    def _proof_top(self, declarations: list[str]) -> str:
        bus = [declaration for declaration in declarations if "s_axi_" in declaration]
        names = [item.split()[-1] for item in bus]
        bare = [name.removeprefix("s_axi_") for name in names]
        inputs = ",\n".join(f"  {item}" for item in bus if item.startswith("input"))
        outputs = "\n".join(f"  {item.removeprefix('output ')};" for item in bus if item.startswith("output"))
        pins = ",\n".join(f"    .{name}({name})" for name in names)
        rules = ",\n".join(f"    .{short}({name})" for short, name in zip(bare, names, strict=True))
        address_nbits = axi4lite.address_nbits(self.machine.shape)
        return _text(
            "proof.sv",
            name=self.name,
            inputs=inputs,
            outputs=outputs,
            pins=pins,
            rules=rules,
            address_nbits=str(address_nbits),
        )

    def _more_lines(self, more: dict[str, str]) -> str:
        lines = ""
        if any(name.startswith("regs/") for name in more):
            lines += "| `regs/` | the register map in SystemRDL |\n"
        if any(name.startswith("sw/") for name in more):
            lines += f"| `sw/` | {self.subject.software_use} |\n"
        return lines


def _text(file: str, **words: str) -> str:
    """A text with its fields filled in."""
    return (TEXTS / file).read_text().format(**words)


def _licence() -> str:
    """The text that is installed with modexlab."""
    text = importlib.metadata.distribution("modexlab").read_text("licenses/LICENSE")
    if text is None:
        raise BadInput("the licence of modexlab is not installed; run `make setup` again")
    return text
