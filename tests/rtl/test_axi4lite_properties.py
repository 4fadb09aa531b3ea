"""The rules of AXI4-Lite proved of the slave's channels: whatever is behind them, whatever a master does that
keeps the rules.
"""

import pytest
from modexlab.eval.assurance.proof.bus_check import decide
from modexlab.flow.prove.report import PROVED, REFUTED
from modexlab.rtl.interfaces.axi4lite_channels import ADDRESS_NBITS, Axi4LiteChannels
from modexlab.rtl.sim import translate

from tests.harness import one_now

SECONDS = 120.0

DEFECTS = {  # of the hardware: text as it stands, and in its place; which no test of words alone need see
    "an answer is dropped": ("else if (s_axi_bready) begin", "else begin"),
    "an answer changes": ("    if (write) begin\n      b <=", "    if (1'd1) begin\n      b <="),
    "a read is answered twice": (
        "else if (s_axi_rready) begin\n        r_held <= 1'd0;",
        "else if (s_axi_rready) begin\n        r_held <= s_axi_arvalid;",
    ),
    "a write needs no data": ("write = aw_held & w_held", "write = aw_held"),
    "answers out of reset": (
        "ar_held <= 1'd0;\n      r_held <= 1'd0;\n    end else",
        "ar_held <= 1'd0;\n      r_held <= 1'd1;\n    end else",
    ),
    "never ready": ("s_axi_awready = ~aw_held", "s_axi_awready = 1'd0"),
    "it knows EXOKAY": ("b <= SLVERR", "b <= 2'd1"),
}


@pytest.mark.parametrize("nbits", one_now((ADDRESS_NBITS, 2 * ADDRESS_NBITS), ADDRESS_NBITS))
def test_the_channels_keep_the_rules(nbits):
    assert decide(translate(Axi4LiteChannels(nbits)), nbits, SECONDS).verdict == PROVED


@pytest.mark.parametrize("defect", one_now(DEFECTS, "an answer is dropped", "never ready"))
def test_a_defect_is_found(defect):
    """Each rule can be broken: the proof is no formality."""
    text, (before, after) = translate(Axi4LiteChannels()), DEFECTS[defect]
    assert text.count(before) == 1, defect
    outcome = decide(text.replace(before, after), ADDRESS_NBITS, SECONDS)
    assert outcome.verdict == REFUTED and 1 < len(outcome.counterexample) < 20
