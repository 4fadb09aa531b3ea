"""An accelerator of any kind as one self-contained SystemVerilog file: header and hardware."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ....fl.status import Status
from ..interfaces import DEFAULT, Interface
from ..runnable import Runnable
from ..verilog_header import verilog_file, without_paths, wrapped

FURTHER = {  # statuses of interfaces
    Status.WORD_COUNT: "a field was pushed with the wrong number of words",
    Status.TOO_WIDE: "a field has ones above its width",
    Status.NO_RESULT: "a result word was read, but there is none left",
}


def verilog(accelerator: Runnable, interface: str = DEFAULT.name) -> str:
    """The file: header and hardware."""
    chosen = accelerator.interface(interface)
    accelerator.require_ports()
    component = accelerator.exported(chosen)
    known = codes(accelerator, chosen)
    statuses = ["", "Statuses:", *(f"  {code}  {text}" for code, text in known.items())]
    return verilog_file(
        component,
        accelerator.top(chosen),
        f"{accelerator.name}, {accelerator.nbits} bits",
        wrapped(f"Computes       {accelerator.design.summary}", 15),
        parameters(accelerator),
        lambda: [
            *chosen.protocol(component, accelerator.shape, accelerator.traits),
            *(statuses if len(known) > 1 else ()),
        ],
    )


def parameters(machine: Runnable, only: Collection[str] | None = None) -> Iterator[str]:
    """The width and the parameters of a machine, or only some of these, with what they mean."""
    helps = {param.name: without_paths(param.help) for param in machine.design.params}
    yield f"  nbits = {machine.nbits}: width of the operands"
    for name, value in machine.parameters.items():
        if only is not None and name not in only:
            continue
        long = isinstance(value, int) and value.bit_length() > 64
        yield from wrapped(f"  {name} = {hex(value) if long else value}: {helps[name]}", 6)


def codes(accelerator: Runnable, interface: Interface) -> dict[int, str]:
    """The statuses of an accelerator behind an interface, in words."""
    own = {int(code): text for code, text in accelerator.statuses.items()}
    of_interface = {int(code): FURTHER[code] for code in interface.more_statuses(accelerator.shape)}
    found = {0: "the results are valid"}
    for code in sorted({*own, *of_interface}):
        found[code] = "; or ".join(text[code] for text in (own, of_interface) if code in text)
    return found
