"""Timing constraints: the clock and the environment of a netlist, for every engine and as an SDC file.

Inputs come from flip-flops of the same clock through a driving cell; outputs go to such flip-flops and drive
a load. Driving cell and load are the kit's (kit.toml, `Library.constraints`). As in the paper's flow and the
lab's scripts, the delay of the external flip-flops is not subtracted from the period. For hold, however, an
input does not change before an external flip-flop could change it; otherwise hold would fail at every input
that goes to a register. An ideal clock (before there is a clock tree) reaches all flip-flops at once, with
the slew of a tree of buffers. With a clock tree, the external flip-flops are assumed to have a similar one:
its mean delay, `latency_ns`, is added to the times at which inputs change and outputs are sampled, for setup
and for hold, like the latency of a virtual clock. Without it every input would seem too early, and every
output too late, by the delay of the tree.

The kit's derate models on-chip variation: on data paths the delays of cells count (1 + derate) times for
setup and (1 - derate) times for hold. Clocks and wires are not derated.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass

from ...fl.errors import BadInput

SHORTEST_NS, LONGEST_NS = 1e-3, 1000.0
CLOCK_NS = 3.0  # the default
DENSITY = 0.7  # the default
CORNERS = ("slow", "typical", "fast")


@dataclass(frozen=True)
class Constraints:
    """One clock and the environment of the design."""

    clock_ns: float
    clock_port: str | None = "clk"  # None: inputs and outputs are timed by an external clock
    _: KW_ONLY
    propagated: bool = False  # through the clock tree in the netlist
    clock_slew_ns: float  # at the flip-flops; at the port if the clock is propagated
    latency_ns: float = 0.0  # from the clock port to the external flip-flops
    input_hold_ns: float  # after the clock edge, at the earliest
    driving_cell: str
    output_load_ff: float
    derate: float = 0.0  # of the delays of cells on data paths
    # outputs of flip-flops that open latches, and their delay after the edge of an ideal clock
    openers: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if not SHORTEST_NS <= self.clock_ns < float("inf"):
            raise BadInput(f"a clock period of {self.clock_ns} ns: choose one from {SHORTEST_NS} ns on")

    @property
    def earliest_input_ns(self) -> float:
        """The earliest time at which an input changes; only hold uses it."""
        return self.latency_ns + self.input_hold_ns

    @property
    def clock_sdc(self) -> str:
        """The commands that create the clock; they may be repeated with another period."""
        port = f" [get_ports {{{self.clock_port}}}]" if self.clock_port else ""
        text = f"create_clock -name clk -period {self.clock_ns!r}{port}\n"
        if not self.clock_port:
            return text
        if self.propagated:
            text += "set_propagated_clock [get_clocks clk]\n"
            return text + f"set_input_transition {self.clock_slew_ns!r}{port}\n"
        return text + f"set_clock_transition {self.clock_slew_ns!r} [get_clocks clk]\n"

    @property
    def openers_sdc(self) -> str:
        """The commands for latches that are open for a cycle after the clock edge, while their inputs do not
        change (flow/synth/latches.py).
        """
        if not self.openers:
            return ""
        pins = " ".join(pin for pin, _ in self.openers)
        clock = "[get_clocks open]"
        source = f"-divide_by 2 -source [get_ports {{{self.clock_port}}}]"
        lines = [
            f"create_generated_clock -name open {source} [get_pins {{{pins}}}]",
            f"set_propagated_clock {clock}",
        ]
        if not self.propagated:
            lines += [
                f"set_clock_latency -source {ns!r} -clock {clock} [get_pins {{{pin}}}]"
                for pin, ns in self.openers
            ]
        return "\n".join([*lines, "set_false_path -to [all_registers -level_sensitive -data_pins]"])

    @property
    def sdc(self) -> str:
        """The constraints as an SDC file; times in ns and loads in fF, as in the library."""
        return f"""{self.clock_sdc}{self.openers_sdc}
set inputs {{}}
foreach port [all_inputs] {{
  if {{[get_property $port full_name] ne {{{self.clock_port or ""}}}}} {{ lappend inputs $port }}
}}
{self._around("$inputs")}"""

    def named_sdc(self, inputs: Iterable[str]) -> str:
        """The constraints of a design before synthesis, in commands that all tools share: the bits of its
        input ports are named. Times are in ns and loads in fF, as in the library.
        """
        others = " ".join(name for name in inputs if name != self.clock_port)
        return self.clock_sdc + self._around(f"[get_ports {{{others}}}]")

    def _around(self, inputs: str) -> str:
        """The commands for the surroundings of a design with these input ports, and for the derate."""
        return f"""set_input_delay -max {self.latency_ns!r} -clock clk {inputs}
set_input_delay -min {self.earliest_input_ns!r} -clock clk {inputs}
set_output_delay {0 - self.latency_ns!r} -clock clk [all_outputs]
set_driving_cell -lib_cell {self.driving_cell} {inputs}
set_load {self.output_load_ff!r} [all_outputs]
{self._derate_sdc}"""

    @property
    def _derate_sdc(self) -> str:
        sides = (("-late", 1 + self.derate), ("-early", 1 - self.derate)) if self.derate else ()
        return "".join(f"set_timing_derate {side} -data -cell_delay {share!r}\n" for side, share in sides)
