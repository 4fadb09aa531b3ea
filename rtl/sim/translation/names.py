"""Names of generated Verilog modules, and their parameters as text."""

import hashlib
import re
import textwrap

from pymtl3.passes.rtlir import RTLIRType as rt
from pymtl3.passes.rtlir.util.utility import get_component_full_name

from ...verilog.comments import plain, sentence

MAX_NAME = 63
MAX_PREFIX = 31
MAX_LINE = 100

Identity = tuple[type, str]


def identity(kind: rt.Component) -> Identity:
    """Return the identity of a module: the class, and PyMTL3's long name of it with its parameters."""
    return type(kind.obj), get_component_full_name(kind)


def prefix_of(top: str) -> str:
    """Return the prefix of the names inside a design: its top name, shortened if it is long."""
    if len(top) >= MAX_PREFIX:
        digest = hashlib.blake2b(top.encode(), digest_size=3).hexdigest()
        top = f"{top[: MAX_PREFIX - 8]}_{digest}"
    return _single(f"{top}_")


def module_names(kinds: list[rt.Component], top: str, prefix: str) -> dict[Identity, str]:
    """A name for each module of a design whose first component is the top; all others begin with the prefix.

    It is the class name if there is one module of that class. Names of several modules of a class also have
    the values of the parameters in which they differ, or a number, if such a name would not be short and
    unique.
    """
    names = {identity(kinds[0]): top}
    classes: dict[str, dict[Identity, dict[str, str]]] = {}
    for kind in kinds:
        if identity(kind) not in names:
            parameters = {
                key: _word(value)
                for key, value in kind.get_params()
                if isinstance(value, type)
                or not (value is None or callable(value))  # not makers of components
            }
            classes.setdefault(f"{prefix}{kind.get_name()}", {})[identity(kind)] = parameters
    taken = {top}
    for class_name, modules in classes.items():
        keys = {key for module in modules.values() for key in module}
        differing = {key for key in keys if len({module.get(key) for module in modules.values()}) > 1}
        for number, (row, parameters) in enumerate(modules.items()):
            words = [value for key, value in parameters.items() if key in differing]
            name = _single("_".join([class_name, *words]))
            if not re.fullmatch(r"\w+", name) or len(name) > MAX_NAME or name in taken:
                name = _single(f"{class_name[: MAX_NAME - 8]}_{number}")
            while name in taken:
                name += "x"
            names[row] = name
            taken.add(name)
    return names


def described(kind: rt.Component) -> str:
    """Comment lines: what the class is, by the first sentence of its docstring, and its plain parameters."""
    lines = [sentence(type(kind.obj)), plain(kind.get_params()).replace(" = ", "\0=\0")]
    wrapped = [part for line in lines for part in textwrap.wrap(line, MAX_LINE - 3, break_on_hyphens=False)]
    return "".join(f"// {line}\n" for line in wrapped).replace("\0", " ")


def _word(value: object) -> str:
    """A parameter as part of a name."""
    return re.sub("[-. ]", "_", value.__name__ if isinstance(value, type) else str(value))


def _single(name: str) -> str:
    """Without the double underscores that Verilator would encode."""
    return re.sub("__+", "_", name)
