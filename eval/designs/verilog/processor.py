"""The processor as one self-contained SystemVerilog file, with an accelerator at its port or with the port
open.

The header describes the processor: its parameters, its ports and their messages, and all control and status
registers.
"""

import re
from typing import Any

from pymtl3 import Component

from ....fl.axi4lite import address_nbits
from ....proc.core.parameters import check_units
from ....proc.core.proc import Proc
from ....proc.isa.csrs import CSRS, ON_BUS
from ....proc.software.memory import BUS_BASE
from ....rtl.sim.ports import Message
from ..interfaces import AXI4LITE
from ..runnable import Runnable
from ..soc_system import Xcel
from ..verilog_header import bus, fields, paragraphs, registers, verilog_file, wrapped
from .machine import parameters, selection

PROCESSOR = "proc"

PROTOCOL = """\
Protocol: clk rising edge; reset is synchronous and active high. All streams are val/rdy: a message moves in
every cycle in which val and rdy are both 1; val, once 1, stays, and the message stays the same, until it has
moved.
  imem_req, dmem_req    accesses to aligned words: bits 1:0 of addr are 0; strobe selects the bytes of a write
  imem_resp, dmem_resp  one response per request, writes included, in order, from the next cycle on;
                        error: there is no memory at this address
  mngr2proc, proc2mngr  words to and from the CSRs of these names"""
PROTOCOL_OF_XCEL = """
  xcel_req, xcel_resp   accesses to the accelerator's registers, one answer for each, writes too"""
PROTOCOL_OF_SIGNALS = """
  entry, core_id        static: the address of the first instruction, and what mhartid reads
  stats_en              the bit of the CSR of this name
  halted                1 from the first trap while mtvec is 0, or from a bus error of dmem, on; an ecall that
                        halts ends a program, whose exit code is in a0 (x10)"""
PROTOCOL_OF_COMMIT = """
  commit                in every cycle: val: an instruction retires; trap: the one at pc traps, data is mtval,
                        and with halt the machine stops. wen: data was written to rd; stats: the stats window
                        was open"""

BUS = f"""

The bus: loads and stores from {BUS_BASE:#x} on go to the registers of the accelerator, the first {{kib}} KiB;
bytes by strobes, in order, each waits for its answer. A refusal is a precise access fault (mcause 5, 7). Its
interrupt is the machine external interrupt: mcause 0x8000000b, taken in the place of an instruction that has
done nothing yet; wfi waits for it. At the accelerator port, behind the CSRs xr0 to xr31, is the null
accelerator."""


def processor_verilog(
    xcel: Xcel | None = None, *, mul_latency: int = 1, div_bits: int = 2, commit: bool = True
) -> str:
    """The file. xcel: the accelerator at the accelerator port; None: the accelerator port and the commit port
    are ports of the module.
    """
    check_units(mul_latency, div_bits)
    on_bus = xcel is not None and xcel.on_bus
    machine: Any = xcel and xcel.machine
    interrupts = "the external interrupt" if on_bus else "no interrupts"
    if xcel is None:
        component, top = Proc(mul_latency, div_bits), f"{PROCESSOR}_open"
    else:
        component = xcel.system(mul_latency, div_bits, observed=commit)
        top = PROCESSOR if xcel.design is None else f"{PROCESSOR}_{xcel.design.name}_{xcel.nbits}"
        top += AXI4LITE.suffix if on_bus else ""
    top = re.sub(r"\W", "_", top)
    behind = f" --xcel {selection(machine)}" if machine else " --xcel none" * (xcel is None)
    behind += f"{' --interface axi4lite' * on_bus} --mul-latency {mul_latency} --div-bits {div_bits}"
    unread = {} if commit else {"proc__commit": "not read without the commit port"}
    return verilog_file(
        component,
        top,
        "a pipelined RV32IM processor",
        f"{PROCESSOR}{behind}{' --no-commit' * (not commit)}",
        [
            "Instructions   RV32IM, Zicsr, Zifencei; machine mode only, little endian",
            f"Traps          precise; {interrupts}",
            "Pipeline       F D X M W, in order, bypassed; branches predicted not taken and decided in X",
            "Source         paper 001, section 2.4 and Figure 4",
            *wrapped(f"Accelerator    {_behind(xcel)}", 15),
        ],
        [
            f"  mul_latency = {mul_latency}: cycles of the multiplier",
            f"  div_bits = {div_bits}: bits of a quotient in a cycle",
            *(parameters(machine) if machine else ()),
        ],
        lambda: [
            "Messages, first field in the most significant bits:",
            *_messages(component),
            "",
            *paragraphs(
                PROTOCOL
                + PROTOCOL_OF_XCEL * (xcel is None)
                + PROTOCOL_OF_SIGNALS
                + PROTOCOL_OF_COMMIT * hasattr(component, "commit")
                + (BUS.format(kib=(1 << address_nbits(machine.shape)) // 1024) if on_bus else "")
            ),
            "",
            "Control and status registers (all others are illegal):",
            *_csrs(on_bus),
            *(_registers(machine, on_bus) if machine else ()),
        ],
        unread,
    )


def _behind(xcel: Xcel | None) -> str:
    if xcel is None:
        return "none: xcel_req and xcel_resp are ports of this module"
    if xcel.design is None:
        return "the null accelerator: one register, xr0"
    after = f", after paper {xcel.design.paper}" if xcel.design.paper else ""
    where = ", on the bus" if xcel.on_bus else ""
    return f"{xcel.design.name}, {xcel.nbits} bits{where}{after}: {xcel.design.summary}"


def _registers(machine: Runnable, on_bus: bool) -> list[str]:
    """Return the lines about the machine's registers."""
    if not on_bus:
        return registers()
    shape, traits = machine.shape, machine.traits
    lines = bus(AXI4LITE.registers(shape, traits), AXI4LITE.rules(shape, traits))
    return lines[lines.index("") :]  # without the protocol, which is inside


def _messages(component: Component) -> list[str]:
    """The types of the streams and of the commit port that have fields."""
    names = ("imem_req", "imem_resp", "dmem_req", "dmem_resp", "xcel_req", "xcel_resp")
    signals = {f"{name}__msg": getattr(component, name).msg for name in names if hasattr(component, name)}
    if hasattr(component, "commit"):
        signals["commit"] = component.commit
    lines = []
    for name, signal in signals.items():
        lines += wrapped(f"  {name:<14}  {fields(Message.of(signal._dsl.Type))}", 18)
    return lines


def _csrs(on_bus: bool) -> list[str]:
    others = {csr.number: csr for csr in ON_BUS} if on_bus else {}
    lines = []
    for csr in (others.get(item.number, item) for item in CSRS):
        last = csr.registers - 1
        number = f"0x{csr.number:03X}" + (f" to 0x{csr.number + last:03X}" if last else "")
        name = f"{csr.name} to {csr.name.rstrip('0')}{last}" if last else csr.name
        meaning = csr.meaning.removesuffix("; the functional level counts instructions")  # this is hardware
        lines += wrapped(f"  {number:<14}  {name:<11}  {csr.access}: {meaning}", 31)
    return lines
