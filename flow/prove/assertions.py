"""Decides the assertions of a SystemVerilog text with yosys and abc: proved, disproved with a counterexample,
or undecided within a limit of CPU time.

read_slang elaborates the text, as synthesis does. The circuit starts in any state that agrees with the
`initial` values, and `assume` constrains its inputs. abc's method depends on the circuit:

    no registers     SAT on all inputs
    given cycles     SAT on that many unrolled cycles, from any state of the registers that have no
                     initial value; if nothing is assumed of the state, this is a proof for all times.
                     Structurally equal nets are merged first.
    otherwise        registers that are equal by induction are merged (scorr); then PDR searches for an
                     inductive invariant, which abc checks again

An assumption holds in all cycles up to the one that is checked.
"""

import math
import re
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ...fl.errors import BadInput
from ...rtl.sim import toolchain
from ..files import scratch
from ..netlist import yosys
from .report import PROVED, REFUTED, UNDECIDED, Result

TOP = "proof"
# nets are cut before any optimisation: after one, `!net` may no longer read the net
FLAT = """\
read_slang --ignore-timing --no-implicit-memories -D FORMAL --top {top} {top}.sv
hierarchy -check -top {top}
proc
flatten
"""
PREPARED = """\
prep -top {top} -flatten
memory_map
"""
# loops without a register, and nets with two drivers
SOUND = """\
read_slang --ignore-timing --no-implicit-memories --top {top} {top}.sv
prep -top {top} -flatten
check -assert
"""
# the outputs of TOP.aig are the assertions, followed by the assumptions
CIRCUIT = """\
async2sync
chformal -lower
select -assert-min 1 t:$assert
formalff -clk2ff -ff2anyinit
setundef -anyseq
opt -keepdc -fast
opt_clean
dffunmap
simplemap
techmap
setundef -anyseq
aigmap
opt_clean
write_aiger -I -B -zinit -no-startoffset -map {top}.aim {top}.aig
stat
"""
# for users, whose yosys has no read_slang
PLAIN = """\
read_verilog -sv -formal -DFORMAL {files}
prep -top {top} -flatten
memory_map
"""
CIRCUIT_FILE, MAP_FILE, CEX_FILE = f"{TOP}.aig", f"{TOP}.aim", f"{TOP}.cex"
FIRST = f"read_aiger {CIRCUIT_FILE}; fold; strash"
SEEN = f"write_cex -n {CEX_FILE}"
MERGED = "scorr; dc2; scorr"
# if merging leaves no register, SAT decides the rest
NOTHING_LEFT, ALONE, MERGING = "combinational", f"{MERGED}; orpos; iprove", "induction (scorr)"
SHARE = 5  # the first attempt gets 1/SHARE of the time
SHORT = 40  # cycles of the search for a short counterexample
BIT = re.compile(r"^pi(\d+)@(\d+)=([01])$", re.MULTILINE)
INPUT = re.compile(r"^input (\d+) (\d+) ([A-Za-z]\w*)$", re.MULTILINE)
# an invariant counts only after abc has checked it
HELD = re.compile(r"Verification of invariant .* was successful.*Property proved|UNSATISFIABLE", re.DOTALL)
BROKEN = re.compile(r"asserted in frame|(?<!UN)SATISFIABLE")
LATCHES = re.compile(r"^aig \d+ \d+ (\d+)")
SHOWN = 300  # characters of a tool's message

Cycle = dict[str, int]  # values of the text's inputs, by name


class Attempt(NamedTuple):
    """A script of abc, its description, and its share of the remaining time.

    cycles: all is proved if no assertion fails in this many cycles. only_proves: a failure is left to the
    next attempt, which reports its inputs.
    """

    command: str
    how: str
    share: float
    cycles: int = 0
    only_proves: bool = False


@dataclass(frozen=True)
class Decision:
    """Verdict, method, counterexample (inputs by cycle), and CPU time; 0: not measured."""

    verdict: Result
    how: str
    counterexample: list[Cycle] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def proved(self) -> bool:
        return self.verdict == PROVED

    @property
    def refuted(self) -> bool:
        return self.verdict == REFUTED

    def as_json(self) -> dict[str, Any]:
        """The verdict as `modexlab prove --json` prints it."""
        told = {"verdict": self.verdict, "seconds": round(self.seconds, 2), "how": self.how}
        return told | ({"counterexample": self.counterexample} if self.counterexample else {})


def script(files: Sequence[str], top: str) -> str:
    """The yosys script that turns SystemVerilog files into TOP.aig, whose outputs are the assertions, then
    the assumptions.
    """
    return (PLAIN + CIRCUIT).format(files=" ".join(files), top=top)


