"""Builds objects from the options that commands share: designs and their settings, points, keys."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...fl.errors import BadInput
from ...fl.param import PAPER_NBITS, Param
from ...fl.rsa_keys import RSAKey
from ...flow import workload
from ...flow.graph import graph
from ...flow.source import Source, VerilogFiles
from ..designs import catalogue
from ..designs.interfaces import COUPLINGS, DEFAULT, SYSTEM, UNIT
from ..designs.machine import Design, Machine
from ..designs.own import OwnDesign
from ..designs.protection import Requested
from ..designs.soc_system import Xcel
from ..designs.system_catalogue import PointSubject, subject_of
from ..designs.widths import check_fit
from ..json_values import attributes, json_value
from ..lab.point import Point
from ..lab.stages import FPGA
from .options import PRIVATE, number, shared, short
from .render import Json, warn

Settings = dict[str, Any]  # of a design, by name
SPELLED = {  # destinations that are not the names of their options
    "fields": "--field",
    "manifests": "--accelerator",
    "operands": "--operand",
    "other": "--flow",
    "results": "--result",
    "settings": "--set",
}
UNSAID = (("blind", "no"), ("interface", DEFAULT.name))  # defaults that are values


def given(args: Namespace, name: str) -> bool:
    """Whether the user has given an option, named `--base` or `base`; 0 counts as given."""
    name = name.removeprefix("--")
    value = getattr(args, name, None)
    return value is not False and value not in (None, [], {}) and (name, value) not in UNSAID


def refuse(args: Namespace, options: Iterable[str], why: str) -> None:
    """BadInput if one of these options is given."""
    for name in options:
        if given(args, name):
            raise BadInput(f"{SPELLED.get(name) or '--' + name.removeprefix('--').replace('_', '-')}{why}")


def private(args: Namespace) -> bool:
    """Whether a private operation is requested."""
    return any(given(args, option) for option in PRIVATE)


# ---- designs


def entries_of(args: Namespace) -> list[Design | OwnDesign]:
    """The accelerators of a command: DESIGN of the catalogue, and those of --accelerator."""
    found = [] if args.design is None else [catalogue.entry(args.design)]
    found += catalogue.by_paths(args.manifests)
    if not found:
        raise BadInput(
            "no design; give one of the catalogue (`modexlab show designs`), or --accelerator PATH for your "
            "own"
        )
    return found


def designs_of(args: Namespace) -> list[Design]:
    """The designs of a command that only supports RSA machines."""
    found: list[Any] = entries_of(args)
    for design in found:
        if isinstance(design, OwnDesign):
            raise catalogue.no_rsa_machine(design)
    return found


def one_entry(args: Namespace) -> Design | OwnDesign:
    """The accelerator of a command that accepts only one."""
    first, *others = entries_of(args)
    if others:
        raise BadInput(
            f"{first.name} and {others[0].name}: this command takes one design at a time; name one"
        )
    return first


def accelerator_of(args: Namespace, design: Design | OwnDesign | None = None, *numbers: int) -> Any:
    """The design at the width and settings of a command; by default as wide as these numbers need."""
    design = design or one_entry(args)
    nbits = args.nbits
    if nbits is None:
        nbits = design.usual_nbits
        if numbers and isinstance(design, Design):
            nbits = design.width_for(*numbers)
    machine = design.at(nbits, **program_settings(args, design, nbits))
    if getattr(args, "interface", "") != UNIT:
        warn_of(machine)
    return machine


def warn_of(machine: Any) -> None:
    """Warn of hardware with CRT or blinding and without the result check."""
    if isinstance(machine, Machine) and (caveat := machine.promises.caveat):
        warn(f"{machine.name}, {machine.nbits} bits: {caveat}")


def program_settings(args: Namespace, design: Design | OwnDesign, nbits: int) -> Settings:
    """The values of --set; --crt, --blind or --verify add those of a private operation."""
    settings = settings_of(design, args.settings)
    if isinstance(design, OwnDesign):
        refuse(args, PRIVATE, f" is for RSA machines, and {design.name} is not one; drop it")
    if isinstance(design, OwnDesign) or not private(args):
        return settings
    return requested_of(args).settings(design, nbits, settings)


def requested_of(args: Namespace) -> Requested:
    """The protections that a command requests."""
    return Requested(**attributes(args, *Requested._fields))


def operands_of(args: Namespace, machine: Any) -> tuple[int, int, int]:
    """The operands of a command that the machine accepts; missing ones are random."""
    asked, drawn = attributes(args, "base", "exp", "mod"), machine.some_operands(args.mod)
    base, exp, mod = (
        default if value is None else value for value, default in zip(asked.values(), drawn, strict=True)
    )
    check_fit(machine.nbits, [(base, exp, mod)])
    machine.require(base, exp, mod)
    return base, exp, mod


def described(accelerator: Any) -> Json:
    """The JSON of an accelerator: its name, width and parameters."""
    params = {name: json_value(value) for name, value in accelerator.parameters.items()}
    return {"design": accelerator.design.name, "nbits": accelerator.nbits, "params": params}


def xcel_of(args: Namespace, name: str | None, interface: str) -> Xcel:
    """The accelerator behind a processor: a design with the width and settings of a command, or the null
    accelerator.
    """
    if name is None:
        why = " without an accelerator; name one with --xcel DESIGN"
        if interface != COUPLINGS[0]:
            raise BadInput(f"--interface {interface}{why}")
        refuse(args, ("settings", *PRIVATE), why)
        return Xcel()
    design = catalogue.entry(name)
    nbits = design.usual_nbits if args.nbits is None else args.nbits
    machine = design.at(nbits, **program_settings(args, design, nbits))
    machine.interface(interface)  # BadInput before anything is built
    warn_of(machine)
    return Xcel(machine.design, nbits, machine.parameters, interface)


# ---- subjects of the flow


RSA_DESIGN = shared("design", convert=catalogue.find)  # of a command that only supports RSA machines
# options of a command for the flow, which takes one subject
SUBJECT = shared("design", "or a system, see `modexlab proc systems`", convert=subject_of)
ACCELERATORS = shared("--accelerator", collect=catalogue.with_path)


def source_of(
    args: Namespace,
    stage: str,
    system: bool = False,
    clock_port: str | None = None,
    vectors: str | None = None,
) -> tuple[Source, Point | None]:
    """The subject of a command with its point, or Verilog from elsewhere."""
    if given(args, "verilog"):
        why = " with --verilog: this is for designs of the catalogue; drop one of them"
        if args.design is not None:
            raise BadInput(f"DESIGN{why}")
        refuse(args, ("manifests", "nbits", "settings", "system", "interface", *PRIVATE), why)
        return _verilog_files(args, clock_port or "clk", vectors), None
    why = " is for Verilog from elsewhere; add --verilog FILE"
    refuse(args, ("top", "clock_port", "vectors", "include", "define"), why)
    point = flow_point(args, stage, system=system)
    chip = point.chip()
    chip.check()
    if stage == FPGA:
        point.check()
        warn_of(point.machine)
    else:
        for note in filter(None, (chip.note, chip.limits)):
            warn(note)
    return chip, point


def flow_point(
    args: Namespace, stage: str, flow: Mapping[str, Any] = MappingProxyType({}), system: bool = False
) -> Point:
    """The point of a command for the flow: a design of any kind, or a system, by its name or by `system`."""
    subjects = [*filter(None, [args.design]), *(PointSubject(own.reference, own) for own in args.manifests)]
    if not subjects:
        raise BadInput(
            "neither a design nor Verilog; give a DESIGN, --accelerator PATH, or --verilog FILE --top NAME"
        )
    if len(subjects) > 1:
        both = " and ".join(subject.name.partition("@")[0] for subject in subjects[:2])
        raise BadInput(f"{both}: this command takes one design at a time; name one")
    name, design, is_system = subjects[0]
    if system and "@" in name:
        raise BadInput(f"{name.partition('@')[0]} is not a machine of the catalogue: drop --system")
    system = system or is_system
    if system and args.interface != DEFAULT.name:
        raise BadInput("--interface with --system: behind a processor the interface is always xcel; drop it")
    if design is None:
        for param, value in args.settings.items():
            raise BadInput(f"--set {param}={value}: software on the processor has no parameters; drop it")
        refuse(args, PRIVATE, ": software on the processor has no such hardware; drop it")
    nbits = args.nbits
    if nbits is None:
        nbits = design.usual_nbits if design else PAPER_NBITS
    settings = program_settings(args, design, nbits) if design else {}
    interface = SYSTEM if system else args.interface
    return Point(name, nbits, tuple(settings.items()), interface, stage=stage, flow=tuple(flow.items()))


def flow_of(args: Namespace, options: Mapping[str, Any], command: str) -> dict[str, Any]:
    """The settings of the flow: the values of a command's own options, if given, and those of `--flow`."""
    for name in args.other:
        if name in options or name in graph.step("rtl").parameters:
            raise BadInput(f"--flow {name}: it has an option of its own; see `modexlab {command} --help`")
    return {name: value for name, value in options.items() if value} | args.other


