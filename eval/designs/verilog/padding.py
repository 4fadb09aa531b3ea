"""The PKCS#1 v1.5 padding units as self-contained SystemVerilog files, for use with any exponentiator."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from ....fl.pkcs1 import Padded, longest, nbytes_of
from ..verilog_header import PROTOCOL, messages, paragraphs, verilog_file

MEANING = {
    Padded.OK: "em is the encoding",
    Padded.TOO_LONG: "the message is too long: there is no encoding",
    Padded.NO_RANDOM: "the source of random bytes has failed: there is no encoding",
}


@dataclass(frozen=True)
class PaddingUnit:
    """One of them: its component, by module, class and options."""

    module: str
    kind: str
    options: tuple[Any, ...] = ()


PADDING = {
    "pkcs1-pad": PaddingUnit("pkcs1_pad", "Pkcs1Pad"),
    "pkcs1-unpad": PaddingUnit("pkcs1_unpad", "Pkcs1Unpad"),
    "pkcs1-unpad-implicit": PaddingUnit("pkcs1_unpad", "Pkcs1Unpad", (True,)),
}


def padding_verilog(name: str, nbits: int) -> str:
    """The file of a unit for keys of so many bits."""
    nbytes = nbytes_of(nbits)
    unit = PADDING[name]
    module = importlib.import_module(f"....rtl.units.padding.{unit.module}", __package__)
    component = getattr(module, unit.kind)(nbits, *unit.options)
    statuses = ["", "Statuses:", *(f"  {int(status)}  {text}" for status, text in MEANING.items())]
    return verilog_file(
        component,
        f"{name.replace('-', '_')}_{nbits}",
        f"PKCS#1 v1.5 for keys of {nbits} bits",
        [
            *paragraphs(module.__doc__),
            "",
            f"Encodings have {nbytes} bytes, messages {longest(nbytes)} at most.",
        ],
        (),
        lambda: [
            *messages(component),
            "",
            *PROTOCOL.split("\n"),
            *(statuses if unit.kind == "Pkcs1Pad" else ()),
        ],
    )
