"""Timing constraints: the clock and the environment of a netlist, for every engine and as an SDC file.

Inputs come from flip-flops of the same clock through a driving cell, outputs go to such flip-flops and drive
a load: both are the kit's (kit.toml, `Library.constraints`). The delay of those flip-flops is not counted off
the period (the paper's flow and the lab's scripts do not either), but an input does not change sooner than a
flip-flop answers, or else hold would fail at every input that goes to a register. A clock that is not
propagated (there is no clock tree yet) reaches all flip-flops at once with the slew that a tree of buffers
would give. Once there is a tree, the flip-flops around the design are taken to hang on one like it:
`latency_ns`, its mean delay, is added to when inputs change and to when outputs are taken, for setup and for
hold, as by a virtual clock of that latency. Without it every input would seem to overtake the clock by the
delay of the tree, and every output to come so much too late.

The kit's derate stands for variation on the die: on data paths the delays of cells count (1 + derate) times
for setup and (1 - derate) times for hold. Clocks and wires are not derated.
"""

from dataclasses import dataclass, field

from ...fl.errors import BadInput

SHORTEST_NS = 1e-3
CLOCK_NS = 3.0  # the default
DENSITY = 0.7  # likewise


@dataclass(frozen=True)
class Constraints:
    """One clock and what lies around the design."""

    clock_ns: float
    clock_port: str | None = "clk"  # None: no such port, inputs and outputs are measured by a clock outside
    propagated: bool = False  # through the clock tree in the netlist
    clock_slew_ns: float = field(kw_only=True)  # at the flip-flops; at the port if the clock is propagated
    latency_ns: float = 0.0  # from the clock port to the flip-flops around the design
    input_hold_ns: float = field(kw_only=True)  # after the clock edge, at the earliest
    driving_cell: str = field(kw_only=True)
    output_load_ff: float = field(kw_only=True)
    derate: float = 0.0  # of the delays of cells on data paths
    # outputs of flip-flops that open latches, and when after the clock edge if the clock is not propagated
    openers: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if not SHORTEST_NS <= self.clock_ns < float("inf"):
            raise BadInput(f"a clock period of {self.clock_ns} ns: choose one from {SHORTEST_NS} ns on")
        for name in ("clock_slew_ns", "latency_ns", "output_load_ff"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise BadInput(f"{name} = {getattr(self, name)}: choose 0 or more")
        if not 0 <= self.derate < 1:
            raise BadInput(f"derate = {self.derate}: choose a share of the delay, from 0 to less than 1")

    @property
    def earliest_input_ns(self) -> float:
        """When an input changes at the earliest; only hold asks."""
        return self.latency_ns + self.input_hold_ns

    @property
    def clock_sdc(self) -> str:
        """The commands that make the clock; they may be given again with another period."""
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
        """The commands that open latches for a cycle after the clock edge. Their inputs do not change then
        (flow/synth/latches.py).
        """
        source = f"-divide_by 2 -source [get_ports {{{self.clock_port}}}]"
        opened = []
        for number, (pin, ns) in enumerate(self.openers):
            clock = f"[get_clocks open_{number}]"
            opened.append(f"create_generated_clock -name open_{number} {source} [get_pins {{{pin}}}]")
            opened.append(f"set_propagated_clock {clock}")
            if not self.propagated:
                opened.append(f"set_clock_latency -source {ns!r} {clock}")
        held = ["set_false_path -to [all_registers -level_sensitive -data_pins]"] * bool(opened)
        return "\n".join([*opened, *held])

    @property
    def sdc(self) -> str:
        """Everything as an SDC file; times in ns and loads in fF, as in the library."""
        return f"""{self.clock_sdc}{self.openers_sdc}
set inputs {{}}
foreach port [all_inputs] {{
  if {{[get_property $port full_name] ne {{{self.clock_port or ""}}}}} {{ lappend inputs $port }}
}}
set_input_delay -max {self.latency_ns!r} -clock clk $inputs
set_input_delay -min {self.earliest_input_ns!r} -clock clk $inputs
set_output_delay {0 - self.latency_ns!r} -clock clk [all_outputs]
set_driving_cell -lib_cell {self.driving_cell} $inputs
set_load {self.output_load_ff!r} [all_outputs]
{self._derate_sdc}"""

    @property
    def _derate_sdc(self) -> str:
        sides = (("-late", 1 + self.derate), ("-early", 1 - self.derate)) if self.derate else ()
        return "".join(f"set_timing_derate {side} -data -cell_delay {share!r}\n" for side, share in sides)
