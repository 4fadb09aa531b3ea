"""State encodings of a controller, by name.

    s.st = Wire(2)
    IDLE, STEP, DONE = states(s, "st", IDLE=0, STEP=1, DONE=3)

These are words for update blocks. The Verilog declares the named states as an enumeration, of which the named
signals are; what update blocks say of any other state, which the control then never enters, is not written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pymtl3 import Bits, Component, MetadataKey, mk_bits
from pymtl3.dsl import Signal


@dataclass(frozen=True)
class States:
    """Possible states of a component, by name, and its signals that hold one."""

    codes: Mapping[str, int]
    signals: tuple[str, ...]

    def name(self, code: int) -> str | None:
        """None for a state that cannot be."""
        return next((name for name, value in self.codes.items() if value == code), None)


STATES: MetadataKey = MetadataKey(States)
NONE = States({}, ())


def states(component: Component, *signals: str, **codes: int) -> tuple[Bits, ...]:
    """Say that signals of a component hold one of these states and no other; the codes as words of that
    width.
    """
    component.set_metadata(STATES, States(codes, signals))
    first: Signal = getattr(component, signals[0])
    word = mk_bits(first.get_type().nbits)
    return tuple(word(code) for code in codes.values())


def state_name(component: Component) -> str | None:
    """The name of the state that a component is in, as line traces show it."""
    found = states_of(component)
    name = found.name(int(getattr(component, found.signals[0])))
    return name and name.lower()


def states_of(component: object) -> States:
    """Return the declared states of a component."""
    if isinstance(component, Component) and component.has_metadata(STATES):
        return component.get_metadata(STATES)
    return NONE
