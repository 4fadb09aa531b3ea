"""Point: one thing to measure, and its key in the store.

A point is a design of the catalogue, or a system of `modexlab proc systems`, at a width, with parameters, at
a stage, with a workload or with settings of the flow. Equivalent points are equal: settings that have a
name are a point of this name, parameters with their default value are dropped, and missing settings of the
flow are filled in. `key` is a digest of everything that determines the figures except the hardware; `version`
includes the hardware. `command` is the shell command that measures the point.
"""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ...fl.errors import BadInput, unknown
from ...fl.param import same, spelled_out
from ...rtl.sim import cache
from ..designs import unit_chip
from ..designs.catalogue import entry
from ..designs.chip import AcceleratorChip
from ..designs.control import VERIFY, is_protected
from ..designs.interfaces import DEFAULT, INTERFACES, SYSTEM, UNIT
from ..designs.machine import Design
from ..designs.own import OwnDesign
from ..designs.soc_system import SOFTWARE_FAMILY
from ..designs.system_catalogue import (
    HARDWARE,
    SOFTWARE,
    SystemKind,
    check_key_width,
    find_system,
    workloads,
)
from ..designs.widths import MAX_NBITS, check_width
from ..designs.workload_names import (
    DECRYPT,
    ENCRYPT,
    EXPONENTS,
    PRODUCT,
    Part,
    check_name,
    check_workload,
    cycles_of,
    operations,
    own_operation,
    own_part,
    parts_of,
)
from ..json_values import Json, canonical, spelled
from . import content, keys
from .flow_settings import CORNER, FLOW_DEFAULTS, KIT, SHOWN, check_point_flow, defaults_of, optional_flow
from .stages import CL, FLOW, FORMULA, FPGA, IMPLEMENTED, LAYOUT, NATIVE, NETLIST, STAGES

MOST_OPERAND_NBITS = 256  # widest key that is generated quickly


Settings = tuple[tuple[str, Any], ...]  # names and values, in order


def version_of(key: str, content: str) -> str:
    """The name of a measurement in the store: the key of its point, and the digest of its content."""
    return f"{key}-{content}"


def key_in(version: str) -> str:
    """The key of the point in such a name."""
    return version.partition("-")[0]


def content_in(version: str) -> str:
    """The digest of the content in such a name."""
    return version.partition("-")[2]


