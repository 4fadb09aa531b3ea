"""A second cell library, derived from the first: cells and layers are renamed, and some cells may be
dropped.
"""

import hashlib
import re

from modexlab.flow.kit import kit, liberty

SUPPLY = {"VDD": "pwr", "VSS": "gnd"}
FEWER = [
    "FA_X1",
    "AOI222_X1",
    "AOI222_X2",
    "AOI222_X4",
    "OAI33_X1",
    "XOR2_X2",
    "XNOR2_X2",
    "NAND2_X4",
    "INV_X32",
    "BUF_X16",
    "FILLCELL_X32",
]


def cell_name(name):
    """A name that does not show function or strength."""
    return f"q{hashlib.sha256(name.encode()).hexdigest()[:7]}"


def layer_names():
    """New names of all interconnect layers, vias and the site."""
    lef = kit.find().geometry
    names = {layer.name: f"wire{chr(97 + n)}" for n, layer in enumerate(lef.routing)}
    names |= {layer.name: f"hole{chr(97 + n)}" for n, layer in enumerate(lef.cuts)}
    names |= {via: f"stack{n}" for n, via in enumerate(lef.vias)}
    return names | {lef.site: "tile"}


def renamed(text, names):
    """A text with these words replaced."""
    return re.sub(r"\b[A-Za-z]\w*\b", lambda match: names.get(match[0], match[0]), text)


def _without_macros(lef, dropped):
    for kind in dropped:
        lef = re.sub(rf"(?ms)^MACRO {kind}\s.*?^END {kind}\s*?$", "", lef)
    return lef


def second_kit(directory, dropped=()):
    """Write the kit, without the dropped cells; return its kit.toml."""
    import klayout.db as db

    first, dropped = kit.find(), set(dropped)
    directory.mkdir(parents=True)
    cells = {name: cell_name(name) for name in first.library.cells}
    lib = liberty.join([first.lib], dropped.__contains__, cells.keys() - dropped)
    names = cells | layer_names() | SUPPLY
    (directory / "cells.lib").write_text(renamed(lib, names))
    (directory / "cells.lef").write_text(renamed(_without_macros(first.lef.read_text(), dropped), names))
    (directory / "tech.lef").write_text(renamed(first.tech_lef.read_text(), names))
    (directory / "cells.v").write_text(renamed(first.others["verilog"].read_text(), cells))
    layout = db.Layout()
    layout.read(str(first.gds))
    for cell in layout.each_cell():
        cell.name = cells.get(cell.name, cell.name)
    layout.write(str(directory / "cells.gds"))
    (directory / "kit.toml").write_text(_described(first.source.read_text(), names, dropped))
    return directory / "kit.toml"


def _described(text, names, dropped):
    first = kit.find()
    families = {}
    for kind in first.library.cells:
        family = first.library.roles.family(kind)
        if family and kind not in dropped:
            families.setdefault(family, []).append(names[kind])
    text = re.sub(r"(?m)^(package|view|layers = \"klayout).*\n", "", text)
    for old, new in (("stdcells", "cells"), ("rtk-tech", "tech"), ("nangate45", "second")):
        text = text.replace(f'"{old}', f'"{new}')
    lists = ", ".join(str(members) for members in families.values() if len(members) > 1)
    text = re.sub(r"(?m)^strength = .*$", f"families = [{lists}]", text.replace("\\", "/"))
    if dropped:
        text = re.sub(
            r"(?m)^(full_adder|half_adder|selector) = .*\n",
            lambda m: "" if any(name in m[0] for name in dropped) else m[0],
            text,
        )
        for kind in dropped:
            text = re.sub(rf'\["{kind}", "\w+"\](, )?|(, )?\["\w+", "{kind}"\]', "", text)
            text = re.sub(rf'(, )?"{kind}"(?=[\],])', "", text)
    return renamed(text, names)
