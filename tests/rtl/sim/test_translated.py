"""A machine is translated once: the cached text is reused, and never for other code."""

import functools
from functools import cached_property, partial

import pytest
from modexlab import accelerator
from modexlab.cl import timing
from modexlab.eval.designs.catalogue import designs, find
from modexlab.eval.designs.interfaces import XCEL
from modexlab.fl.errors import BadInput
from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.core.proc import Proc
from modexlab.proc.core.proc_xcel import ProcXcel
from modexlab.rtl.sim import cache, simulate, sources, translate
from modexlab.rtl.sim.ports import Message, Ports
from modexlab.rtl.sim.translation import translated
from modexlab.rtl.sim.translation.component_digest import recipe_of
from modexlab.rtl.units import add_red, mont_mul_rem
from modexlab.rtl.units.mont_mul_rem import MontMulRem
from pymtl3 import Bits4, Bits8, bitstruct

from tests.harness import parametrize, refused, regress
from tests.paths import ROOT
from tests.rtl.sim.examples import AddMod, other_process


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path))
    return tmp_path


def unit():
    return find("mont").at(8).multiplier()


def name_of(component, read=Ports.of):
    return translated.entry_name(component, read)


def text_of(component):
    return translated.translated(component, Ports.of)[0]


def test_same_text_and_ports_come_back(own_cache, monkeypatch):
    machine = find("mont").at(8)
    fresh = machine.rtl()
    said = translate(fresh), Ports.of(fresh)
    assert translated.translated(machine.rtl(), Ports.of) == said
    monkeypatch.setattr(translated, "translate", None)
    assert translated.translated(machine.rtl(), Ports.of) == said
    assert [path.name for path in own_cache.glob("verilog-*")] == [name_of(machine.rtl())]


def test_component_serves_one_simulation():
    component = unit()
    text_of(component)
    with refused("MontMulRem has been simulated"):
        simulate(component, "python")


@parametrize("damage", [lambda data: b"", lambda data: data[:-20], lambda data: data[:-30] + data[-29:]])
def test_damaged_entry_is_made_again(own_cache, damage):
    text = text_of(unit())
    (entry,) = own_cache.glob("verilog-*")
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    assert text_of(unit()) == text
    assert entry.read_bytes() == whole


@parametrize(
    "changed, counts",
    [
        ("rtl/units/add_red.py", True),
        ("rtl/verilog/print.py", True),
        ("rtl/units/shift_sub.py", False),
        ("eval/report/html.py", False),
    ],
)
def test_sources_of_a_unit_and_of_what_translates_it_count(monkeypatch, changed, counts):
    before, real = name_of(unit()), cache.file_digest
    at = ROOT / changed
    monkeypatch.setattr(cache, "file_digest", lambda path: "changed" if path.samefile(at) else real(path))
    monkeypatch.setattr(sources, "digest", functools.cache(sources.digest.__wrapped__))
    assert (name_of(unit()) != before) == counts


@regress
def test_recipes_tell_all_machines_apart():
    machines = [design.at(32) for design in designs()]
    machines += [
        find("mont-keyed").at(64),
        find("mont-keyed").at(32, forward=False),
        find("mont-keyed").at(32, crt=True),
    ]
    # messages of a processor are classes of the package
    names = [name_of(ProcXcel(make, NullXcel)) for make in (Proc, partial(Proc, div_bits=4))]
    names += [name_of(make()) for item in machines for make in (item.rtl, partial(item.wrapped, XCEL))]
    assert None not in names and len(set(names)) == len(names)
    assert names[-6::2] == [name_of(machine.rtl()) for machine in machines[-3:]]


def test_recipe_includes_the_fields_of_a_message():
    def digest(**fields):
        members = {"__annotations__": fields, "__module__": timing.__name__}
        return recipe_of(bitstruct(type("Slot", (), members))).digest

    assert digest(value=Bits4) == digest(value=Bits4) != digest(value=Bits8)
    assert digest(value=Bits4) != digest(other=Bits4)


def test_another_process_finds_the_entry():
    """Whatever accelerators of users this process has loaded."""
    accelerator(ROOT / "eval" / "examples" / "gcd").at(8)
    code = f"from {__name__} import *; print(name_of(find('naive').at(8).wrapped(XCEL)), end='')"
    assert other_process(code) == name_of(find("naive").at(8).wrapped(XCEL))


class Mine(MontMulRem):
    """A class outside the package."""


def mine(*_):
    """A function outside the package."""


def test_what_is_not_of_the_package_has_no_entry(monkeypatch):
    for component in (AddMod(8), Mine(8, 2, 1), MontMulRem(8, 2, object())):
        assert name_of(component) is None
    assert name_of(MontMulRem(8, 2, 1), mine) is None
    assert name_of(MontMulRem(8, 2, 1)) is not None
    for holder, attribute in (
        (MontMulRem, "construct"),
        (mont_mul_rem.CondSub, "construct"),
        (mont_mul_rem, "declare_product_ports"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(holder, attribute, mine)
            assert name_of(MontMulRem(8, 2, 1)) is None, attribute


def test_planted_fault_is_not_served_the_text_without():
    right = text_of(unit())
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(add_red.ADD_REDS, "koc", add_red.AddRedTextbook)
        assert text_of(unit()) == translate(unit()) != right
    assert text_of(unit()) == right


def test_component_that_is_elaborated_or_configured_is_taken_as_it_is():
    elaborated, configured = unit(), unit()
    elaborated.elaborate()
    configured.set_param("top.construct", gated=False)
    assert name_of(elaborated) is name_of(configured) is None
    assert text_of(elaborated) == text_of(unit())


@parametrize("values", [(1, 2), (range(3), range(4))])
def test_private_attributes_and_ranges_count(values, monkeypatch):
    """The recipe of a class includes its private cached properties and the ranges that they use."""
    digests = []
    for value in values:
        here = {"__name__": timing.__name__, "VALUE": value}
        guard = cached_property(eval("lambda self: VALUE", here))
        monkeypatch.setattr(timing.MontMulRemTiming, "_guard", guard, raising=False)
        digests.append(recipe_of(timing.MontMulRemTiming).digest)
    assert digests[0] != digests[1]


def test_recipe_ignores_docstrings():
    def digest(*body):
        here = {"__name__": timing.__name__}
        exec("\n    ".join(("def total(x):", *body)), here)
        return recipe_of(here["total"]).digest

    assert digest('"""A sum."""', "return x + 1") == digest("return x + 1") != digest("return x + 2")


def test_messages_without_fields_are_refused_in_lists_too():
    with pytest.raises(BadInput):
        Message(8).pack_all([()])


def test_text_of_a_file_comes_from_the_cache(own_cache, monkeypatch):
    """An entry for each top and option; what comes from the cache is elaborated, as what is translated."""
    made = {top: translated.written(unit(), top, assertions=True) for top in ("one", "two")}
    other = translated.written(unit(), "one")
    monkeypatch.setattr(translated, "translate", None)
    again = unit()
    assert (
        translated.written(again, "one", assertions=True)
        == made["one"]
        == translate(unit(), "one", unique=True, assertions=True)
    )
    assert again._dsl.constructed and len({*made.values(), other}) == 3
