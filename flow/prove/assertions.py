"""Decides the assertions of a SystemVerilog text: proved, disproved with an input, or undecided in the given
seconds.

read_slang elaborates the text, as synthesis does; the circuit begins in any state in which its
`initial` values hold, its inputs are what `assume` allows. abc decides:

    no registers        SAT on all inputs at once
    so many cycles      SAT on the cycles unrolled, from any state of the registers that have no initial
                        value: with nothing assumed of
                        the state, this is a proof for all times; what is equal by its structure alone is
                        found before
    else                registers that are equal by induction are merged (scorr); then an inductive invariant
                        is looked for (PDR),
                        which abc checks once more

`assume` holds in all cycles up to the one that is judged. Seconds are those of a processor.
"""

import math
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ...fl.errors import BadInput
from ..netlist import yosys
from .report import PROVED, REFUTED, UNDECIDED, Result

TOP = "proof"
READ = """\
read_slang --ignore-timing --no-implicit-memories -D FORMAL --top {top} {top}.sv
prep -top {top} -flatten
memory_map
"""
# loops without a register, and nets with two drivers
SOUND = """\
read_slang --ignore-timing --no-implicit-memories --top {top} {top}.sv
prep -top {top} -flatten
check -assert
"""
# an output of TOP.aig is an assertion, or one of the assumptions behind them
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
"""
CIRCUIT_FILE, MAP_FILE, CEX_FILE = f"{TOP}.aig", f"{TOP}.aim", f"{TOP}.cex"
FIRST = f"read_aiger {CIRCUIT_FILE}; fold; strash"
SEEN = f"write_cex -n {CEX_FILE}"
MERGED = "scorr; dc2; scorr"
# where no register is left, all that is left is SAT
NOTHING_LEFT, ALONE, MERGING = "combinational", f"{MERGED}; orpos; iprove", "induction (scorr)"
SHARE = 5  # of the seconds, one part of so many looks for a short counterexample first
SHORT = 40  # cycles of that
BIT = re.compile(r"^pi(\d+)@(\d+)=([01])$", re.MULTILINE)
INPUT = re.compile(r"^input (\d+) (\d+) ([A-Za-z]\w*)$", re.MULTILINE)
# an invariant counts once abc has checked it too
HELD = re.compile(r"Verification of invariant .* was successful.*Property proved|UNSATISFIABLE", re.DOTALL)
BROKEN = re.compile(r"asserted in frame|(?<!UN)SATISFIABLE")
LATCHES = re.compile(r"^aig \d+ \d+ (\d+)")
SHOWN = 300  # characters of a tool's message

Cycle = dict[str, int]  # the inputs of the text, by their names


class Attempt(NamedTuple):
    """A script of abc, its description, and its share of the time.

    cycles: where nothing breaks in so many, all is proved; only_proves: what breaks is left to the next,
    which tells the inputs.
    """

    command: str
    how: str
    share: float
    cycles: int = 0
    only_proves: bool = False


@dataclass(frozen=True)
class Outcome:
    """Verdict, its method, the inputs that break it, cycle by cycle, and its CPU time; 0: not measured."""

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
        """The verdict in the output of `modexlab prove --json`."""
        told = {"verdict": self.verdict, "seconds": round(self.seconds, 2), "how": self.how}
        return told | ({"counterexample": self.counterexample} if self.counterexample else {})


def script(files: Sequence[str], top: str) -> str:
    """For yosys: files of SystemVerilog to TOP.aig, in which outputs are assertions and then assumptions."""
    return (PLAIN + CIRCUIT).format(files=" ".join(files), top=top)


def spent() -> float:
    """CPU seconds so far, of this process and of those that it started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def countdown(seconds: float) -> Callable[[], float]:
    """Return a function that says how many of these CPU seconds are left."""
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
) -> Outcome:
    """Decide all assertions of `text`, whose top module is `proof`; with `cycles`, in so many cycles from any
    state. At least a second is spent.

    how: added to the method. initial: what registers begin with, by their names below the top module. free:
    nets that have any value in any cycle, by patterns; a counterexample may use values that never occur.
    large: so many cycles of this circuit are not to be looked at as one.
    """
    # a bracket is one of the name, not of a pattern
    exactly = ((name.replace("[", "[[]"), value) for name, value in initial.items())
    begin = "".join(f"setattr -set init {value} w:{name}\n" for name, value in exactly)
    begin += "".join(f"cutpoint w:{name}\n" for name in free)
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        found = _decide(text, READ + begin + CIRCUIT, Path(directory), max(1.0, seconds), cycles, large)
    return replace(found, how=f"{found.how}; {how}") if how else found


def _decide(text: str, script: str, work: Path, seconds: float, cycles: int | None, large: bool) -> Outcome:
    left = countdown(seconds)
    (work / f"{TOP}.sv").write_text(text)
    try:
        yosys.run(TOP, script.format(top=TOP), work, limit=seconds)
    except BadInput as error:
        if "selection contains" in str(error):
            raise BadInput(f"{TOP}: there is nothing to prove; give files with assertions") from None
        if "of a processor" not in str(error):
            raise
        return Outcome(UNDECIDED, f"yosys made no circuit in {seconds:.0f} s")
    for attempt in _attempts(work, cycles, large):
        remaining = left()
        if remaining <= 0:
            break
        log = _abc(attempt.command, work, remaining * attempt.share)
        if BROKEN.search(log) and not attempt.only_proves:
            return Outcome(REFUTED, attempt.how, _inputs(work, remaining))
        if HELD.search(log) or (attempt.cycles and f"No output asserted in {attempt.cycles} frames" in log):
            return Outcome(PROVED, attempt.how)
        if MERGED in attempt.command and NOTHING_LEFT in log and HELD.search(_abc(ALONE, work, remaining)):
            return Outcome(PROVED, MERGING)
    return Outcome(UNDECIDED, f"not found in {seconds:.0f} s of a processor")


def refused(text: str, top: str) -> str:
    """Why a text makes no circuit; empty if it does."""
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        (Path(directory) / f"{top}.sv").write_text(text)
        try:
            yosys.run(top, SOUND.format(top=top), Path(directory))
        except BadInput as error:
            return str(error)
    return ""


def _attempts(work: Path, cycles: int | None, large: bool) -> Sequence[Attempt]:
    with (work / CIRCUIT_FILE).open("rb") as file:
        header = LATCHES.match(file.readline().decode(errors="replace"))
    if header is not None and header[1] == "0":
        # &satoko is quicker, iprove tells the inputs
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
    """Return the output of abc, and whether it ended; it runs out of CPU time, or of patience."""
    limited = ["/bin/sh", "-c", 'ulimit -t "$0"; exec "$@"', str(max(1, math.ceil(seconds)))]
    script = [*limited, str(yosys.abc()), "-q", commands]
    try:
        done = subprocess.run(
            script, cwd=work, capture_output=True, text=True, errors="replace", timeout=patience
        )
    except subprocess.TimeoutExpired:
        return "", False
    text = done.stdout + done.stderr
    if done.returncode and done.returncode not in yosys.OUT_OF_TIME:
        raise BadInput(f"abc ended with code {done.returncode}: {text[-SHOWN:]}")
    return text, not done.returncode


def _abc(commands: str, work: Path, seconds: float) -> str:
    """The output of commands on the circuit of the assertions, cut short if abc runs out of time."""
    (work / CEX_FILE).unlink(missing_ok=True)
    return run_abc(f"{FIRST}; {commands}", work, seconds)[0]


def _inputs(work: Path, seconds: float) -> list[Cycle]:
    """The inputs of a counterexample; the engine that tells none is followed by one that does."""
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
