"""Names of modules: that of the class, with the arguments in which several modules of a class differ."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .tree import Design, Instance, Module, rebuilt

MAX_NAME = 63
MAX_PREFIX = 31


def prefix_of(top: str) -> str:
    """The prefix of the names inside a design: its top name, shortened if it is long."""
    if len(top) >= MAX_PREFIX:
        digest = hashlib.blake2b(top.encode(), digest_size=3).hexdigest()
        top = f"{top[: MAX_PREFIX - 8]}_{digest}"
    return _single(f"{top}_")


def merged(design: Design) -> Design:
    """Equal modules of a class as one, the inner ones first."""
    names: dict[str, str] = {}
    found: dict[tuple[str, Module], Module] = {}
    top, *inner = design.modules
    for module in inner[::-1]:
        module = _renamed(module, names)
        key = module.kind, module
        names[module.name] = found.setdefault(key, module).name
        common = tuple(line for line in found[key].comment if line in module.comment)
        found[key] = replace(found[key], comment=common)
    return Design((_renamed(top, names), *[*found.values()][::-1]))


def named(design: Design, top: str, prefix: str) -> Design:
    """The design with this name of its top, and names of all other modules that begin with the prefix."""
    names = {design.top.name: top}
    for kind, modules in _by_class(design.modules[1:]).items():
        owners = {module.name: _owner(design, module).kind for module in modules}
        differing = _differing(modules)
        for number, module in enumerate(modules):
            words = [_word(value) for name, value in module.arguments if name in differing]
            name = _single("_".join([f"{prefix}{kind}", *words]))
            if not name.isidentifier() or len(name) > MAX_NAME or name in names.values():
                name = _single(f"{prefix}{kind}"[: MAX_NAME - 8] + f"_{number}")
                if len({*owners.values()}) == len(modules):
                    name = f"{prefix}{owners[module.name]}{kind}"
            while name in names.values():
                name += "x"
            names[module.name] = name
    return Design(
        tuple(replace(_renamed(module, names), name=names[module.name]) for module in design.modules)
    )


def _renamed(module: Module, names: dict[str, str]) -> Module:
    """A module whose instances are of the modules of these names."""

    def change(node: Any) -> Any:
        if isinstance(node, Instance):
            return replace(node, module=names.get(node.module, node.module))
        return None

    return replace(module, items=rebuilt(module.items, change))


def _by_class(modules: Iterable[Module]) -> dict[str, list[Module]]:
    found: dict[str, list[Module]] = {}
    for module in modules:
        found.setdefault(module.kind, []).append(module)
    return found


def _owner(design: Design, module: Module) -> Module:
    """The first module that has an instance of this one."""
    return next(
        owner for owner in design.modules if any(item.module == module.name for item in owner.instances)
    )


def _differing(modules: list[Module]) -> set[str]:
    """The arguments that are not the same in all modules."""
    arguments = [dict(module.arguments) for module in modules]
    names = {name for found in arguments for name in found}
    return {name for name in names if len({_word(found.get(name)) for found in arguments}) > 1}


def _word(value: object) -> str:
    """An argument as a part of a name."""
    word = value.__name__ if isinstance(value, type) else str(value)
    return word.replace("-", "_").replace(".", "_").replace(" ", "_")


def _single(name: str) -> str:
    """Without the double underscores that Verilator would encode."""
    while "__" in name:
        name = name.replace("__", "_")
    return name
