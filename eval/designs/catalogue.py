"""The catalogue: the one list of designs. Tests, command line, sweeps, flow and report all iterate over it.

A design combines a multiplier, a domain and a control, which includes the schedule; the interface is chosen
when a machine is built. To add a design, append an entry to DESIGNS. To name settings of a design, add the
name to `named` of its entry.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...fl.errors import BadInput, unknown
from ..own_code import Memory, Trace
from . import own
from .control import (
    BARE,
    CONVERTED,
    DIRECT,
    GIVEN_001,
    HIDING,
    IDENTITY_001,
    KEYED,
    SCALED_PROGRAM,
    SHIFT_SUB_004,
    of_core,
)
from .foreign.foreign import ForeignDesign
from .foreign.function_core import design_of
from .foreign.manifest import FILE, Manifest
from .machine import Design
from .multipliers import bit_serial, one_modulus
from .multipliers.digit_serial import DIGIT_SERIAL, WORD_SERIAL
from .multipliers.heap_mont import HEAP_MONT
from .multipliers.mont_mul_rem import mont_mul_rem
from .multipliers.mul_rem import MUL_REM, MUL_REM_001
from .multipliers.multiplier import GATED
from .multipliers.row_fold import ROW_FOLD
from .multipliers.systolic import SCALED_SYSTOLIC, SYSTOLIC
from .own import OwnDesign
from .own_controller import (
    CM_000,
    DM_000,
    FOLD,
    MM_000,
    ONE_UNIT,
    SERIAL,
    SERIAL_003,
    SYSTOLIC_002,
    SYSTOLIC_CORE,
    TINY,
    TWO_UNITS,
)

DESIGNS = (
    Design(
        "naive-001",
        MUL_REM_001,
        "identity",
        IDENTITY_001,
        "the paper's naive machine: two units, each a combinational multiplier and an aligning divider",
        paper="001",
    ),
    Design(
        "mont-001",
        mont_mul_rem(8, 4, "koc", GATED),
        "montgomery",
        GIVEN_001,
        "the paper's Montgomery machine: five product units of 4 stages x 8 AddReds, a divider for R^2 mod n",
        paper="001",
    ),
    Design(
        "naive",
        MUL_REM,
        "identity",
        DIRECT,
        "two units, each a combinational multiplier and a restoring divider; any modulus, any base",
    ),
    Design(
        "mont",
        mont_mul_rem(8, 1, "koc"),
        "montgomery",
        CONVERTED,
        "two Montgomery units of 8 AddReds each; doublings convert the base, so there is no divider",
        named={
            "mont-ct": (
                "the Montgomery machine as a ladder over all bits of the width, in the same cycles for all "
                "exponents",
                {"schedule": HIDING, "scan": ("full",), "conversion": ("square", "double")},
            )
        },
    ),
    Design(
        "mont-keyed",
        mont_mul_rem(8, 1, "koc"),
        "montgomery",
        KEYED,
        "one Montgomery unit and a microprogram: windows, and private keys with CRT, blinding and a check",
    ),
    Design(
        "fold",
        ROW_FOLD,
        "folded",
        FOLD,
        "one product per cycle, reduced by residues in registers; fastest at 32 bits; any modulus and base",
        named={
            "fold-ct": (
                "`fold` scanning all bits of the exponent, in the same cycles for all operands of a width",
                {"scan": ("full",)},
            )
        },
    ),
    Design(
        "ssmm-004",
        bit_serial.SHIFT_SUB_004,
        "residue",
        BARE,
        "the paper's Algorithm 6: two shift-and-subtract units that stop at the last 1 of the multiplier",
        paper="004",
    ),
    Design(
        "mmmul-004",
        bit_serial.MM_MUL,
        "montgomery",
        SHIFT_SUB_004,
        "the paper's Algorithm 4: two bit-serial Montgomery units; R^2 mod n by shift and subtract",
        paper="004",
    ),
    Design(
        "mmred-004",
        bit_serial.MM_RED,
        "montgomery",
        SHIFT_SUB_004,
        "the paper's Algorithm 2: two full multipliers with bit-serial Montgomery reduction",
        paper="004",
    ),
    Design(
        "ssmm",
        bit_serial.SHIFT_SUB,
        "residue",
        DIRECT,
        "two shift-and-subtract units of 1, 2, 4, ... bits per cycle that stop at the multiplier's highest 1",
        named={
            "ssmm-ct": (
                "shift and subtract as a ladder over all bits of every operand, in the same cycles for all "
                "exponents",
                {"schedule": HIDING, "scan": ("full",), "until": ("count",)},
            )
        },
    ),
    Design(
        "cm-m-000",
        one_modulus.CM,
        "fixed",
        CM_000,
        "the paper's CM (M), Figure 16: two units with a compression tree, on the modulus itself",
        paper="000",
        named={
            "cm-m-000-one": (
                "the paper's CM (M), Figure 16: one unit with a compression tree, on the modulus itself",
                {"domain": ("fixed",), "schedule": ONE_UNIT},
            ),
            "cm-pm-000": (
                "the paper's CM (PM), Figure 16: two units with a compression tree, on the pseudo-modulus "
                "2^nbits - 1, with a final correction",
                {"domain": ("pseudo",), "schedule": TWO_UNITS},
            ),
            "cm-pm-000-one": (
                "the paper's CM (PM), Figure 16: one unit with a compression tree, on the pseudo-modulus "
                "2^nbits - 1, with a final correction",
                {"domain": ("pseudo",), "schedule": ONE_UNIT},
            ),
        },
    ),
    Design(
        "dm-m-000",
        one_modulus.DM,
        "fixed",
        DM_000,
        "the paper's DM (M), Figure 16: two units with the operators `*` and `%`, on the modulus itself",
        paper="000",
        named={
            "dm-m-000-one": (
                "the paper's DM (M), Figure 16: one unit with the operators `*` and `%`, on the modulus "
                "itself",
                {"domain": ("fixed",), "schedule": ONE_UNIT},
            ),
            "dm-pm-000": (
                "the paper's DM (PM), Figure 16: two units with the operators `*` and `%`, on the "
                "pseudo-modulus 2^nbits - 1, with a final correction",
                {"domain": ("pseudo",), "schedule": TWO_UNITS},
            ),
            "dm-pm-000-one": (
                "the paper's DM (PM), Figure 16: one unit with the operators `*` and `%`, on the "
                "pseudo-modulus 2^nbits - 1, with a final correction",
                {"domain": ("pseudo",), "schedule": ONE_UNIT},
            ),
        },
    ),
    Design(
        "mm-m-000",
        one_modulus.MM,
        "redundant",
        MM_000,
        "the paper's MM (M), Figure 18: two units with Montgomery steps, without a last subtraction, on the "
        "modulus itself",
        paper="000",
        named={
            "mm-m-000-one": (
                "the paper's MM (M), Figure 18: one unit with Montgomery steps, without a last subtraction, "
                "on the modulus itself",
                {"schedule": ONE_UNIT},
            ),
        },
    ),
    Design(
        "mm-pm-000",
        one_modulus.MM_PSEUDO,
        "pseudo",
        MM_000,
        "the paper's MM (PM), Figure 18: two units with Montgomery steps, without a last subtraction, on "
        "the pseudo-modulus 2^nbits - 1, with a final correction",
        paper="000",
        named={
            "mm-pm-000-one": (
                "the paper's MM (PM), Figure 18: one unit with Montgomery steps, without a last "
                "subtraction, on the pseudo-modulus 2^nbits - 1, with a final correction",
                {"schedule": ONE_UNIT},
            ),
        },
    ),
    Design(
        "systolic-002",
        SYSTOLIC,
        "redundant",
        SYSTOLIC_002,
        "the paper's systolic array: one processing element per 16-bit word, square and multiply always; "
        "software supplies R and R^2 mod n",
        paper="002",
    ),
    Design(
        "serial-003",
        DIGIT_SERIAL,
        "redundant",
        SERIAL_003,
        "the paper's digit-serial processor: one digit adder for products, one for squares; software "
        "supplies R^2 mod n",
        paper="003",
        named={
            "serial-003-one": (
                "the paper's P-processor alone, for products and squares in turn; software supplies "
                "R^2 mod n",
                {"schedule": ("right-to-left-1",)},
            )
        },
    ),
    Design(
        "heap",
        of_core(HEAP_MONT),
        "scaled",
        SCALED_PROGRAM,
        "wide digits on a scaled modulus, each step in one bit heap: a 1,024-bit product in 18 cycles; "
        "constant time",
    ),
    Design(
        "systolic",
        SCALED_SYSTOLIC,
        "scaled",
        SYSTOLIC_CORE,
        "a systolic array on a scaled modulus whose elements multiply in every cycle: two cycles per digit, "
        "no quotient unit; constant time for exponents of a length",
    ),
    Design(
        "serial",
        WORD_SERIAL,
        "scaled",
        SERIAL,
        "products on a scaled modulus, word by word, with two small multipliers and memories; constant time "
        "for exponents of a length",
    ),
    Design(
        "tiny",
        bit_serial.INTERLEAVED,
        "residue",
        TINY,
        "the smallest machine: operands in latches, an adder of one bit or more; any modulus",
        named={
            "tiny-ct": (
                "`tiny` with a square and a product for every exponent bit, in the same cycles for all "
                "operands",
                {"schedule": ("always",)},
            )
        },
    ),
)


def designs() -> list[Design]:
    """All designs and their named settings, in catalogue order."""
    return [form for design in DESIGNS for form in design.forms.values()]


_BY_NAME = {design.name: design for design in designs()}


def find(name: str) -> Design:
    """Find an RSA design by its name, the path of its manifest, or its reference `NAME@PATH`."""
    found = entry(name)
    if isinstance(found, OwnDesign):
        raise no_rsa_machine(found)
    return found


def no_rsa_machine(design: OwnDesign) -> BadInput:
    """The error for a design that is not an RSA machine, where only RSA machines are supported."""
    return BadInput(
        f"{design.name} is not an RSA machine, and only RSA machines are supported here; "
        "give a design of the catalogue (`modexlab show designs`)"
    )


def entry(name: str) -> Design | OwnDesign:
    """Find a design as `find` does, including accelerators that are not RSA machines."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    label, at, path = name.partition("@")
    if at or name.endswith((".toml", ".py")) or "/" in name:
        found = by_path(path if at else name)
        return found.forms.get(label, found) if isinstance(found, Design) else found
    known = own.entries()
    if name in known:
        return known[name]
    if own.is_folder(Path(name)) or (Path(name) / FILE).is_file():
        return by_path(name)
    raise unknown("design", name, [*_BY_NAME, *known])


