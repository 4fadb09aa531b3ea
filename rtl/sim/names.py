"""Names of the Verilog modules of a design, and how parameters are written in them."""

import re

from pymtl3.passes.rtlir import RTLIRType as rt
from pymtl3.passes.rtlir.util.utility import get_component_full_name

MAX_NAME = 63

Identity = tuple[type, str]


def identity(kind: rt.Component) -> Identity:
    """What makes a module: the class, and the long name that PyMTL3 makes of it and its parameters."""
    return type(kind.obj), get_component_full_name(kind)


def module_names(kinds: list[rt.Component], top: str) -> dict[Identity, str]:
    """A name for each module of a design whose first component is the top.

    It is the class name where there is one module of that class. Where there are several it is followed by
    the values of those parameters in which they differ, or by a number, if such a name would not be short
    and unique.
    """
    names = {identity(kinds[0]): top}
    classes: dict[str, dict[Identity, dict[str, str]]] = {}
    for kind in kinds:
        if identity(kind) not in names:
            parameters = {key: _word(value) for key, value in kind.get_params() if is_value(value)}
            classes.setdefault(kind.get_name(), {})[identity(kind)] = parameters
    taken = {top}
    for class_name, modules in classes.items():
        keys = {key for each in modules.values() for key in each}
        differing = {key for key in keys if len({each.get(key) for each in modules.values()}) > 1}
        for number, (each, parameters) in enumerate(modules.items()):
            words = [value for key, value in parameters.items() if key in differing]
            name = _single("_".join([class_name, *words]))
            if not re.fullmatch(r"\w+", name) or len(name) > MAX_NAME or name in taken:
                name = _single(f"{class_name[: MAX_NAME - 8]}_{number}")
            while name in taken:
                name += "x"
            names[each] = name
            taken.add(name)
    return names


def described(kind: rt.Component) -> str:
    """The parameters for a comment: the same text in every process, so without the addresses of objects."""
    parameters = []
    for key, value in kind.get_params():
        if is_value(value):
            text = value.__name__ if isinstance(value, type) else repr(value)
            parameters.append(f"{key} = {re.sub(r' at 0x[0-9a-f]+', '', text)}")
    return ", ".join(parameters)


def is_value(value: object) -> bool:
    """Whether a parameter says something to a reader of Verilog; a function that makes components does not."""
    return isinstance(value, type) or not (value is None or callable(value))


def _word(value: object) -> str:
    """A parameter as part of a name."""
    return re.sub("[-. ]", "_", value.__name__ if isinstance(value, type) else str(value))


def _single(name: str) -> str:
    """Without the double underscores that Verilator would encode."""
    return re.sub("__+", "_", name)