@dataclass(frozen=True)
class Point:
    """One thing to measure. The constructor rejects unknown names and settings; `check` rejects impossible
    machines.

    subject: a design ("mont"), or a system ("proc-naive", "procxcel-mont"). settings: parameters of the
    design. interface: stream, xcel, system or unit; `system` is the system with the design as its
    accelerator, `unit` is the multiplier of the design alone. workload: see workload_names.py; empty at
    stages flow, layout and fpga. flow: settings of these stages, by the names of the graph's parameters;
    `equivalence` also proves the netlist equal to the design; stage fpga has `device`. settings and
    flow may be given as mappings.
    """

    subject: str
    nbits: int
    settings: Settings = ()
    interface: str = DEFAULT.name
    workload: str = ENCRYPT
    stage: str = NATIVE
    flow: Settings = ()

    def __post_init__(self) -> None:
        if self.stage not in STAGES:
            raise unknown("stage", self.stage, STAGES)
        if self.interface not in (*INTERFACES, SYSTEM, UNIT):
            raise unknown("interface", self.interface, (*INTERFACES, SYSTEM, UNIT))
        if self.subject.startswith((SOFTWARE, HARDWARE)):
            object.__setattr__(self, "interface", SYSTEM)
        elif self.interface == SYSTEM:
            object.__setattr__(self, "subject", f"{HARDWARE}{self.subject}")
        if self.stage in IMPLEMENTED:
            object.__setattr__(self, "workload", "")
        elif self.workload == ENCRYPT and self.own:
            known = self.machine.workloads()  # the default of the field is an RSA workload
            object.__setattr__(self, "workload", ENCRYPT if ENCRYPT in known else next(iter(known)))
        self._name_settings()
        object.__setattr__(self, "settings", self._without_defaults())
        object.__setattr__(self, "flow", self._whole_flow())

    def _name_settings(self) -> None:
        """Take the name of the settings, if they have one, as the subject."""
        if self.kind is not None:
            subject, settings = self.kind.name, self.kind.settings
        elif isinstance(self.design, Design):
            form, settings = self.design.form_of(dict(self.settings))
            if form is self.design:
                return
            subject, vars(self)["design"] = form.reference, form
        else:
            return
        object.__setattr__(self, "subject", subject)
        object.__setattr__(self, "settings", tuple(settings.items()))

    def _without_defaults(self) -> Settings:
        """The settings that differ from the standard defaults, and defaults that other settings imply."""
        design, settings = self.design, dict(self.settings)
        if design is not None and 0 < self.nbits <= MAX_NBITS:  # otherwise `check` rejects it
            # in a system the modulus is that of the key, see all_settings
            keep = self.kind is not None and self.stage not in IMPLEMENTED
            params = [param for param in design.params if not (keep and param.name == "modulus")]
            settings = spelled_out(params, self.nbits, settings)
        return tuple(sorted(settings.items()))

    def _whole_flow(self) -> Settings:
        """All settings of the flow at this stage; optional ones only if they differ from their defaults."""
        given = dict(self.flow)
        if self.stage not in IMPLEMENTED:
            for name in given:
                raise BadInput(
                    f"{name} is a setting of the flow, and stage {self.stage} is none; give stage flow"
                )
            return ()
        defaults = defaults_of(self.stage, given)
        optional = optional_flow(self.stage)
        for name in given:
            if name not in defaults and name not in optional:
                raise unknown(f"setting of stage {self.stage}", name, [*defaults, *optional])
        return _differing(check_point_flow(self.stage, {**defaults, **given}), optional)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the point without the objects that it has looked up in the catalogue."""
        return Point.from_json, (self.as_json(),)

    # ---- the machine

    @functools.cached_property
    def kind(self) -> SystemKind | None:
        """The system; None for a machine alone."""
        return find_system(self.subject, dict(self.settings)) if self.interface == SYSTEM else None

    @functools.cached_property
    def design(self) -> Any:
        """The design of the catalogue or the user's own accelerator, as it was when the point was made; None
        for software.
        """
        return self.kind.design if self.kind is not None else entry(self.subject)

    @functools.cached_property
    def machine(self) -> Any:
        """The machine that the design makes, or that is in its system; BadInput if the settings are illegal.
        Software has no machine.
        """
        assert self.design is not None
        return self.design.at(self.nbits, **self.all_settings)

    @functools.cached_property
    def resolved(self) -> Json:
        """All parameters of the design with their values; BadInput if the settings are illegal."""
        settings = self.all_settings
        if self.design is not None:
            return self.machine.parameters
        for name in settings:
            raise BadInput(f"{self.subject} has no parameter {name}: it is software")
        return {}

    @property
    def all_settings(self) -> Json:
        """Parameters as given. In a system, a machine for one modulus is made for the modulus of the key, as
        in `modexlab proc systems`.
        """
        if self.kind is None or self.stage in IMPLEMENTED:
            return dict(self.settings)
        check_key_width(self.nbits)
        return dict(self.kind.xcel(self.nbits, workloads(self.nbits)[0].mod).settings)

    @functools.cached_property
    def own(self) -> bool:
        """Whether the design is a user's own accelerator, which need not do RSA."""
        return isinstance(self.design, OwnDesign)

    @property
    def is_cost(self) -> bool:
        """Whether its cycles are a cost; the total of `exponents` only shows whether they depend on the
        exponent.
        """
        return self.workload != EXPONENTS

    @property
    def family(self) -> str:
        """The family of its design; "software" without one."""
        return SOFTWARE_FAMILY if self.design is None else str(self.design.family)

    @property
    def modulus(self) -> int:
        """The only modulus that the machine accepts; 0: any, or that of any key."""
        return self.machine.modulus if self.design is not None and not self.own and not self.keyed else 0

    @property
    def has_own_modulus(self) -> bool:
        """Whether its machine is made for one modulus other than that of the key."""
        design = None if self.interface == SYSTEM else self.design
        return design is not None and any(param.name == "modulus" for param in design.params)

    @property
    def keyed(self) -> bool:
        """Whether the machine does only the private operations of a key."""
        return self.design is not None and not self.own and self.machine.keyed

    @property
    def unchecked(self) -> bool:
        """Whether the machine has CRT or blinding and no result check."""
        settings = dict(self.settings)
        return is_protected(settings) and settings[VERIFY.name] is False

    def check(self) -> None:
        """BadInput, with the remedy, if the machine cannot exist or cannot be measured in this way."""
        if self.own:
            self._check_own()
            return
        check_width(self.nbits)
        if self.kind is not None:
            self._check_system()
        _ = self.resolved  # rejects illegal settings
        if self.kind is None and self.design is not None:
            self._check_stage()
        if self.keyed:
            _ = self.machine.key  # rejects widths without a key
        if self.stage in IMPLEMENTED:
            if self.interface == UNIT:
                self.chip().check()
            return
        if self.interface == UNIT:
            raise BadInput(
                f"interface {UNIT}: a multiplier alone does no exponentiation; give stage {FPGA}, {FLOW} or "
                f"{LAYOUT}, "
                f"or interface {DEFAULT.name}"
            )
        check_workload(self.workload, self.nbits, self.modulus, keyed=self.keyed)
        if self.workload == PRODUCT and self.stage != FORMULA:
            raise BadInput(
                f"workload {PRODUCT} is counted by formula, which the tests hold against the hardware: give "
                f"stage {FORMULA}"
            )
        if self.workload == PRODUCT and self.kind is None:
            cycles_of(PRODUCT, self.machine, self.parts()[0].work)  # rejects products of variable time
        if self.stage == FORMULA and self.interface != DEFAULT.name:
            raise BadInput(
                "stage formula counts the machine alone, without registers and processor: give interface "
                f"{DEFAULT.name}, not "
                f"{self.interface}, or stage native"
            )

    def _check_own(self) -> None:
        """BadInput for a user's own accelerator that cannot be measured; its workloads are its own."""
        accelerator = self.machine
        accelerator.interface(self.interface)
        self._check_stage()
        if self.stage in IMPLEMENTED:
            self.chip().check()
        elif self.workload not in (workloads := accelerator.workloads()):
            raise unknown(f"workload of {accelerator.name}", self.workload, workloads)

    def _check_stage(self) -> None:
        """BadInput for a stage that the machine does not have: the core of a manifest has only RTL."""
        stages = (*self.machine.backends, *IMPLEMENTED)
        if self.stage not in stages and not (self.stage == FORMULA and CL in stages):
            raise BadInput(
                f"{self.label} at stage {self.stage}: it is measured at {', '.join(stages)}; give one of them"
            )
        if CL not in stages:
            self.chip().check()  # ports and interface

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

    def parts(self, workload: str = "") -> tuple[Part, ...]:
        """The exponentiations of its workload, or of another workload of its machine."""
        workload = workload or self.workload
        if self.own:
            return (own_part(self.machine, workload),)
        machine = self.machine if self.design is not None else None
        return parts_of(workload, machine, self.nbits, system=self.interface == SYSTEM)

    @property
    def operation(self) -> str:
        """The name of its workload among the operations of all accelerators."""
        return own_operation(self.machine, self.workload) if self.own else self.workload

    @property
    def kit(self) -> str:
        """The cell library, if it is not the default."""
        return str(dict(self.flow).get(KIT, ""))

    def chip(self) -> AcceleratorChip:
        """The chip that the flow implements."""
        system, kind = self.interface == SYSTEM, self.kind
        interface = DEFAULT.name if system else self.interface
        options = {} if kind is None else {"kernel": kind.kernel}
        return unit_chip.chip(self.design, self.nbits, self.all_settings, interface, system, **options)

    # ---- names

    def as_json(self) -> Json:
        """The point as JSON values, for `from_json`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "settings": dict(self.settings), "flow": dict(self.flow)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Point":
        """Read the output of `as_json`; BadInput if the catalogue no longer has the point.

        Points of old stores can have crt or blind without verify: their hardware has no result check.
        """
        settings = dict(data.get("settings", ()))
        if VERIFY.name not in settings and is_protected(settings):
            settings[VERIFY.name] = False
        return cls(**{**data, "settings": settings})

    @property
    def label(self) -> str:
        """The subject as shown in tables: for a design of a manifest, without the path."""
        return self.subject.partition("@")[0]

    def __str__(self) -> str:
        """A short description for progress and messages."""
        usual = FLOW_DEFAULTS.get(self.stage, {})
        flow = [(name, value) for name, value in self.flow if name in SHOWN or value != usual.get(name)]
        given = [f"{name}={value}" for name, value in (*self.settings, *flow)]
        interface = "" if self.interface in (DEFAULT.name, SYSTEM) else self.interface
        words = [self.label, f"{self.nbits} bits", interface, self.workload, self.stage, *given]
        return ", ".join(filter(None, words))

    def at(self, **changes: Any) -> "Point":
        """A copy with these fields changed."""
        return replace(self, **changes)

    @functools.cached_property
    def key(self) -> str:
        """Digest of the point, its operands, and the code, tools and kit that compute its figures.

        It leaves out the hardware, whose digest takes longer: see `version`.
        """
        identity = {**self.as_json(), "settings": self.resolved, "operands": self._operands()}
        if self.kind is None and self.design is not None:
            identity["subject"] = self.machine.identity
        digest = keys.sources_of(self.interface == SYSTEM, self.stage)
        kit = keys.kit_of(self.stage, self.kit or None)
        return cache.key(canonical(identity), digest, canonical(self.tools), kit)

    @functools.cached_property
    def content(self) -> str:
        """Digest of the measured hardware or model."""
        return content.content_of(self)

    @property
    def version(self) -> str:
        """The name of its figures or its failure in the store: a digest of all that determines them."""
        try:
            content = self.content
        except Exception:  # PyMTL3 may raise anything for hardware that cannot be translated
            content = ""
        return version_of(self.key, content)

    def _operands(self) -> list[Any]:
        """The operands of all measured exponentiations, and how often each runs.

        For long keys, the digest of the code that chooses the operands replaces them, because generating the
        keys takes as long as measuring by formula. If energy is measured, the cycles by formula are
        included, because they determine how much of an operation is simulated; for long keys, the digest of
        the formula's code replaces them too.
        """
        if self.own:
            return []  # its workloads are in the digest of its files
        machine = self.machine if self.design is not None else None
        by_formula = (
            self.stage in NETLIST and self.kind is None and machine is not None and CL in machine.backends
        )
        if self.nbits > MOST_OPERAND_NBITS:
            formula = [self.at(stage=FORMULA, flow=(), interface=DEFAULT.name).content] if by_formula else []
            return [keys.sources_of_operands(), *formula]
        names = operations(machine) if self.stage in IMPLEMENTED else (self.workload,)
        works = [part for name in names for part in self.parts(name)]
        operands = [[str(part.times), *map(hex, part.work.operands)] for part in works]
        if by_formula and machine is not None:
            operands += [machine.counted(*part.work.operands) for part in works]
        return operands

    @property
    def tools(self) -> Mapping[str, str]:
        """Names and versions of the tools that measure it; a missing tool has the version ""."""
        return keys.tools_of(self.stage)

    @functools.cached_property
    def command(self) -> list[str]:
        """The command that measures the point."""
        settings = _options("--set", self.settings)
        width = ["--nbits", str(self.nbits)]
        interface = [] if self.interface in (DEFAULT.name, SYSTEM) else ["--interface", self.interface]
        path = self.subject.partition("@")[2]
        subject = ["--accelerator", path] if path else [self.subject]
        if self.stage in IMPLEMENTED:
            fpga = ["--fpga"] if self.stage == FPGA else []
            words = ["asic", *subject, *fpga, *width, *settings, *interface, *self._flow_options()]
        elif self.interface == SYSTEM:
            work = ["--operation", self.workload, "--backend", self.stage, "--full"]
            words = ["proc", "systems", self.subject, *width, *settings, *work]
        else:
            work = [*width, *settings, "--workload", self.workload]
            level = ["--level", "cl"] if self.stage == CL else ["--backend", self.stage]
            words = ["run", *subject, *work, *interface, *level]
            if self.stage == FORMULA:
                words = ["run", *subject, "--level", "formula", *work]
        return ["modexlab", *words, "--json"]

    def _flow_options(self) -> list[str]:
        flow = dict(self.flow)
        if self.stage == FPGA:
            return ["--device", flow["device"]]
        options = ["--clock", spelled(flow.pop("clock_period"))]
        style = flow.pop("style")
        options += [] if style == FLOW_DEFAULTS[FLOW]["style"] else ["--style", style]
        if self.stage == LAYOUT:
            options += ["--layout", "--density", spelled(flow.pop("density"))]
        options += [] if flow.pop("equivalence") else ["--skip", "equivalence"]
        options += ["--fmax"] if flow.pop("fmax", False) else []
        options += [word for name in (KIT, CORNER) if name in flow for word in (f"--{name}", flow.pop(name))]
        return options + _options("--flow", flow.items())


def _differing(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> Settings:
    """The values that differ from the defaults; True and 1 count as different."""
    return tuple(
        (name, value)
        for name, value in sorted(values.items())
        if name not in defaults or not same(value, defaults[name])
    )


def _options(option: str, values: Iterable[tuple[str, Any]]) -> list[str]:
    """The option, repeated for each of the values."""
    return [word for name, value in values for word in (option, f"{name}={spelled(value)}")]
