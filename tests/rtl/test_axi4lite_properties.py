"""The rules of AXI4-Lite, proved for the channels of the slave: for any logic behind them and any master that
follows the rules.
"""

from modexlab.eval.assurance.proof.bus_check import decide
from modexlab.fl.axi4lite import ADDRESS_NBITS
from modexlab.flow.prove.report import PROVED, REFUTED
from modexlab.rtl.interfaces.axi4lite_channels import Axi4LiteChannels
from modexlab.rtl.sim import translate

from tests.harness import one_now, parametrize

SECONDS = 120.0

DEFECTS = {  # hardware defects: original and replacement text; tests of data alone may miss them
    "an answer is dropped": (".recv__val(wen)", ".recv__val(wen & s_axi__bready)"),
    "an answer changes": (".send__msg(s_axi__bresp)", ".send__msg()"),
    "a read is answered twice": (".send__rdy(r__recv__rdy)", ".send__rdy(r__recv__rdy & s_axi__arvalid)"),
    "a write needs no data": ("wen = aw__send__val & w__send__val", "wen = aw__send__val"),
    "answers out of reset": ("send__val(s_axi__rvalid)", "send__val()"),
    "never ready": (".recv__rdy(s_axi__awready)", ".recv__rdy()"),
    "it knows EXOKAY": (
        "werror ? Axi4LiteChannels_pkg::RESPONSE_SLVERR :\n        Axi4LiteChannels_pkg::RESPONSE_OKAY",
        "Axi4LiteChannels_pkg::response_e'({1'd0, werror})",
    ),
}


@parametrize("nbits", one_now((ADDRESS_NBITS, 2 * ADDRESS_NBITS), ADDRESS_NBITS))
def test_the_channels_keep_the_rules(nbits):
    assert decide(translate(Axi4LiteChannels(nbits)), nbits, SECONDS).verdict == PROVED


@parametrize("defect", one_now(DEFECTS, "an answer is dropped", "never ready"))
def test_a_defect_is_found(defect):
    """Each rule can be broken, so the proof is not vacuous."""
    text, (before, after) = translate(Axi4LiteChannels()), DEFECTS[defect]
    assert text.count(before) == 1, defect
    outcome = decide(text.replace(before, after), ADDRESS_NBITS, SECONDS)
    assert outcome.verdict == REFUTED and 1 < len(outcome.counterexample) < 20