def _verilog_files(args: Namespace, clock_port: str, vectors: str | None) -> VerilogFiles:
    """External Verilog sources; BadInput without a top module or if a file is missing."""
    if args.top is None:
        raise BadInput("--verilog without --top: name the top module, as in --top MontMulRem")
    for path in args.verilog:
        if not Path(path).is_file():
            raise BadInput(f"there is no file {path}; give Verilog files")
    if vectors is not None:
        workload.load(Path(vectors))  # BadInput before anything runs
    return VerilogFiles(
        tuple(map(Path, args.verilog)),
        args.top,
        clock_port,
        None if vectors is None else Path(vectors),
        tuple(map(Path, args.include or ())),
        tuple(args.define or ()),
    )


# ---- keys


def private_key(path: str) -> RSAKey:
    """The private key in a file."""
    key = RSAKey.load(path)
    if not key.is_private:
        raise BadInput(f"the key in {path} is public: give a private one")
    return key


# ---- values by name


def numbers(option: str, texts: Mapping[str, str]) -> Iterator[tuple[str, list[int]]]:
    """The names and numbers of options such as --field NAME=1,2,3."""
    for name, text in texts.items():
        try:
            yield name, [number(part) for part in text.split(",")]
        except ArgumentTypeError as error:
            raise BadInput(f"{option} {name}: {error}") from None


def settings_of(design: Design | OwnDesign, given: Mapping[str, str]) -> Settings:
    """The values of `--set`; unknown names are left for the design to reject."""
    known = {param.name: param for param in design.params}
    return {
        short(name): _setting(known[name], value) if name in known else short(value)
        for name, value in given.items()
    }


def _setting(param: Param, text: str) -> Any:
    """The value of one parameter; numbers are written as in other options."""
    if isinstance(param.legal, tuple):
        return param.parse(text) if len(text) <= 40 else param.checked(short(text))
    try:
        value = number(text)
    except ArgumentTypeError as error:
        raise BadInput(f"{param.name} = {short(text)} is not possible: {error}") from None
    return param.checked(value)
