"""Ports of a processor, as its test bench sees them."""

from pymtl3 import Bits1, Bits32, Component
from pymtl3.dsl import Signal

from ...fl.errors import BadInput
from ...rtl.sim.ports import Message
from ..core.messages import mk_commit, mk_mem_req, mk_mem_resp

SENDERS = {"imem_req": mk_mem_req(), "dmem_req": mk_mem_req(), "proc2mngr": Bits32}
RECEIVERS = {"imem_resp": mk_mem_resp(), "dmem_resp": mk_mem_resp(), "mngr2proc": Bits32}
INPUTS = {"entry": Bits32, "core_id": Bits32}
OUTPUTS = {"commit": mk_commit(), "halted": Bits1, "stats_en": Bits1}


def check(component: Component) -> None:
    """BadInput if an elaborated component does not have these ports."""
    name = type(component).__name__
    for port, kind in {**SENDERS, **RECEIVERS, **INPUTS, **OUTPUTS}.items():
        signal = getattr(component, port, None)
        if port in SENDERS or port in RECEIVERS:
            signal = getattr(signal, "msg", None)
        if not isinstance(signal, Signal) or Message.of(signal._dsl.Type) != Message.of(kind):
            what = "a stream" if port in SENDERS or port in RECEIVERS else "a port"
            raise BadInput(f"{name} is not a processor: it needs {what} `{port}` of {kind.__name__}")