def spent() -> float:
    """CPU seconds used so far by this process and by its child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def countdown(seconds: float) -> Callable[[], float]:
    """Return a function that returns how many of these CPU seconds are left."""
    end = spent() + seconds
    return lambda: end - spent()


def decide(
    text: str,
    seconds: float,
    cycles: int | None = None,
    *,
    how: str = "",
    initial: Mapping[str, int] = MappingProxyType({}),
    free: Sequence[str] = (),
    large: bool = False,
) -> Decision:
    """Decide all assertions of `text`, whose top module is `proof`; with `cycles`, in that many cycles from
    any state. The limit is at least one CPU second.

    how: added to the method. initial: initial values of registers, by their names below the top module. free:
    names of nets that may have any value in any cycle, or patterns of such names, which may match none; a
    counterexample may use values that never occur.
    large: do not unroll this circuit into a single SAT problem.
    """
    # escape brackets: they belong to the name and not to a pattern
    exactly = ((name.replace("[", "[[]"), value) for name, value in initial.items())
    there = "".join(f"select -assert-any w:{name}\n" for name in free if "*" not in name)
    cut = there + "".join(f"cutpoint w:{name}\n" for name in free)
    begin = "".join(f"setattr -set init {value} w:{name}\n" for name, value in exactly)
    with scratch() as work:
        found = _decide(text, FLAT + cut + PREPARED + begin + CIRCUIT, work, max(1.0, seconds), cycles, large)
    return replace(found, how=f"{found.how}; {how}") if how else found


def _decide(text: str, script: str, work: Path, seconds: float, cycles: int | None, large: bool) -> Decision:
    left = countdown(seconds)
    (work / f"{TOP}.sv").write_text(text)
    try:
        yosys.run(TOP, script.format(top=TOP), work, limit=seconds)
    except BadInput as error:
        if "selection contains" in str(error):
            raise BadInput(f"{TOP}: there is nothing to prove; give files with assertions") from None
        if "of CPU time" not in str(error):
            raise
        return Decision(UNDECIDED, f"yosys made no circuit in {seconds:.0f} s")
    for attempt in _attempts(work, cycles, large):
        remaining = left()
        if remaining <= 0:
            break
        log = _abc(attempt.command, work, remaining * attempt.share)
        if BROKEN.search(log) and not attempt.only_proves:
            return Decision(REFUTED, attempt.how, _inputs(work, remaining))
        if HELD.search(log) or (attempt.cycles and f"No output asserted in {attempt.cycles} frames" in log):
            return Decision(PROVED, attempt.how)
        if MERGED in attempt.command and NOTHING_LEFT in log and HELD.search(_abc(ALONE, work, remaining)):
            return Decision(PROVED, MERGING)
    return Decision(UNDECIDED, f"not found in {seconds:.0f} s of CPU time")


def refused(text: str, top: str) -> str:
    """The reason why a text cannot be elaborated into a sound circuit; empty if it can."""
    with scratch() as work:
        (work / f"{top}.sv").write_text(text)
        try:
            yosys.run(top, SOUND.format(top=top), work)
        except BadInput as error:
            return str(error)
    return ""


def _attempts(work: Path, cycles: int | None, large: bool) -> Sequence[Attempt]:
    with (work / CIRCUIT_FILE).open("rb") as file:
        header = LATCHES.match(file.readline().decode(errors="replace"))
    if header is not None and header[1] == "0":
        # &satoko is faster, iprove reports the inputs
        return [
            Attempt("orpos; &get; &satoko", "SAT, all inputs", 0.9),
            Attempt(f"orpos; iprove; {SEEN}", "SAT, all inputs", 1),
        ]
    if cycles is not None:
        how = f"SAT, {cycles} cycles from any state"
        unrolled = Attempt(f"frames -i -F {cycles}; orpos; strash; iprove", how, 1 / SHARE, only_proves=True)
        by_cycle = Attempt(f"{'dc2; ' if large else ''}bmc3 -F {cycles}; {SEEN}", how, 1, cycles)
        return [by_cycle] if large else [unrolled, by_cycle]
    return [
        Attempt(f"{MERGED}; bmc3 -F {SHORT}; {SEEN}", "SAT, the first cycles", 1 / SHARE),
        Attempt(f"{MERGED}; pdr; {SEEN}", "an inductive invariant (scorr, PDR)", 1),
    ]


def run_abc(commands: str, work: Path, seconds: float, patience: float | None = None) -> tuple[str, bool]:
    """The output of abc, and whether it ended by itself rather than at its limit: `seconds` of CPU time, or
    `patience` in elapsed seconds.
    """
    limited = ["/bin/sh", "-c", 'ulimit -t "$0"; exec "$@"', str(max(1, math.ceil(seconds)))]
    script = [*limited, str(yosys.abc()), "-q", commands]
    try:
        least = yosys.ELAPSED * seconds
        done = toolchain.run(script, name="abc", least=least, seconds=patience or 0.0, cwd=work)
    except toolchain.ToolTimeout:
        return "", False
    text = done.stdout + done.stderr
    if done.returncode and done.returncode not in yosys.OUT_OF_TIME:
        raise BadInput(f"abc ended with code {done.returncode}: {text[-SHOWN:]}")
    return text, not done.returncode


def _abc(commands: str, work: Path, seconds: float) -> str:
    """The output of abc commands on the circuit of the assertions; it ends early if abc runs out of time."""
    (work / CEX_FILE).unlink(missing_ok=True)
    return run_abc(f"{FIRST}; {commands}", work, seconds)[0]


def _inputs(work: Path, seconds: float) -> list[Cycle]:
    """The inputs of a counterexample; if the engine wrote none, iprove, which does, runs again."""
    if not (work / CEX_FILE).is_file():
        _abc(f"orpos; iprove; {SEEN}", work, seconds)
    if not (work / CEX_FILE).is_file():
        return []
    places = {
        number: (name, int(place)) for number, place, name in INPUT.findall((work / MAP_FILE).read_text())
    }
    found: list[Cycle] = []
    for number, at, value in BIT.findall((work / CEX_FILE).read_text()):
        name, place = places.get(number, ("", 0))
        if name not in ("", "clk", "aclk"):
            found += [{} for _ in range(len(found), int(at) + 1)]
            cycle = found[int(at)]
            cycle[name] = cycle.get(name, 0) | int(value) << place
    return found
