"""Proofs of SystemVerilog assertions over unbounded time: Yosys builds a circuit, abc finds an inductive
invariant (PDR).

The circuit begins in any state in which its `initial` values hold, its inputs are what `assume` allows. An
answer is sure either way: an invariant is checked by abc once more, a counterexample is a run from the
beginning.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...fl.errors import BadInput
from ..netlist import yosys

READ = """\
read_verilog -sv -formal -DFORMAL {files}
prep -top {top} -flatten
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
aigmap
opt_clean
write_aiger -I -B -zinit -no-startoffset -map {top}.aim {top}.aig
stat
"""
HOLDS = "Property proved."
BREAKS = re.compile(r"Output \d+ .* was asserted in frame (\d+)")


@dataclass(frozen=True)
class Verdict:
    """Whether all assertions hold; if not, in which cycle the first of them can break."""

    holds: bool
    cycle: int | None = None


def script(files: Sequence[str], top: str) -> str:
    """For yosys: files of SystemVerilog to TOP.aig, in which outputs are assertions and then assumptions."""
    return (READ + CIRCUIT).format(files=" ".join(files), top=top)


def prove(files: list[Path], top: str, directory: Path, *, limit: float = 120) -> Verdict:
    """All assertions below `top`, in at most `limit` seconds; BadInput where neither answer is found in that
    time.
    """
    try:
        yosys.run(top, script([str(file.resolve()) for file in files], top), directory)
    except BadInput as error:
        if "selection contains" in str(error):
            raise BadInput(f"{top}: there is nothing to prove; give files with assertions") from None
        raise
    # constraints go into the circuit: an assertion counts as long as all assumptions have held
    command = f"read_aiger {top}.aig; fold; strash; pdr -T {limit:.0f}"
    done = subprocess.run(
        [str(yosys.abc()), "-c", command], cwd=directory, capture_output=True, text=True, errors="replace"
    )
    (directory / f"{top}.abc.log").write_text(done.stdout + done.stderr)
    if HOLDS in done.stdout and "Verification of invariant" in done.stdout:
        return Verdict(True)
    if broken := BREAKS.search(done.stdout):
        return Verdict(False, int(broken[1]))
    why = f" in {limit:.0f} s" if "timeout" in done.stdout else ""
    raise BadInput(f"{top}: neither proved nor broken{why}; see {directory / f'{top}.abc.log'}")
