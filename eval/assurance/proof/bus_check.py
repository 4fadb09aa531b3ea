"""Proof of the AXI4-Lite rules on the channels of a machine, for any master that follows the rules.

Nothing but the channels is between the bus and the registers, so no transfer is lost or doubled there.
"""

from ....fl.axi4lite import address_nbits
from ....flow.prove.assertions import Decision
from ....flow.prove.assertions import decide as decided
from ....rtl.interfaces.axi4lite_channels import Axi4LiteChannels
from ....rtl.interfaces.axi4lite_properties import PROPERTIES
from ....rtl.sim.base import elaborate
from ....rtl.verilog.print import declared
from ....rtl.verilog.read import ports_of
from ...designs.runnable import Runnable
from .check import AXI, Check, source_of
from .ports import CLOCKING

NAME = Axi4LiteChannels.__name__
TOP = """\
module proof(input logic aclk, input logic aresetn, {inputs});
  {signals}
  {name} channels(.clk(aclk), .reset(!aresetn), {wired});
  axi4lite_properties #(.ADDRESS_NBITS({address_nbits})) rules(
    .aclk(aclk), .aresetn(aresetn), {bus}, .awprot(3'd0), .arprot(3'd0)
  );
  logic started = 1'b0;
  always_ff @(posedge aclk) started <= 1'b1;
  always_comb assume (started || !aresetn);
  always_comb assume (!hold);  // the slave has been overwritten
endmodule
"""


def bus_check(accelerator: Runnable) -> Check:
    """The check of an accelerator behind AXI4-Lite."""
    nbits = address_nbits(accelerator.shape)

    says = (
        "behind AXI4-Lite each access gets one answer, held until accepted, within a bounded time, for any "
        "master that obeys the rules, when the slave has been overwritten after reset"
    )
    return Check(
        AXI,
        AXI,
        says,
        lambda seconds, text, _: decide(text, nbits, seconds),
        source_of(lambda: Axi4LiteChannels(nbits)),
        identity=f"{NAME} {nbits}",
    )


def decide(channels: str, nbits: int, seconds: float) -> Decision:
    """Decide a text of the channels, from reset and with free inputs; `nbits` is the width of addresses."""
    component = Axi4LiteChannels(nbits)
    elaborate(component)
    ports = [port for port in ports_of(component) if port.name not in CLOCKING]
    names = [port.name for port in ports]
    top = TOP.format(
        inputs=", ".join(f"input {declared(port.type, port.name)}" for port in ports if port.is_input),
        signals=" ".join(f"{declared(port.type, port.name)};" for port in ports if not port.is_input),
        name=NAME,
        wired=", ".join(f".{name}({name})" for name in names),
        bus=", ".join(f".{name[7:]}({name})" for name in names if name.startswith("s_axi__")),
        address_nbits=nbits,
    )
    return decided("\n".join([channels, PROPERTIES.read_text(), top]), seconds, how="at all delays")
