"""The rules of AXI4-Lite proved of the slave's channels: whatever is behind them, whatever a master does that keeps the rules."""

from pathlib import Path

import pytest
from modexlab.fl.errors import BadInput
from modexlab.flow.prove.properties import prove
from modexlab.rtl.interfaces.axi4lite_channels import BUS, Axi4LiteChannels
from modexlab.rtl.interfaces.axi4lite_properties import PROPERTIES
from modexlab.rtl.sim import translate

FREE = {"write_refused": 1, "read_data": 32, "read_refused": 1}  # what registers answer: anything
DEFECTS = {  # of the hardware: text as it stands, and in its place; which no test of words alone need see
    "an answer is dropped": ("else if ( s_axi_bready ) begin", "else begin"),
    "an answer changes": ("    if ( write ) begin\n      b <=", "    if ( 1'd1 ) begin\n      b <="),
    "a read is answered twice": (
        "else if ( s_axi_rready ) begin\n        r_held <= 1'd0;",
        "else if ( s_axi_rready ) begin\n        r_held <= s_axi_arvalid;",
    ),
    "a write needs no data": ("write = ( aw_held & w_held )", "write = ( aw_held )"),
    "answers out of reset": (
        "ar_held <= 1'd0;\n      r_held <= 1'd0;\n    end",
        "ar_held <= 1'd0;\n      r_held <= 1'd1;\n    end",
    ),
    "never ready": ("s_axi_awready = ~aw_held", "s_axi_awready = 1'd0"),
    "it knows EXOKAY": ("b <= SLVERR", "b <= 2'd1"),
}


def proof(directory: Path, channels: str) -> list[Path]:
    """The channels, the rules, and the two together with free inputs; reset in the first cycle."""
    signals = [
        f"logic [{nbits - 1}:0] {name};" for name, (nbits, from_master) in BUS.items() if not from_master
    ]
    inputs = [
        f"input logic [{nbits - 1}:0] {name}"
        for name, nbits in [
            *((name, nbits) for name, (nbits, from_master) in BUS.items() if from_master),
            *FREE.items(),
        ]
    ]
    wired = [f".s_axi_{name}({name})" for name in BUS] + [f".{name}({name})" for name in FREE]
    top = f"""\
module proof(input logic clk, input logic reset, {", ".join(inputs)});
  {" ".join(signals)}
  Axi4LiteChannels channels(.clk(clk), .reset(reset), {", ".join(wired)});
  axi4lite_properties rules(.clk(clk), .reset(reset), {", ".join(f".{name}({name})" for name in BUS)});
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb assume (started || reset);
endmodule
"""
    (directory / "channels.sv").write_text(channels)
    (directory / "proof.sv").write_text(top)
    return [directory / "channels.sv", PROPERTIES, directory / "proof.sv"]


def test_the_channels_keep_the_rules(tmp_path: Path) -> None:
    verdict = prove(proof(tmp_path, translate(Axi4LiteChannels())), "proof", tmp_path)
    assert verdict.holds and verdict.cycle is None


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(defect: str, tmp_path: Path) -> None:
    """Each rule can be broken: the proof is no formality."""
    text, (before, after) = translate(Axi4LiteChannels()), DEFECTS[defect]
    assert text.count(before) == 1, defect
    verdict = prove(proof(tmp_path, text.replace(before, after)), "proof", tmp_path)
    assert not verdict.holds and verdict.cycle is not None and verdict.cycle < 20


def test_nothing_to_prove(tmp_path: Path) -> None:
    """The name of a file is no assertion."""
    path = tmp_path / "assertions.sv"
    path.write_text("module assertions(input logic clk, output logic x); assign x = clk; endmodule\n")
    with pytest.raises(BadInput, match="nothing to prove"):
        prove([path], "assertions", tmp_path)
