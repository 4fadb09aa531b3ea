"""Point: one thing to measure, and the name under which the ledger keeps what came out.

A point is a design of the catalogue, or a system of `modexlab systems`, at a width, with parameters, at a stage, with a workload or
with settings of the flow. Points that say the same are equal: parameters that have their default value anyway are dropped, settings
of the flow that are not given are filled in. `key` is a digest of everything that decides on the figures, `command` what a user
types to measure them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput, unknown
from ..designs.interfaces import DEFAULT, INTERFACES, SYSTEM, UNIT
from ..designs.mixes import (
    DECRYPT,
    ENCRYPT,
    PRODUCT,
    Part,
    check_name,
    check_workload,
    cycles_of,
    operations,
    parts_of,
)
from ..designs.systems import (
    HARDWARE,
    SOFTWARE,
    SystemKind,
    check_key_width,
    find_system,
    workloads,
)
from ..designs.widths import MAX_NBITS, check_width
from . import keys
from .flow_settings import FLOW_DEFAULTS, SHOWN, check_point_flow, optional_flow
from .stages import CL, FLOW, FORMULA, FPGA, IMPLEMENTED, LAYOUT, NATIVE, STAGES

if TYPE_CHECKING:
    from ..designs.asic import Chip
    from ..designs.design import Design
    from ..designs.machine import Machine


MOST_OPERAND_NBITS = 256  # with which a key is made at once


@dataclass(frozen=True)
class Point:
    """What is measured. Making one refuses unknown names and settings; `check` says whether there can be such a machine.

    subject: a design ("mont"), or a system ("proc-naive", "procxcel-mont"). settings: parameters of the design.
    interface: stream, xcel, system or unit; a design with interface system is the system with this accelerator, with unit its multiplier.
    workload: see mixes.py; empty at stages flow, layout and fpga. flow: settings of those stages, by the names of the graph's
    parameters; `equivalence`: prove the netlist equal to the design as well; of fpga `device` and `pnr`.
    """

    subject: str
    nbits: int
    settings: tuple[tuple[str, Any], ...] = ()
    interface: str = DEFAULT.name
    workload: str = ENCRYPT
    stage: str = NATIVE
    flow: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if self.stage not in STAGES:
            raise unknown("stage", self.stage, STAGES)
        if self.interface not in (*INTERFACES, SYSTEM, UNIT):
            raise unknown("interface", self.interface, (*INTERFACES, SYSTEM, UNIT))
        values: dict[str, Any] = {}
        if self.subject.startswith((SOFTWARE, HARDWARE)):
            values["interface"] = SYSTEM
        elif self.interface == SYSTEM:
            values["subject"] = f"{HARDWARE}{self.subject}"
        if self.stage in IMPLEMENTED:
            values["workload"] = ""
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "settings", self._without_defaults())
        object.__setattr__(self, "flow", self._whole_flow())

    def _without_defaults(self) -> tuple[tuple[str, Any], ...]:
        """The settings that make a difference, in order."""
        design = self.design
        defaults = {}
        if design is not None and 0 < self.nbits <= MAX_NBITS:  # else `check` will refuse it
            defaults = {param.name: param.default_at(self.nbits) for param in design.params}
        if self.kind is not None and self.stage not in IMPLEMENTED:
            defaults.pop("modulus", None)  # in a system that of the key, see all_settings
        known = object()
        return tuple(
            (name, value)
            for name, value in sorted(dict(self.settings).items())
            if _differs(value, defaults.get(name, known))
        )

    def _whole_flow(self) -> tuple[tuple[str, Any], ...]:
        """All settings of the flow that this stage has, in order."""
        given = dict(self.flow)
        if self.stage not in IMPLEMENTED:
            if given:
                raise BadInput(
                    f"{next(iter(given))} is a setting of the flow, and stage {self.stage} is none; give stage flow"
                )
            return ()
        defaults = FLOW_DEFAULTS[self.stage]
        optional = optional_flow(self.stage)
        for name in given:
            if name not in defaults and name not in optional:
                raise unknown(f"setting of stage {self.stage}", name, [*defaults, *optional])
        values = check_point_flow(self.stage, {**defaults, **given})
        return tuple(
            (name, value)
            for name, value in sorted(values.items())
            if name in defaults or _differs(value, optional[name])
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """To other processes without what it has looked up in the catalogue."""
        return Point.from_json, (self.as_json(),)

    # ---- what it is

    @functools.cached_property
    def kind(self) -> SystemKind | None:
        """The system, if it is one."""
        return find_system(self.subject, dict(self.settings)) if self.interface == SYSTEM else None

    @property
    def design(self) -> Design | None:
        """The design of the catalogue; software has none."""
        if self.kind is not None:
            return self.kind.design
        from ..designs.catalogue import find  # not at the top: it brings PyMTL3

        return find(self.subject)

    @property
    def machine(self) -> Machine:
        """The machine that the design makes, or that is in its system; BadInput if it makes none. Software has no machine."""
        assert self.design is not None
        return self.design.at(self.nbits, **self.all_settings)

    @functools.cached_property
    def resolved(self) -> dict[str, Any]:
        """All parameters of the design with their values; BadInput if they make no machine."""
        settings = self.all_settings
        if self.design is not None:
            return self.machine.parameters
        if settings:
            raise BadInput(f"{self.subject} has no parameter {next(iter(settings))}: it is software")
        return {}

    @property
    def all_settings(self) -> dict[str, Any]:
        """Parameters as given. In a system a machine for one modulus is made for the key's, as `modexlab systems` has it."""
        if self.kind is None or self.stage in IMPLEMENTED:
            return dict(self.settings)
        check_key_width(self.nbits)
        return dict(self.kind.xcel(self.nbits, workloads(self.nbits)[0].mod).settings)

    @property
    def modulus(self) -> int:
        """The only modulus that the machine takes; 0: any, or that of any key."""
        return self.machine.modulus if self.design is not None and not self.keyed else 0

    @property
    def keyed(self) -> bool:
        """It does the private operations of a key, and nothing else."""
        return self.design is not None and self.machine.keyed

    def check(self) -> None:
        """BadInput, with the remedy, if there is no such machine, or nothing to measure on it."""
        check_width(self.nbits)
        if self.kind is not None:
            self._check_system()
        _ = self.resolved  # refuses what makes no machine
        if self.kind is None and self.machine.measured:
            self._check_foreign()
        if self.keyed:
            _ = self.machine.key  # refuses widths of which there is none
        if self.stage in IMPLEMENTED:
            if self.interface == UNIT:
                self.chip().check()
            return
        if self.interface == UNIT:
            raise BadInput(
                f"interface {UNIT}: a multiplier alone does no exponentiation; give stage {FPGA}, {FLOW} or {LAYOUT}, "
                f"or interface {DEFAULT.name}"
            )
        check_workload(self.workload, self.nbits, self.modulus, keyed=self.keyed)
        if self.workload == PRODUCT and self.stage != FORMULA:
            raise BadInput(
                f"workload {PRODUCT} is counted by formula, which the tests hold against the hardware: give stage {FORMULA}"
            )
        if self.workload == PRODUCT and self.kind is None:
            cycles_of(PRODUCT, self.machine, self.parts()[0].work)  # refuses products that are not alike
        if self.stage == FORMULA and self.interface != DEFAULT.name:
            raise BadInput(
                f"stage formula counts the machine alone, without registers and processor: give interface {DEFAULT.name}, not "
                f"{self.interface}, or stage native"
            )

    def _check_foreign(self) -> None:
        """What is known of a core by a manifest is what its RTL does."""
        self.machine.interface(self.interface)
        if self.stage not in (NATIVE, *IMPLEMENTED):
            raise BadInput(
                f"{self.label} at stage {self.stage}: a design by a manifest is measured at {NATIVE}, {FLOW}, {LAYOUT} or {FPGA}"
            )
        self.chip().check()

    def _check_system(self) -> None:
        if self.design is None or self.stage not in IMPLEMENTED:
            check_key_width(self.nbits)
        if self.stage in (FORMULA, CL, FPGA):
            raise BadInput(
                f"{self.subject} at stage {self.stage}: systems are measured at native, flow or layout"
            )
        if self.stage not in IMPLEMENTED and self.workload not in (ENCRYPT, DECRYPT):
            check_name(self.workload)
            raise BadInput(f"{self.subject} with workload {self.workload}: systems do encrypt and decrypt")

    def parts(self) -> tuple[Part, ...]:
        """The exponentiations of its workload."""
        return self.parts_for(self.workload)

    def parts_for(self, workload: str) -> tuple[Part, ...]:
        """The same of another one that its machine does."""
        machine = self.machine if self.design is not None else None
        return parts_of(workload, machine, self.nbits, system=self.interface == SYSTEM)

    def chip(self) -> Chip:
        """As the flow wants it."""
        from ..designs.unit_chip import chip

        system, kind = self.interface == SYSTEM, self.kind
        interface = DEFAULT.name if system else self.interface
        options = {} if kind is None else {"kernel": kind.kernel}
        return chip(self.design, self.nbits, self.all_settings, interface, system, **options)

    # ---- its names

    def as_json(self) -> dict[str, Any]:
        """For json.dumps, and for `from_json`."""
        return {
            "subject": self.subject,
            "nbits": self.nbits,
            "settings": dict(self.settings),
            "interface": self.interface,
            "workload": self.workload,
            "stage": self.stage,
            "flow": dict(self.flow),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Point:
        """What `as_json` has made; BadInput if the catalogue has it no more."""
        values = dict(data)
        for name in ("settings", "flow"):
            values[name] = tuple(values.get(name, {}).items())
        return cls(**values)

    @property
    def label(self) -> str:
        """The subject as tables have it: of a design by a manifest without the path."""
        return self.subject.partition("@")[0]

    def __str__(self) -> str:
        """In a few words, for progress and messages."""
        usual = FLOW_DEFAULTS.get(self.stage, {})
        flow = [(name, value) for name, value in self.flow if name in SHOWN or value != usual.get(name)]
        given = [f"{name}={value}" for name, value in (*self.settings, *flow)]
        interface = "" if self.interface in (DEFAULT.name, SYSTEM) else self.interface
        words = [self.label, f"{self.nbits} bits", interface, self.workload, self.stage, *given]
        return ", ".join(word for word in words if word)

    def at(self, **changes: Any) -> Point:
        """The same but for these fields."""
        return replace(self, **changes)

    @functools.cached_property
    def key(self) -> str:
        """Digest of what it is, of its operands, and of the sources and the tools that its figures come from."""
        from ...rtl.sim import cache  # not at the top: it brings PyMTL3, and --help must be quick

        identity = {**self.as_json(), "settings": self.resolved, "operands": self._operands()}
        if self.kind is None and self.design is not None:
            identity["subject"] = self.design.identity
        digest = keys.sources_of(self.interface == SYSTEM, self.stage)
        return cache.key(json.dumps(identity, sort_keys=True), digest, json.dumps(self.tools, sort_keys=True))

    def _operands(self) -> list[list[str]]:
        """The operands of all exponentiations that count, and how often each does. For long keys the list is empty: making the keys
        takes as long as measuring by formula, and the code that makes them is among the sources of the key."""
        if self.nbits > MOST_OPERAND_NBITS:
            return []
        machine = self.machine if self.design is not None else None
        names = operations(machine) if self.stage in IMPLEMENTED else (self.workload,)
        return [
            [str(part.times), *map(hex, part.work.operands)]
            for name in names
            for part in self.parts_for(name)
        ]

    @property
    def tools(self) -> Mapping[str, str]:
        """Names and versions of what measures it; a tool that is missing has the version ""."""
        flow = dict(self.flow)
        return keys.tools_of(self.stage, flow["device"] if flow.get("pnr") else "")

    @functools.cached_property
    def command(self) -> list[str]:
        """The plain command that measures the same."""
        settings = [text for name, value in self.settings for text in ("--set", f"{name}={_text(value)}")]
        width = ["--nbits", str(self.nbits)]
        interface = [] if self.interface in (DEFAULT.name, SYSTEM) else ["--interface", self.interface]
        path = self.subject.partition("@")[2]
        subject = ["--design", path] if path else [self.subject]
        if self.stage in IMPLEMENTED:
            command = "fpga" if self.stage == FPGA else "asic"
            return [
                "modexlab",
                command,
                *subject,
                *width,
                *settings,
                *interface,
                *self._flow_options(),
                "--json",
            ]
        if self.interface == SYSTEM:
            work = ["--operation", self.workload, "--stage", self.stage, "--full"]
            return ["modexlab", "systems", "--system", self.subject, *width, *settings, *work, "--json"]
        work = [*width, *settings, "--workload", self.workload]
        if self.stage == FORMULA:
            return ["modexlab", "cycles", *subject, *work, "--json"]
        level = ["--level", "cl"] if self.stage == CL else ["--stage", self.stage]
        return ["modexlab", "run", *subject, *work, *interface, *level, "--json"]

    def _flow_options(self) -> list[str]:
        flow = dict(self.flow)
        if self.stage == FPGA:
            return ["--device", flow["device"], *(["--pnr"] if flow["pnr"] else [])]
        options = ["--clock", _text(flow.pop("clock_period"))]
        style = flow.pop("style")
        options += [] if style == FLOW_DEFAULTS[FLOW]["style"] else ["--style", style]
        if self.stage == LAYOUT:
            options += ["--layout", "--density", _text(flow.pop("density"))]
        options += [] if flow.pop("equivalence") else ["--skip", "equivalence"]
        options += ["--fmax"] if flow.pop("fmax", False) else []
        return options + [
            text for name, value in flow.items() for text in ("--flow", f"{name}={_text(value)}")
        ]


def _differs(value: Any, default: Any) -> bool:
    """True and 1 are not the same here."""
    return value != default or isinstance(value, bool) != isinstance(default, bool)


def _text(value: Any) -> str:
    """A value as the command line takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
