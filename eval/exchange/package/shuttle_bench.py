"""Sends the requests of rows.svh through the pins and compares the responses."""

import re
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Timer
from cocotb.utils import get_sim_time

ROWS = Path(__file__).with_name("rows.svh").read_text()
REQUESTS, EXPECTED = (
    [int(digits, 16) for digits in re.findall(rf"{array}\[\d+\] = \d+'h(\w+);", ROWS)]
    for array in ("requests", "expected")
)
NUMBERS = {name: int(digits) for name, digits in re.findall(r"int (\w+) = (\d+);", ROWS)}
REQUEST_BYTES, RESPONSE_BYTES = (-(-NUMBERS[f"{name}_NBITS"] // 8) for name in ("REQUEST", "RESPONSE"))
CLOCK_NS, HOST_NS = 20, 33  # the host samples the pins asynchronously to the clock
MOST_NS = 5_000_000  # after which no request is sent
STROBE, GO = 0b01, 0b10
TAKEN, BUSY = 2, 3


def shown(dut, pin):
    return int(dut.uio_out.value) >> pin & 1


async def until(dut, pin, level, most=64):
    """Wait until a pin has a level, for at most this many cycles."""
    for _ in range(most * CLOCK_NS // HOST_NS + 1):
        await Timer(HOST_NS, "ns")
        if shown(dut, pin) == level:
            return
    raise AssertionError(f"uio[{pin}] did not become {level} in {most} cycles")


async def strobe(dut, byte, go=False):
    dut.ui_in.value = byte
    dut.uio_in.value = STROBE | GO * go
    await until(dut, TAKEN, 1)
    dut.uio_in.value = 0
    await until(dut, TAKEN, 0)


async def call(dut, request, early=True):
    """The response to a request; `early`: first send a strobe that must have no effect, since the machine is
    busy.
    """
    for place in range(REQUEST_BYTES):
        await strobe(dut, request >> 8 * place & 0xFF, go=place == REQUEST_BYTES - 1)
    if early:
        await strobe(dut, 0xFF)
        if not shown(dut, BUSY):  # the strobe came too late: it may have shifted the response
            return await call(dut, request, early=False)
    await until(dut, BUSY, 0, NUMBERS["LONGEST"])
    response = 0
    for place in range(RESPONSE_BYTES):
        response |= int(dut.uo_out.value) << 8 * place
        await strobe(dut, 0)
    return response


@cocotb.test()
async def every_response_is_as_expected(dut):
    dut.ena.value, dut.rst_n.value, dut.ui_in.value, dut.uio_in.value = 1, 0, 0, 0
    await Timer(HOST_NS, "ns")
    Clock(dut.clk, CLOCK_NS, "ns").start()
    await ClockCycles(dut.clk, 10)
    dut.rst_n.value = 1
    await ClockCycles(dut.clk, 10)
    assert int(dut.uio_oe.value) == 0b1100
    for sent, (request, expected) in enumerate(zip(REQUESTS, EXPECTED, strict=True)):
        if get_sim_time("ns") > MOST_NS:
            cocotb.log.info("%d of %d requests were sent", sent, len(REQUESTS))
            break
        assert await call(dut, request) == expected, f"request {request:#x}"
