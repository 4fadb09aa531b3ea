"""Proof of the AXI4-Lite rules on the channels of a machine, for any master that keeps the rules.

The channels are all that lies between the bus and the registers, so nothing is lost or doubled there.
"""

from __future__ import annotations

from ....fl.axi4lite import address_nbits
from ....flow.prove.assertions import Outcome
from ....flow.prove.assertions import decide as decided
from ....rtl.interfaces.axi4lite_channels import ADDRESSES, BUS, Axi4LiteChannels
from ....rtl.interfaces.axi4lite_properties import PROPERTIES
from ....rtl.sim.translation.translate import translate
from ...designs.runnable import Runnable
from .check import AXI, Check, Report

FREE = {"write_refused": 1, "read_data": 32, "read_refused": 1}  # what registers answer: anything
TOP = """\
module proof(input logic aclk, input logic aresetn, {inputs});
  {signals}
  Axi4LiteChannels channels(.clk(aclk), .reset(!aresetn), {wired});
  axi4lite_properties #(.ADDRESS_NBITS({address_nbits})) rules(.aclk(aclk), .aresetn(aresetn), {bus});
  logic started = 1'b0;
  always_ff @(posedge aclk) started <= 1'b1;
  always_comb assume (started || !aresetn);
endmodule
"""


def bus_check(accelerator: Runnable) -> Check:
    """The check of an accelerator behind AXI4-Lite."""
    nbits = address_nbits(accelerator.shape)

    def source() -> tuple[str, str]:
        return translate(Axi4LiteChannels(nbits)), "Axi4LiteChannels"

    def run(seconds: float, _: Report, changed: str = "") -> Outcome:
        return decide(changed or source()[0], nbits, seconds)

    says = (
        "behind AXI4-Lite an answer for each access, held until taken, in a bounded time, whatever a "
        "master does that keeps the rules"
    )
    return Check(AXI, AXI, says, run, source, identity=f"Axi4LiteChannels {nbits}")


def decide(channels: str, nbits: int, seconds: float) -> Outcome:
    """Decide a text of the channels, with addresses of so many bits, from reset and with free inputs."""
    widths = {name: nbits if name in ADDRESSES else usual for name, (usual, _) in BUS.items()}
    from_master = {name for name, (_, from_master) in BUS.items() if from_master}
    inputs = {name: width for name, width in widths.items() if name in from_master} | FREE
    top = TOP.format(
        inputs=", ".join(f"input logic [{width - 1}:0] {name}" for name, width in inputs.items()),
        signals=" ".join(
            f"logic [{width - 1}:0] {name};" for name, width in widths.items() if name not in from_master
        ),
        wired=", ".join(
            [*(f".s_axi_{name}({name})" for name in BUS), *(f".{name}({name})" for name in FREE)]
        ),
        bus=", ".join([*(f".{name}({name})" for name in BUS), ".awprot(3'd0), .arprot(3'd0)"]),
        address_nbits=nbits,
    )
    return decided("\n".join([channels, PROPERTIES.read_text(), top]), seconds, how="at all delays")
