"""The tests of a design, for `pytest --design NAME`: its own, and of its multiplier, programs and buses."""

import functools
import re

from modexlab.eval.designs.catalogue import designs, find

from tests.paths import ROOT

NBITS = 8
# tests of mechanisms that designs share: they name one design for each family, or none
INTERFACES = ("designs/test_interfaces.py", "rtl/test_axi4lite.py", "rtl/test_xcel.py")
PROGRAMS = ("rtl/keyed/test_program_exp.py", "rtl/keyed/test_program_wipe.py")
UNITS = ("rtl/test_units.py",)


def names_in(text, names):
    """The names that a test's parameters hold; of mont and mont-001, which begin alike, the longer one."""
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    return set(re.findall(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)", text))


@functools.cache
def parts_of(design):
    """Modules of the units and machines that its hardware is made of."""
    component = design.at(NBITS).rtl()
    component.elaborate()
    modules = {type(part).__module__ for part in component.get_all_components()}
    return frozenset(name for name in modules if re.match(r"modexlab\.rtl\.(units|mod_exp|keyed)\.", name))


@functools.cache
def tests_parts_of(file, design):
    """Whether a file of tests imports a component of the design."""
    imported = re.findall(r"^from (modexlab\.rtl\.[\w.]+) import", (ROOT / file).read_text(), re.MULTILINE)
    return not parts_of(design).isdisjoint(imported)


def concerns(test, name):
    """Whether the test of this node id concerns the design of this name."""
    file, _, rest = test.partition("::")
    design = find(name)
    parameters = rest.partition("[")[2].rpartition("]")[0]
    named = names_in(parameters, (other.name for other in designs()))
    if name in named:
        return True
    if file.removeprefix("tests/") in (INTERFACES + UNITS + (PROGRAMS if design.programmed else ())):
        families = {find(other).family for other in named} | names_in(parameters, {design.family})
        return design.family in families or not named
    return not named and tests_parts_of(file, design)
