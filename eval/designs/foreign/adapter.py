"""Adapter: a module between our streams and the ports of a core; it carries out the program of a manifest.

istream {base, exp, mod, numbers that software has made} -> ostream {status, result}. With `observed`, as it is simulated, the answer
has two fields more, which no netlist has: `stuck`, the number of the state (from 1) that was not left in time, and `work`, the cycles
of the core's own work. A core that was stuck once is not asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....fl.status import STATUS_NBITS
from ....rtl.sim.ports import Message, Ports
from .manifest import Manifest
from .ports import Port
from .program import COUNT_NBITS, Program, State

CORE = "core"  # the name of the instance
STUCK_NBITS, WORK_NBITS = 16, 40
RESET_CYCLES_GIVEN = 2  # by the drivers of simulations


@dataclass(frozen=True)
class Adapter:
    """A core at one width with what stands around it."""

    manifest: Manifest
    program: Program
    ports: Mapping[str, Port]
    parameters: Mapping[str, int | str]
    name: str
    timeout: int

    @property
    def request(self) -> Message:
        """The message of an operation: the operands, and the numbers that the steps use."""
        return Message(
            sum(wide for _, wide in self._fields), tuple((f"{name}", wide) for name, wide in self._fields)
        )

    @property
    def _fields(self) -> list[tuple[str, int]]:
        return [
            (each.name, each.nbits)
            for each in self.program.fields.values()
            if each.expression is None or each.name in self.program.used
        ]

    def response(self, *, observed: bool) -> Message:
        """The message of an answer."""
        seen = (("stuck", STUCK_NBITS), ("work", WORK_NBITS)) if observed else ()
        fields = (("status", STATUS_NBITS), *seen, ("result", self.program.result_nbits))
        return Message(sum(wide for _, wide in fields), fields)

    def streams(self, *, observed: bool) -> Ports:
        """Both, as the drivers want them."""
        return Ports(self.request, self.response(observed=observed), ())

    # ---- as Verilog

    def verilog(self, *, observed: bool) -> str:
        """The module."""
        program, states = self.program, self.program.states
        last = len(states) + 1  # state 0 waits for a request, the last one answers
        width = last.bit_length()
        fields = [(name, wide) for name, wide in self._fields if name in program.used]
        lines = [
            f"module {self.name} (",
            "  input  wire clk,",
            "  input  wire reset,",
            "  input  wire istream__val,",
            "  output wire istream__rdy,",
            f"  input  wire [{self.request.nbits - 1}:0] istream__msg,",
            "  output wire ostream__val,",
            "  input  wire ostream__rdy,",
            f"  output wire [{self.response(observed=observed).nbits - 1}:0] ostream__msg",
            ");",
            f"  reg [{width - 1}:0] state;",
            f"  reg [{COUNT_NBITS - 1}:0] index;",
            f"  reg [{program.result_nbits - 1}:0] answer;",
            *(f"  reg [{wide - 1}:0] f_{name};" for name, wide in fields),
        ]
        lines += self._wires()
        lines += self._words()
        lines += self._timers(observed)
        lines += self._drives(width)
        lines += self._conditions(width)
        lines += self._registers(width, last, fields, observed)
        lines += self._instance()
        return "\n".join([*lines, "endmodule", ""])

    def _wires(self) -> list[str]:
        """The core's ports."""
        given = self._given
        lines = []
        for name, port in self.ports.items():
            if name in given:
                continue
            kind = "reg " if name in self._changing else "wire"
            lines.append(f"  {kind} [{port.nbits - 1}:0] c_{name};")
        return lines

    @property
    def _given(self) -> set[str]:
        """Clock and reset."""
        of = self.manifest.of
        return {of.clock.port, *([of.reset.port] if of.reset else [])}

    @property
    def _changing(self) -> dict[str, None]:
        """Inputs that some state drives."""
        names: dict[str, None] = {}
        for state in self.program.states:
            names |= dict.fromkeys(state.drives)
            names |= dict.fromkeys(valid.removeprefix("!") for valid, _ in state.sends)
        return names

    def _words(self) -> list[str]:
        """The word of each loop over a number."""
        w = self.program.word_nbits
        lines = []
        for loop in self.program.loops:
            if loop.of in self.program.fields:
                number = loop.number
                lines += [
                    f"  wire [{loop.padded - 1}:0] words_{number} = f_{loop.of};",
                    f"  wire [{w - 1}:0] word_{number} = words_{number}[{loop.word} * {w} +: {w}];",
                ]
        return lines

    @property
    def _longest(self) -> int:
        """Cycles that a state lasts at least, the most of all."""
        return max(state.cycles for state in self.program.states)

    @property
    def _most_sends(self) -> int:
        return max(len(state.sends) for state in self.program.states)

    @property
    def _own_reset(self) -> bool:
        """The reset of the core is not that of the streams."""
        reset = self.manifest.of.reset
        own = any(state.reset for state in self.program.states)
        return reset is not None and (own or reset.cycles > RESET_CYCLES_GIVEN)

    def _timers(self, observed: bool) -> list[str]:
        lines = []
        if self._longest > 1:
            lines.append(f"  reg [{(self._longest - 1).bit_length() - 1}:0] waited;")
        if self._most_sends:
            lines.append(f"  reg [{self._most_sends - 1}:0] sent;")
        if self._own_reset:
            reset = self.manifest.of.reset
            assert reset is not None
            lines += ["  reg core_reset;", f"  reg [{reset.cycles.bit_length() - 1}:0] held_reset;"]
        if observed:
            lines += [
                f"  reg [{WORK_NBITS - 1}:0] elapsed;",
                f"  reg [{WORK_NBITS - 1}:0] work;",
                "  reg working;",
                f"  reg [{STUCK_NBITS - 1}:0] stuck;",
            ]
        return lines

    def _drives(self, width: int) -> list[str]:
        """What the inputs have in each state."""
        held, changing = self.program.held, self._changing
        lines = [f"  assign c_{name} = {text};" for name, text in held.items() if name not in changing]
        if not changing:
            return lines
        lines.append("  always @* begin")
        for name in changing:
            sent = any(valid == f"!{name}" for state in self.program.states for valid, _ in state.sends)
            lines.append(f"    c_{name} = {held.get(name, str(int(sent)))};")
        lines.append("    case (state)")
        for number, state in enumerate(self.program.states, 1):
            assignments = [f"c_{name} = {text};" for name, text in state.drives.items()]
            for place, (valid, _) in enumerate(state.sends):
                negated = valid.startswith("!")
                assignments.append(f"c_{valid.removeprefix('!')} = {'' if negated else '!'}sent[{place}];")
            if assignments:
                lines.append(f"      {width}'d{number}: begin {' '.join(assignments)} end")
        return [*lines, "      default: ;", "    endcase", "  end"]

    def _conditions(self, width: int) -> list[str]:
        """When each state ends."""
        lines = ["  reg go;", "  always @* begin", "    go = 1'b1;", "    case (state)"]
        for number, state in enumerate(self.program.states, 1):
            terms = [*state.until]
            terms += [f"(sent[{place}] || {ready})" for place, (_, ready) in enumerate(state.sends)]
            terms += [f"(waited == {state.cycles - 1})"] if state.cycles > 1 else []
            if terms:
                lines.append(f"      {width}'d{number}: go = {' && '.join(terms)};")
        return [*lines, "      default: ;", "    endcase", "  end"]

    def _registers(self, width: int, last: int, fields: list[tuple[str, int]], observed: bool) -> list[str]:
        above = self.request.nbits
        places = {}
        for name, wide in self._fields:
            places[name] = f"istream__msg[{above - 1}:{above - wide}]"
            above -= wide
        free = "state == 0"
        if self._own_reset:
            free += " && held_reset == 0 && !core_reset"
        message = f"{{{STATUS_NBITS}'d0, {'stuck, work, ' if observed else ''}answer}}"
        lines = [
            f"  assign istream__rdy = {free};",
            f"  assign ostream__val = state == {width}'d{last};",
            f"  assign ostream__msg = {message};",
            "  always @(posedge clk) begin",
            "    if (reset) begin",
            "      state <= 0; index <= 0; answer <= 0;",
            *(["      waited <= 0;"] if self._longest > 1 else []),
            *(["      sent <= 0;"] if self._most_sends else []),
            *(["      elapsed <= 0; work <= 0; working <= 0; stuck <= 0;"] if observed else []),
            *(f"      f_{name} <= 0;" for name, _ in fields),
            "    end else begin",
        ]
        if self._longest > 1:
            lines.append("      waited <= 0;")
        lines += [
            f"      if (state == 0) begin if (istream__val && {free}) begin",
            *(f"        f_{name} <= {places[name]};" for name, _ in fields),
            "        answer <= 0; index <= 0;",
            *(["        elapsed <= 0; work <= 0; working <= 0;"] if observed else []),
            f"        state <= {f'stuck != 0 ? {width}{chr(39)}d{last} : ' if observed else ''}{width}'d1;",
            f"      end end else if (state == {width}'d{last}) begin if (ostream__rdy) state <= 0; end",
            "      else if (go) begin",
            *(["        sent <= 0;"] if self._most_sends else []),
            "        case (state)",
        ]
        for number, state in enumerate(self.program.states, 1):
            lines += [f"          {width}'d{number}: begin", *self._leave(state, number, width, observed)]
            lines.append("          end")
        lines += ["          default: state <= 0;", "        endcase", "      end else begin"]
        if self._longest > 1:
            lines.append("        waited <= waited + 1;")
        if self._most_sends:
            lines += self._sending(width)
        lines.append("      end")
        if observed:
            lines += [
                f"      if (state != 0 && state != {width}'d{last}) begin",
                "        elapsed <= elapsed + 1;",
                "        if (working) work <= work + 1;",
                f"        if (elapsed >= {WORK_NBITS}'d{self.timeout}) begin stuck <= state; state <= {width}'d{last}; end",
                "      end",
            ]
        lines += ["    end", "  end"]
        return lines + self._reset(width)

    def _leave(self, state: State, number: int, width: int, observed: bool) -> list[str]:
        """What happens at the end of a state."""
        w = self.program.word_nbits
        following = f"state <= {width}'d{number + 1};"
        lines = []
        if state.take and state.into:
            lines.append(f"answer[{state.into} * {w} +: {w}] <= {state.take};")
        elif state.take:
            lines.append(f"answer <= {state.take};")
        if observed and state.starts:
            following += " working <= 1;"
        if observed and state.ends:
            following += " working <= 0;"
        if state.loop is not None:
            again = f"begin index <= index + 1; state <= {width}'d{state.loop.first + 1}; end"
            lines.append(
                f"if (index + 1 < {state.loop.count}) {again} else begin index <= 0; {following} end"
            )
        elif state.back is not None:
            lines.append(f"if ({state.match}) begin {following} end else state <= {width}'d{state.back + 1};")
        else:
            lines.append(following)
        return [f"            {line}" for line in lines]

    def _sending(self, width: int) -> list[str]:
        """Handshakes that are through, in states that go on."""
        lines = ["        case (state)"]
        for number, state in enumerate(self.program.states, 1):
            if state.sends:
                taken = [f"if ({ready}) sent[{place}] <= 1;" for place, (_, ready) in enumerate(state.sends)]
                lines.append(f"          {width}'d{number}: begin {' '.join(taken)} end")
        return [*lines, "          default: ;", "        endcase"]

    def _reset(self, width: int) -> list[str]:
        """The core's own reset: as long as it wants it, and in the steps that say so."""
        if not self._own_reset:
            return []
        reset = self.manifest.of.reset
        assert reset is not None
        stated = [
            f"state == {width}'d{number}"
            for number, state in enumerate(self.program.states, 1)
            if state.reset
        ]
        return [
            "  always @(posedge clk) begin",
            f"    if (reset) begin core_reset <= 1; held_reset <= {reset.cycles}; end",
            "    else begin",
            f"      core_reset <= held_reset > 1{''.join(f' || {each}' for each in stated)};",
            "      if (held_reset != 0) held_reset <= held_reset - 1;",
            "    end",
            "  end",
        ]

    @property
    def alone_name(self) -> str:
        """The name of a module that is the core with its parameters and nothing else."""
        return f"{self.name}_alone"

    def alone(self) -> str:
        """That module, for counts of the core."""
        kinds = {"INPUT": "input", "OUTPUT": "output"}
        ports = (
            f"  {kinds[port.direction]} wire [{port.nbits - 1}:0] {name}" for name, port in self.ports.items()
        )
        connections = {name: name for name in self.ports}
        return "\n".join(
            [
                f"module {self.alone_name} (",
                ",\n".join(ports),
                ");",
                *self._core(connections),
                "endmodule",
                "",
                "",
            ]
        )

    def _instance(self) -> list[str]:
        """The core, driven."""
        of = self.manifest.of
        connections = {of.clock.port: "clk" if of.clock.edge == "rising" else "!clk"}
        if of.reset is not None:
            signal = "core_reset" if self._own_reset else "reset"
            connections[of.reset.port] = signal if of.reset.active == "high" else f"!{signal}"
        for name in self.ports:
            connections.setdefault(name, f"c_{name}")
        return self._core(connections)

    def _core(self, connections: Mapping[str, str]) -> list[str]:
        """The instance."""
        of = self.manifest.of
        parameters = ", ".join(f".{name}({_literal(value)})" for name, value in self.parameters.items())
        return [
            f"  {of.top} {f'#({parameters}) ' if parameters else ''}{CORE} (",
            ",\n".join(f"    .{port}({signal})" for port, signal in connections.items()),
            "  );",
        ]


def _literal(value: int | str) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'
