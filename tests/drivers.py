"""The C driver, compiled for the host, with a device at its port: the model, or packaged Verilog."""

import re
import shutil
import subprocess
from ctypes import (
    CDLL,
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_bool,
    c_char_p,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
    cast,
)
from pathlib import Path

from modexlab.fl.axi4lite import OKAY
from modexlab.fl.status import MEANING
from modexlab.fl.xcel import to_words
from modexlab.proc.software.compiler import DRIVER
from modexlab.rtl.sim.build import library

BASE = 0x4000_0000
PORT = """\
#include <stdint.h>
uint32_t (*port_read)(uint32_t);
void (*port_write)(uint32_t, uint32_t);
#define MODEXLAB_READ(address) port_read((uint32_t)(address))
#define MODEXLAB_WRITE(address, value) port_write((uint32_t)(address), (value))
#define MODEXLAB_FENCE() port_write(1, 0)
"""
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
CODES = {
    name: int(code)
    for name, code in re.findall(r"MODEXLAB_(\w+) = (-\d+)", (DRIVER / "modexlab.h").read_text())
} | {status.name: int(status) for status in MEANING}
BUS = Path(__file__).parent / "package" / "axi4lite_bus.cpp"

Words = POINTER(c_uint32)
PROTECTIONS = ("crt", "message_blinded", "exponent_blinded", "checked")
WITH_CRT = ("p", "q", "dp", "dq", "qinv")
PRIVATE = ("modulus", "public_exponent", "private_exponent", "phi", *WITH_CRT)


def fields(kind, *names):
    """Fields of a structure that have the same type."""
    return [(name, kind) for name in names]


class Machine(Structure):
    """modexlab_t."""

    _fields_ = (
        ("base", c_size_t),
        *fields(c_uint32, "nbits", "words", "given"),
        *fields(c_bool, "constant_time", "odd_only", "reduced_only", *PROTECTIONS, "public_exponents"),
        ("fields", c_void_p),
        *fields(c_uint32, "key_words", "result_words"),
        *fields(c_bool, "blinded", "stale", "finished"),
    )


class Key(Structure):
    """modexlab_key_t."""

    _fields_ = (
        ("words", c_uint32),
        *fields(Words, "modulus", "exponent"),
        ("given_count", c_uint32),
        ("given", Words * 8),
    )


class Random(Structure):
    """modexlab_random_t."""

    _fields_ = fields(Words, "x", "kp", "kq")


class PrivateKey(Structure):
    """modexlab_private_key_t."""

    _fields_ = (("words", c_uint32), *fields(Words, *PRIVATE), ("random", Random))


class PublicKey(Structure):
    """modexlab_public_key_t."""

    _fields_ = (("words", c_uint32), *fields(Words, "modulus", "exponent"))


class PackagedDevice:
    """Packaged Verilog behind AXI4-Lite in Verilator, as seen on a bus."""

    def __init__(self, verilog, top):
        text = f'#include "V{top}.h"\n#define TOP V{top}\n{BUS.read_text()}'
        self.lib = CDLL(str(library(verilog, top, text, "-O1")))
        self.lib.bus_reset()
        self.refused = []
        self.written = {}

    def load(self, address):
        data = self.lib.bus_read(c_uint32(address - BASE)) & 0xFFFF_FFFF
        self._judge("read", address)
        return data

    def store(self, address, data):
        if address == 1:  # a fence
            return
        self.written[address - BASE] = data
        self.lib.bus_write(c_uint32(address - BASE), c_uint32(data))
        self._judge("write", address)

    def _judge(self, access, address):
        response = self.lib.bus_response()
        assert response < 4, f"no answer to a {access} of {address:#x}"
        if response != OKAY:
            self.refused.append((access, address - BASE))


class Driver:
    """The library with a device at its port; a call returns the name of its code."""

    def __init__(self, library, device):
        self.lib = CDLL(str(library))
        self.lib.modexlab_message.restype = c_char_p
        self.lib.modexlab_cycles.restype = c_uint64
        for name in ("finished", "irq_handle"):
            getattr(self.lib, f"modexlab_{name}").restype = c_bool
        self.device, self.machine = device, Machine()
        self.kept = (
            CFUNCTYPE(c_uint32, c_uint32)(device.load),
            CFUNCTYPE(None, c_uint32, c_uint32)(device.store),
        )
        for name, function in zip(("port_read", "port_write"), self.kept, strict=True):
            c_void_p.in_dll(self.lib, name).value = cast(function, c_void_p).value

    def raw(self, name, *arguments):
        """Call a function of the driver; structures are passed by reference."""
        arguments = [
            byref(argument) if isinstance(argument, Structure) else argument
            for argument in (self.machine, *arguments)
        ]
        return getattr(self.lib, f"modexlab_{name}")(*arguments)

    def __call__(self, name, *arguments):
        code = self.raw(name, *arguments)
        return next(item for item, value in CODES.items() if value == code)

    def init(self):
        return self("init", c_size_t(BASE))

    def start(self, base, words):
        return self("start", numbers(base, words), words)

    def read(self, words):
        room = (c_uint32 * (words + 1))(*[0xA5A5_A5A5] * (words + 1))
        code = self("read", room, words)
        assert room[words] == 0xA5A5_A5A5, "written past the end"
        return code, sum(word << (32 * i) for i, word in enumerate(room[:words]))


def numbers(value, words):
    return (c_uint32 * max(words, 1))(*to_words(value, 32 * words))


def pointer(value, words):
    """A number of this many words, in front of words that must not be read."""
    return cast((c_uint32 * (words + 2))(*to_words(value, 32 * words), 0xDEAD_BEEF, 0xDEAD_BEEF), Words)


def key_of(mod, exp, words, given=()):
    pointers = [pointer(value, words) for value in given]
    return Key(words, pointer(mod, words), pointer(exp, words), len(given), (Words * 8)(*pointers))


def host_library(directory, *more, sources=DRIVER):
    """The driver in this folder and additional C, compiled for the host, with the port in Python."""
    (directory / "port.h").write_text(PORT)
    (directory / "all.c").write_text("\n".join(('#include "modexlab.c"', *more)))
    gcc = shutil.which("gcc") or "cc"
    flags = [*STRICT, "-Wconversion", "-O2", "-fPIC", "-shared", "-include", "port.h", f"-I{sources}"]
    subprocess.run([gcc, *flags, "all.c", "-o", "driver.so"], cwd=directory, check=True)
    return directory / "driver.so"