def by_path(origin: str) -> Design | OwnDesign:
    """The design of a manifest or a folder; BadInput if the catalogue already has one of this name."""
    path = Path(origin)
    if not own.is_folder(path) and (path.exists() or ":" not in origin):
        return by_manifest(path)
    folder = (path.parent if path.name == own.FILE else path).absolute()
    design = (_multiplier_of(folder) if own.is_folder(path) else None) or own.by_reference(origin)
    if design.name in _BY_NAME:
        raise BadInput(f"{origin}: {taken(design.name)}")
    return design


def _multiplier_of(folder: Path) -> Design | None:
    """The RSA design of a folder whose accelerator.py defines it as DESIGN."""
    module, trace = own.load(folder / own.FILE)
    found = vars(module).get("DESIGN")
    return _traced(found, str(folder), trace) if isinstance(found, Design) else None


@functools.lru_cache(256)
def _traced(design: Design, origin: str, trace: Trace) -> Design:
    return replace(design, origin=origin, trace=trace)


_manifests = Memory[Path, tuple[ForeignDesign | OwnDesign, Manifest]]()


def by_manifest(path: Path) -> ForeignDesign | OwnDesign:
    """The design of a manifest, cached until one of its files changes; BadInput if the catalogue already has
    one of this name.
    """
    file = (path / FILE if path.is_dir() else path).absolute()
    known = _manifests.known.get(file)
    if known is not None and known[1].current:
        return known[0]
    manifest = Manifest.load(file)
    if (name := manifest.of.name) in _BY_NAME:
        raise manifest.error(("name",), taken(name))
    found = design_of(manifest) if manifest.of.function else ForeignDesign.of(manifest)
    _manifests.known[file] = found, manifest
    return found


