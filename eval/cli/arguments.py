"""Builds objects from the options that commands share: designs and their settings, accelerators, keys."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from typing import Any

from ...fl.errors import BadInput
from ...fl.param import Param
from ...fl.rsa_keys import RSAKey
from ..designs import catalogue
from ..designs.interfaces import COUPLINGS, DEFAULT, UNIT
from ..designs.machine import Design, Machine
from ..designs.own import OwnDesign
from ..designs.protection import private_settings
from ..designs.soc_system import Xcel
from ..designs.widths import check_fit
from ..json_values import attributes, json_value
from .options import PRIVATE, number, short
from .render import Json, warn

Settings = dict[str, Any]  # of a design, by name
SPELLED = {"manifests": "--accelerator", "settings": "--set", "other": "--flow", "fields": "--field"}
UNSAID = (("blind", "no"), ("interface", DEFAULT.name))  # defaults that are values


def given(args: Namespace, name: str) -> bool:
    """Whether the user has given an option, named `--base` or `base`; 0 counts as given."""
    name = name.removeprefix("--")
    value = getattr(args, name, None)
    return value is not False and value not in (None, []) and (name, value) not in UNSAID


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
            "no design; give one of the catalogue (`modexlab show`), or --accelerator PATH for your own"
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
    if not private(args):
        return settings
    if isinstance(design, OwnDesign):
        raise catalogue.no_rsa_machine(design)
    design.needs_program("--crt, --blind or --verify")
    return private_settings(design, nbits, settings, **attributes(args, "crt", "blind", "verify"))


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


def xcel_of(name: str | None, nbits: int | None, settings: list[str], interface: str = COUPLINGS[0]) -> Xcel:
    """The accelerator behind a processor: a design with its `--nbits` and `--set`, or the null
    accelerator.
    """
    if name is None:
        option = f"--interface {interface}" if interface != COUPLINGS[0] else "--set"
        if settings or interface != COUPLINGS[0]:
            raise BadInput(f"{option} without an accelerator; name one with --xcel DESIGN")
        return Xcel()
    design = catalogue.entry(name)
    nbits = design.usual_nbits if nbits is None else nbits
    machine = design.at(nbits, **settings_of(design, settings))
    machine.interface(interface)  # BadInput before anything is built
    warn_of(machine)
    return Xcel(machine.design, nbits, machine.parameters, interface)


def private_key(path: str) -> RSAKey:
    """The private key in a file."""
    key = RSAKey.load(path)
    if not key.is_private:
        raise BadInput(f"the key in {path} is public: give a private one")
    return key


# ---- values by name


def assignments(option: str, texts: Iterable[str], example: str) -> Iterator[tuple[str, str]]:
    """The names and values of options such as --set NAME=VALUE; BadInput if a name occurs twice."""
    seen = set()
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise BadInput(f"{option} {short(text)}: write {example}")
        if name in seen:
            raise BadInput(f"{option} {name} is given twice; give it once")
        seen.add(name)
        yield name, value


def numbers(option: str, texts: Iterable[str], example: str) -> Iterator[tuple[str, list[int]]]:
    """The names and numbers of options such as --field NAME=1,2,3."""
    for name, text in assignments(option, texts, example):
        try:
            yield name, [number(part) for part in text.split(",")]
        except ArgumentTypeError as error:
            raise BadInput(f"{option} {name}: {error}") from None


def settings_of(design: Design | OwnDesign, given: list[str]) -> Settings:
    """The values of `--set`; unknown names are left for the design to reject."""
    known = {param.name: param for param in design.params}
    return {
        short(name): _setting(known[name], value) if name in known else short(value)
        for name, value in assignments("--set", given, "PARAM=VALUE, as in --set nstages=4")
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
