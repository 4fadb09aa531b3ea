# SPDX-License-Identifier: BSD-3-Clause
"""cocotb bench: sends the requests of rows.svh through the ports of the top module, compares the answers."""

import re
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

ROWS = Path(__file__).with_name("rows.svh").read_text()
REQUESTS, EXPECTED = (
    [int(digits, 16) for digits in re.findall(rf"{array}\[\d+\] = \d+'h(\w+);", ROWS)]
    for array in ("requests", "expected")
)
CONSTANTS = {name: int(digits, 16) for name, digits in re.findall(r"(\w+) = \d+'h(\w+);", ROWS)}
CLOCKING = {"clk": ("reset", 1), "aclk": ("aresetn", 0), "pclk": ("presetn", 0)}  # the active level
INPUTS = r"psel|penable|\w+(aw|w|ar)valid|\w+(b|r)ready|istream__val|ostream__rdy|random__val"


async def until(clock, signal):
    """Wait for a rising edge at which the signal is 1."""
    await RisingEdge(clock)
    while not signal.value:
        await RisingEdge(clock)


async def move(clock, mine, other, *payload):
    """Offer or accept one transfer: my signal is 1 until the other one is; return the payload."""
    mine.value = 1
    await until(clock, other)
    values = [int(signal.value) for signal in payload]
    mine.value = 0
    return values


async def streams(dut, clock):
    """The answers to all requests, which are offered as fast as they are accepted."""

    async def offer():
        for request in REQUESTS:
            dut.istream__msg.value = request
            await move(clock, dut.istream__val, dut.istream__rdy)

    cocotb.start_soon(offer())
    return [(await move(clock, dut.ostream__rdy, dut.ostream__val, dut.ostream__msg))[0] for _ in EXPECTED]


async def axi4lite(dut, clock, write, address, data, strobes):
    """Data and response of one access; the two channels of a write are offered together."""
    if write:
        dut.s_axi_awaddr.value, dut.s_axi_wdata.value, dut.s_axi_wstrb.value = address, data, strobes
        data_channel = cocotb.start_soon(move(clock, dut.s_axi_wvalid, dut.s_axi_wready))
        await move(clock, dut.s_axi_awvalid, dut.s_axi_awready)
        await data_channel
        return 0, *await move(clock, dut.s_axi_bready, dut.s_axi_bvalid, dut.s_axi_bresp)
    dut.s_axi_araddr.value = address
    await move(clock, dut.s_axi_arvalid, dut.s_axi_arready)
    return await move(clock, dut.s_axi_rready, dut.s_axi_rvalid, dut.s_axi_rdata, dut.s_axi_rresp)


async def apb(dut, clock, write, address, data, strobes):
    """Data and error of one transfer of APB."""
    dut.psel.value, dut.pwrite.value, dut.paddr.value = 1, write, address
    dut.pwdata.value, dut.pstrb.value = data, strobes
    await RisingEdge(clock)
    data, error = await move(clock, dut.penable, dut.pready, dut.prdata, dut.pslverr)
    dut.psel.value = 0
    return 0 if write else data, error


async def bus(dut, clock):
    """The answers to all accesses, one after the other."""
    access = apb if hasattr(dut, "psel") else axi4lite
    answers = []
    for request in REQUESTS:  # {write, wait, address, data[32], strobes[4]} -> {write, data[32], refused}
        command, address = divmod(request >> 36, 1 << CONSTANTS["ADDRESS_NBITS"])
        write, wait = divmod(command, 2)
        if wait:
            await until(clock, dut.irq)
            answers.append(0)
        else:
            payload = request >> 4 & 0xFFFF_FFFF, request & 0xF
            data, response = await access(dut, clock, write, address, *payload)
            answers.append(write << 33 | data << 1 | (response != 0))
    return answers


async def random_bytes(dut, clock):
    """The bytes of the testbench's shift register, as a source of randomness."""
    state = CONSTANTS["RANDOM_SEED"]
    while True:
        for _ in range(8):
            bit = state >> 31 ^ state >> 21 ^ state >> 1 ^ state
            state = (state << 1 | bit & 1) & 0xFFFF_FFFF
        dut.random__msg.value = state & 0xFF
        await move(clock, dut.random__val, dut.random__rdy)


@cocotb.test()
async def every_answer_is_as_expected(dut):
    for signal in dut:
        if re.fullmatch(INPUTS, signal._name):
            signal.value = 0
        elif signal._name.startswith("key_"):
            signal.value = CONSTANTS[signal._name.upper()]
    name = next(name for name in CLOCKING if hasattr(dut, name))
    clock, (reset, active) = dut[name], CLOCKING[name]
    Clock(clock, 10, "ns").start()
    dut[reset].value = active
    await ClockCycles(clock, 4)
    dut[reset].value = 1 - active
    if "RANDOM_SEED" in CONSTANTS:
        cocotb.start_soon(random_bytes(dut, clock))
    answers = await (streams if hasattr(dut, "istream__val") else bus)(dut, clock)
    assert answers == EXPECTED
    cocotb.log.info("PASS: %d answers", len(answers))
