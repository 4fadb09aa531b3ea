"""Power by OpenSTA under the same activity, compared with flow/power.

OpenSTA's figures cannot be compared directly. Debian's version dates from November 2019, and its trace
(`set_debug power 3`), which lists every table look-up, reveals its errors: each transition is charged with
the energies of both a rise and a fall; the weights of the tables of one pin, one for each input and
condition, do not add up to one; unconnected outputs are charged; activities given for pins between the input
ports and the first registers are propagated again; and clocks behind clock gates never rest. Each error is
corrected with the numbers of the trace and reported as a cause with its effect. The energy of a transition
comes from the trace, its frequency from the activity. Slews, loads, tables and probabilities remain OpenSTA's
own.

Two differences remain by intention: at the inputs of registers and clock gates, and at their clock pins,
whose tables depend on the state of the register. OpenSTA assumes that D and Q are independent; our model does
not (power/cell_energy.py). This explanation is tested: our model under OpenSTA's assumption (`Unaware`) must
give OpenSTA's figure. If it does not, the difference has no known cause.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...rtl.sim import toolchain
from ...rtl.sim.toolchain import ToolError
from ..gates.activity_file import Activity
from ..power.cell_energy import Context, KindEnergy, Members
from ..power.estimator import FJ_PER_NS_TO_MW, NW_TO_MW, Estimator
from ..timing import opensta
from ..timing.subject import NO_WIRES, Subject
from ..timing.wire_table import stars
from .report import Compared

CHECK = "power"
MOST = 0.05  # of a power that agrees
NEARLY = 0.1  # of a power that a cause explains
SWITCHING, LEAKAGE = "switching", "leakage"
COMBINATIONAL, REGISTERS, CLOCKS, INPUTS = PARTS = (
    "inside gates",
    "inside registers and clock gates, at their outputs",
    "inside registers and clock gates, at their clock pins",
    "inside registers and clock gates, at their other inputs",
)
# what of OpenSTA's figure is put right
OWN = "activities of its own in place of those it is told"
UNREAD = "outputs that nothing reads"
BOTH_EDGES = "a rise and a fall for each transition"
WEIGHTS = "weights that do not add up to 1"
W_TO_MW = 1e3
SLEWS = (
    "before its tree OpenSTA takes a gated clock to be as slow as one gate with all of its readers makes it"
)
BY_INTENTION = {
    CLOCKS: "OpenSTA takes what a register holds and what it is given to be independent",
    INPUTS: "OpenSTA takes a register's input to change in both halves of the cycle alike",
}
SCRIPT = """\
read_liberty {{{lib}}}
read_liberty {{no_wires.lib}}
set_cmd_units -time ns -capacitance fF -resistance kOhm
read_verilog {{{netlist}}}
link_design {{{top}}}
source {{constraints.sdc}}
set_wire_load_mode top
set_wire_load_model -name {model} -library {library}
{spef}
proc at {{pin activity duty}} {{ ::sta::set_power_pin_activity [get_pins $pin] $activity $duty }}
source {{activity.tcl}}
report_power -digits 9
::sta::set_debug power 3
report_power -instances [get_cells *] -digits 9
puts "@end"
"""
TOTAL = re.compile(r"^Total\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)", re.MULTILINE)
AT_PIN = re.compile(r"power: internal (\S+)/(\w+) \(")
SWITCHED = re.compile(r"power: switching \S+ activity = (\S+) volt = \S+ (\S+)")
TABLE = re.compile(r"power:\s+\w+ -> \w+\s.*\s(\S+)\s+(\S+) no pg_pin")
WEIGHED = re.compile(r"power:\s+[v^] energy =\s*(\S+) \*\s*\S+ =\s*(\S+)")
LEAKING = re.compile(r"power: leakage cell \S+ (\S+)")


class Theirs(NamedTuple):
    """Power from OpenSTA in mW: as printed, and by part with its errors corrected; causes of the
    difference.
    """

    printed: float
    parts: dict[str, float]
    causes: dict[str, float]

    @property
    def has_internal(self) -> bool:
        """Some cell has tables of internal power."""
        return any(self.parts.get(part) for part in PARTS)


class Unaware(KindEnergy):
    """Energy under OpenSTA's assumptions: the state of a register is independent of its input and its clock
    never rests; a clock gate is closed.
    """

    def _contexts(self, members: Members) -> Context:
        if not self.cell.sequential:
            return super()._contexts(members)
        none = np.zeros(members.size)
        data = members.ones.get(self.data, none)
        state = none if self.cell.clock_gate else self._register(members)[0]
        states = self._states(members, {self.clock: 0.5}, data, state)
        return lambda pin, edge: states


@dataclass(frozen=True)
class Powered:
    """A netlist and what its nets do."""

    subject: Subject
    activity: Activity
    unaware: bool = False  # of what registers hold

    def ours(self) -> dict[str, float]:
        """In mW by part, without the nets that ports drive."""
        found: dict[str, float] = defaultdict(float)
        to_mw = FJ_PER_NS_TO_MW * self._per_ns
        for cells in self.estimator.paid(*self.moved, self.activity.cycles):
            for term, paid in cells.internal:
                found[self._part(cells.kind, term.pin)] += float(paid.sum()) * to_mw
            found[SWITCHING] += float(cells.switching.sum()) * to_mw
            found[LEAKAGE] += float(cells.leakage.sum()) * NW_TO_MW
        return found

    def theirs(self) -> Theirs:
        """By OpenSTA; BadInput if it is missing."""
        subject = self.subject
        script = SCRIPT.format(
            lib="lib",
            netlist="netlist",
            top=subject.top,
            model=subject.wire_load or NO_WIRES,
            library=subject.library.name if subject.wire_load else NO_WIRES,
            spef="read_spef {wires.spef}" if subject.table else "",
        )
        files = {"lib": subject.kit.lib, "netlist": subject.netlist_v}
        with opensta.prepared(script, subject.asked, **files) as (work, command):
            (work / "activity.tcl").write_text("\n".join(self._told()) + "\n")
            if subject.table:
                (work / "wires.spef").write_text(stars(subject.netlist, subject.table))
            with (work / "trace").open("w") as trace:
                done = toolchain.run(command, name="OpenSTA", cwd=work, stderr=trace)
            total = TOTAL.search(done.stdout)
            if total is None or "@end" not in done.stdout:
                raise ToolError(f"OpenSTA's report_power stopped ({done.returncode}): {done.stdout[-200:]}")
            with (work / "trace").open() as trace:
                return self._traced(trace, 1e3 * float(total[4]))

    @functools.cached_property
    def estimator(self) -> Estimator:
        """Ours, with the same wires."""
        subject, asked = self.subject, self.subject.asked
        made = Estimator(
            subject.netlist,
            subject.library,
            asked.clock_ns,
            clock_port=asked.clock_port,
            wires=subject.table,
            wire_load=subject.wire_load,
            propagated=asked.propagated,
        )
        if self.unaware:
            made.models = {kind: Unaware(model.cell) for kind, model in made.models.items()}
        return made

    @functools.cached_property
    def moved(self) -> tuple[np.ndarray, np.ndarray]:
        """Toggles and time at 1 of every net."""
        return self.estimator.activity(self.activity)

    def _told(self) -> Iterator[str]:
        """Transitions of a clock period, and the share of the time at 1, of every input port and every
        pin.
        """
        netlist, (toggles, ones) = self.subject.netlist, self.moved
        rates = toggles / self.activity.cycles
        for bit, net in netlist.port_bits("input"):
            if bit != self.subject.asked.clock_port:
                yield (
                    f"::sta::set_power_input_port_activity [get_ports {{{bit}}}] {rates[net]:.8g} "
                    f"{ones[net]:.6g}"
                )
        # otherwise OpenSTA discards the activity of pins when it propagates that of ports
        yield "report_power -instances [lindex [get_cells *] 0]"
        for name, instance in netlist.cells.items():
            for pin, net in instance.pins.items():
                yield f"at {{{name}/{pin}}} {rates[net]:.8g} {ones[net]:.6g}"

    def _part(self, kind: str, pin: str) -> str:
        cell = self.subject.library.cells[kind]
        if not cell.sequential:
            return COMBINATIONAL
        if pin in cell.outputs:
            return REGISTERS
        return CLOCKS if cell.pins[pin].clock else INPUTS

    @property
    def _per_ns(self) -> float:
        """The reciprocal of the window in ns."""
        return 1 / (self.activity.cycles * self.subject.asked.clock_ns)

    def _rate(self, name: str, pin: str) -> float:
        """Transitions in a ns."""
        net = self.subject.netlist.cells[name].pins.get(pin)
        return 0.0 if net is None else float(self.moved[0][net]) * self._per_ns

    def _traced(self, trace: Iterable[str], printed: float) -> Theirs:
        """Return the sums over the trace, corrected."""
        cells = self.subject.netlist.cells
        parts: dict[str, float] = defaultdict(float)
        causes: dict[str, float] = defaultdict(float)
        name, pin, switched = "", "", (0.0, 0.0)
        rows: list[tuple[float, float, float]] = []  # weight, energy in J, power in W
        weighed = (0.0, 0.0)

        def close() -> None:
            """The tables of one pin are complete."""
            if not rows:
                return
            weight, energy, charged = (sum(column) for column in zip(*rows, strict=True))
            if pin not in cells[name].pins:
                causes[UNREAD] += W_TO_MW * charged
                return
            told = W_TO_MW * 1e9 * self._rate(name, pin) * energy
            causes[OWN] += W_TO_MW * charged - told
            right = told / 2 / weight if weight else told / 2
            causes[BOTH_EDGES] += told / 2
            causes[WEIGHTS] += told / 2 - right
            parts[self._part(cells[name].kind, pin)] += right

        for line in trace:
            if match := AT_PIN.search(line):
                close()
                rows.clear()
                name, pin = match[1].replace("\\", ""), match[2]
                activity, charged = switched  # of an output it stands before the pin
                if activity and pin in cells[name].pins:
                    told = charged / activity * 1e9 * self._rate(name, pin)
                    parts[SWITCHING] += W_TO_MW * told
                    causes[OWN] += W_TO_MW * (charged - told)
                switched = (0.0, 0.0)
            elif match := SWITCHED.search(line):
                switched = float(match[1]), float(match[2])
            elif match := WEIGHED.search(line):  # the weight itself has two digits only
                weighed = max(weighed, (float(match[1]), float(match[2])))
            elif match := TABLE.search(line):
                weight = weighed[1] / weighed[0] if weighed[0] else 0.0
                rows.append((weight, float(match[1]), float(match[2])))
                weighed = (0.0, 0.0)
            elif match := LEAKING.search(line):
                parts[LEAKAGE] += W_TO_MW * float(match[1])
        close()
        return Theirs(printed, parts, causes)


def compare(powered: Powered, where: str) -> list[Compared]:
    """By part, the sum of the parts, and what OpenSTA prints; switching and leakage alone for a library whose
    tables of internal power OpenSTA does not read.
    """
    ours, theirs = powered.ours(), powered.theirs()
    whole, right = sum(ours.values()), sum(theirs.parts.values())
    # a clock before its tree: with the slews that gates make, which OpenSTA takes
    asked = replace(powered.subject.asked, propagated=True)
    slower = replace(powered, subject=replace(powered.subject, asked=asked))
    gated, unaware = slower.ours(), replace(slower, unaware=True).ours()

    def near(mine: float, other: float, most: float = MOST) -> bool:
        # what is small may be off by more, as long as the whole is not
        return abs(mine - other) <= most * max(other, MOST * whole)

    def row(what: str, mine: float, other: float, cause: str) -> Compared:
        agrees, cause = near(mine, other), "" if near(mine, other) else cause
        return Compared(CHECK, f"{what}, {where}", mine, other, agrees, opensta.tool(), "mW", cause)

    def cause(part: str) -> str:
        other, made = theirs.parts[part], gated[part] - ours[part]
        intended = BY_INTENTION.get(part, "") if near(unaware[part], other, NEARLY) else ""
        if part not in (REGISTERS, CLOCKS) or abs(made) <= MOST * ours[part]:
            return intended
        slews = f"{SLEWS} {-made:+.3g} mW"
        if near(gated[part], other):
            return slews
        return f"{slews}; {intended}" if intended else ""

    rows = [
        row(part, ours.get(part, 0.0), theirs.parts.get(part, 0.0), cause(part))
        for part in (SWITCHING, LEAKAGE, *(PARTS if theirs.has_internal else ()))
    ]
    if not theirs.has_internal:
        return rows
    # the cause of the whole is that of its parts, if without them it agrees
    apart = {compared.what: compared.difference for compared in rows if compared.cause}
    rest = near(whole - sum(apart.values()), right)
    told, causes = (
        ", ".join(f"{what} {value:+.3g} mW" for what, value in parts.items())
        for parts in (apart, theirs.causes)
    )
    total = row("all of it, put right", whole, right, told if rest else "")
    return [*rows, total, row("all of it as printed", whole, theirs.printed, "" if total.wrong else causes)]
