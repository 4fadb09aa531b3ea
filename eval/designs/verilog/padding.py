"""The PKCS#1 v1.5 padding units as self-contained SystemVerilog files, for use with any exponentiator."""

import sys
from collections.abc import Callable
from functools import partial

from pymtl3 import Component

from ....fl.pkcs1 import Padded, longest, nbytes_of
from ....rtl.units.padding.pkcs1_pad import Pkcs1Pad
from ....rtl.units.padding.pkcs1_unpad import Pkcs1Unpad
from ..verilog_header import paragraphs, streams, verilog_file

MEANING = {
    Padded.OK: "em is the encoding",
    Padded.TOO_LONG: "the message is too long: there is no encoding",
    Padded.NO_RANDOM: "the source of random bytes has failed: there is no encoding",
}


PADDING: dict[str, Callable[[int], Component]] = {
    "pkcs1-pad": Pkcs1Pad,
    "pkcs1-unpad": Pkcs1Unpad,
    "pkcs1-unpad-implicit": partial(Pkcs1Unpad, implicit=True),
}


def padding_verilog(name: str, nbits: int) -> str:
    """The file of a unit for keys of so many bits."""
    nbytes = nbytes_of(nbits)
    component = PADDING[name](nbits)
    statuses = ["", "Statuses:", *(f"  {int(status)}  {text}" for status, text in MEANING.items())]
    return verilog_file(
        component,
        f"{name.replace('-', '_')}_{nbits}",
        f"PKCS#1 v1.5 for keys of {nbits} bits",
        f"{name} --nbits {nbits}",
        [
            *paragraphs(sys.modules[type(component).__module__].__doc__),
            "",
            f"Encodings have {nbytes} bytes, messages {longest(nbytes)} at most.",
        ],
        (),
        lambda: [
            *streams(component),
            *(statuses if isinstance(component, Pkcs1Pad) else ()),
        ],
    )
