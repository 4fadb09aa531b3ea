"""Step equivalence: proof that the netlist implements the design."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ... import product
from ...netlist import yosys
from ..common import Styled
from ..step import File, Job, Step, Tool, param


@dataclass(frozen=True)
class Parameters(Styled):
    """The limit of the proof."""

    seconds_a_part: int = param(
        10, "CPU time limit of each of the two proof engines for one part", unit="s", least=1
    )


class Equivalence(Step[Parameters]):
    """Proof that netlist and design compute the same function.

    It goes register by register; wide multipliers stay undecided.
    """

    name = "equivalence"
    params = Parameters
    reads = ("adk", "design.sv", "design.json", "netlist.json")
    writes = (File("equivalence.json", "the verdict, and the parts of the proof"),)
    tool = Tool("abc of Yosys", yosys.version)

    def run(self, job: Job[Parameters]) -> None:
        """Write the outputs."""
        from ...prove.equivalence import check_equivalence
        from ...synth.plain import STYLE

        check_equivalence(
            job["design.sv"],
            job["netlist.json"],
            job.design.top,
            job.out,
            seconds=job.params.seconds_a_part,
            rewritten=job.params.style != STYLE,
            kit_directory=job.adk,
        )

    def fault(self, outputs: Mapping[str, Path]) -> str:
        """The verdict, if the proof found a counterexample."""
        from ...prove.report import Equivalence as Proof

        proof = product.read(outputs["equivalence.json"], Proof)
        return proof.summary if proof.refuted else ""
