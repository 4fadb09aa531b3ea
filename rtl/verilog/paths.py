"""Paths of instances and signals in the printed text.

A component units[1] is gen_units[1].unit in a loop, else units__1.
"""

from collections.abc import Iterable, Iterator

from pymtl3 import Component

from .print import UNIT, instance_name
from .read import Reader
from .simplify import opened
from .translate import design_of
from .tree import Assign, Design, Instance, Item, Loop, Module, Name


def instances_of(design: Design, module: Module) -> Iterator[tuple[str, str, Module]]:
    """The instances in a module: the names of the component and of its scope in the text, and the module."""
    modules = {found.name: found for found in design.modules}
    for item in module.items:
        for name, scope, kind in _parts(item):
            yield name, scope, modules[kind]


def _parts(item: Item) -> Iterator[tuple[str, str, str]]:
    match item:
        case Instance():
            place = "".join(f"[{index}]" for index in item.place)
            yield f"{item.name}{place}", instance_name(item), item.module
        case Loop():
            for turn in range(item.count):
                for inner in item.items:
                    for name, scope, kind in _parts(inner):
                        row, _, indices = name.partition("[")
                        more = f"[{indices}" if indices else ""
                        scope = UNIT if isinstance(inner, Instance) else scope
                        yield f"{row}[{turn}]{more}", f"gen_{item.name}[{turn}].{scope}", kind


def instance_path(design: Design, path: str) -> str:
    """The path in the text of a component, from that in Python; both are below the top."""
    return _found(design, path)[0]


def signal_paths(component: Component, paths: Iterable[str]) -> dict[str, str]:
    """The paths of signals and of elements of lists in the whole text of an elaborated component, by those in
    Python.

    A register that is connected to an output has no name of its own there, but that of the output.
    """
    read, printed = Reader(component).design(), design_of(component, whole=True)
    found = {}
    for path in paths:
        unit, _, signal = path.rpartition(".")
        name, bracket, index = signal.partition("[")
        scope, module = _found(printed, unit)
        known = {item.name for item in module.signals}
        same = next((alias for alias in _aliases(_found(read, unit)[1], name) if alias in known), None)
        if same is None:
            raise KeyError(f"the text has no register {path}, and no output that it is connected to")
        found[path] = f"{scope}.{same}{bracket}{index}".removeprefix(".")
    return found


def _found(design: Design, path: str) -> tuple[str, Module]:
    """The path in the text of a component, and its module."""
    module, scopes = design.top, []
    for name in filter(None, path.split(".")):
        found = {part: (scope, kind) for part, scope, kind in instances_of(design, module)}
        scope, module = found.get(name) or found[name.replace("[", "__").replace("]", "")]
        scopes.append(scope)
    return ".".join(scopes), module


def _aliases(module: Module, name: str) -> list[str]:
    """A signal of a module as it is read, and the signals to which it is assigned, directly or not."""
    found = [name]
    for alias in found:
        for item in opened(module).items:
            if isinstance(item, Assign) and isinstance(item.target, Name) and item.target.name not in found:
                if isinstance(item.value, Name) and item.value.name == alias:
                    found.append(item.target.name)
    return found
