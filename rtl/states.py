"""State encodings of a controller, by name.

    s.st = Wire(2)
    IDLE, STEP, DONE = states(s.st, IDLE=0, STEP=1, DONE=3)

Update blocks compare the signals with these codes. The Verilog declares the states as an enumeration, the
type of the signals, and omits the branches of update blocks for any other state.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pymtl3 import Bits, Component, MetadataKey, mk_bits
from pymtl3.dsl import Signal


@dataclass(frozen=True)
class States:
    """Possible states of a component, by name, and the names of its signals that hold one."""

    codes: Mapping[str, int]
    signals: tuple[str, ...]
    nbits: int

    def name(self, code: int) -> str | None:
        """None for a state that cannot be."""
        return next((name for name, value in self.codes.items() if value == code), None)


STATES: MetadataKey = MetadataKey(States)
NONE = States({}, (), 0)


def states(*signals: Signal, **codes: int) -> tuple[Bits, ...]:
    """Declare that signals of a component hold one of these states and no other; return the codes."""
    nbits = signals[0].get_type().nbits
    names = tuple(signal.get_field_name() for signal in signals)
    signals[0].get_parent_object().set_metadata(STATES, States(codes, names, nbits))
    return tuple(mk_bits(nbits)(code) for code in codes.values())


def state_name(component: Component, state: Bits) -> str | None:
    """Return the name of a component's state for its line trace."""
    name = states_of(component).name(int(state))
    return name and name.lower()


def states_of(component: object) -> States:
    """Return the declared states of a component."""
    if isinstance(component, Component) and component.has_metadata(STATES):
        return component.get_metadata(STATES)
    return NONE