def taken(name: str, owner: str = "a design of the catalogue") -> str:
    return f"name {name!r} is already that of {owner}; give another"


def by_manifests(paths: Sequence[str]) -> list[ForeignDesign]:
    """The RSA designs at these paths. Other accelerators in a folder of manifests are skipped; BadInput if a
    path itself is one.
    """
    named = {str(Path(path).absolute()) for path in paths}
    found = by_paths(paths)
    for design in found:
        if isinstance(design, OwnDesign) and (design.origin in named or own.is_folder(Path(design.origin))):
            raise no_rsa_machine(design)
        if isinstance(design, Design) and not isinstance(design, ForeignDesign):
            raise BadInput(
                f"{design.reference}: only cores in Verilog are supported here; give a design.toml"
            )
    return [design for design in found if isinstance(design, ForeignDesign)]


def by_paths(paths: Sequence[str]) -> list[Design | OwnDesign]:
    """The designs for these paths and catalogue names; BadInput if two have the same name."""
    return functools.reduce(with_path, paths, [])


def with_path(designs: Sequence[Design | OwnDesign], name: str) -> list[Design | OwnDesign]:
    """These designs, with those at a path or of a catalogue name; BadInput if two have the same name.

    A path is a manifest, a folder of manifests, or the folder of an accelerator.
    """
    found = {design.name: design for design in designs}
    path = Path(name)
    if name in _BY_NAME and not path.exists():
        return list({**found, name: _BY_NAME[name]}.values())
    files = [path]
    if path.is_dir() and not (own.is_folder(path) or (path / FILE).is_file()):
        files = sorted({*path.glob(f"*/{FILE}"), *path.glob("*.toml")})
    if not files:
        raise BadInput(f"{name}: there is no {FILE} in this folder or in one below it; give a manifest")
    for file in files:
        design = by_path(str(file))
        if (other := found.setdefault(design.name, design)) is design:
            continue
        reason = taken(design.name, f"{other.reference.partition('@')[2]} too")
        if own.is_folder(file):
            raise BadInput(f"{name}: {reason}")
        raise Manifest.load(file).error(("name",), reason)
    return list(found.values())
