"""Algebraic proofs that rewritten arithmetic is unchanged: chains of sums; wrong rewritings are
not shown.
"""

import copy

import pytest
from modexlab.eval.designs.catalogue import find
from modexlab.flow.netlist.document import cell_bits
from modexlab.flow.prove import equivalence, word_proof
from modexlab.flow.prove.word_proof import NotShownError, show
from modexlab.flow.synth import carry_save, sharing
from modexlab.flow.synth.read_design import read_design
from modexlab.rtl.sim.translation.translate import translate

from tests.flow.designs import TOP, loaded, proof, synthesized
from tests.harness import module_fixture, one_now, parametrize, refused, regress


def source(bits):
    """A machine with two Montgomery products, each in one clock cycle, in the textbook's form."""
    return translate(find("mont").at(bits, add_red="textbook").rtl(), TOP)


def unit():
    """A unit for one such product."""
    return translate(find("mont").at(8, add_red="textbook").multiplier(), TOP)


class Stages:
    """The module after each stage of rewriting."""

    def __init__(self, design):
        self.all = [design]
        self.shared = self.then(sharing.share_adders)
        self.then(carry_save.narrow)
        self.chains = self.then(lambda now: carry_save.save_carries(now, prefix=False))

    def then(self, rewrite):
        self.all.append(copy.deepcopy(self.all[-1]))
        return rewrite(self.all[-1])

    def __getitem__(self, stage):
        return self.all[stage]["modules"][TOP]

    @property
    def zeros(self):
        """The highest bits of the words, which are always 0, as the words are one bit wider than y + n."""
        sums = {step.sum for chain in self.chains for step in chain}
        pins = [
            cell["connections"]
            for cell in self[2]["cells"].values()
            if cell["type"] == "$add" and tuple(cell["connections"]["Y"]) in sums
        ]
        return {item[pin][-1] for item in pins for pin in "AB"}


def coarse(out, text):
    (out / "design.sv").write_text(text)
    read_design(out / "design.sv", TOP, out)
    return loaded(out, "coarse.json")


@module_fixture
def stages(tmp_path_factory):
    return Stages(coarse(tmp_path_factory.mktemp("product"), source(16)))


def test_each_rewriting_is_shown(stages):
    """Shared sums, unused bits, and chains with different ends."""
    assert [len(chain) for chain in stages.chains] == [8, 8] and stages.shared == 16
    assert show(stages[0], stages[1]) == 16
    show(stages[1], stages[2])
    assert show(stages[2], stages[3], stages.chains, stages.zeros) == 16 + 2


def test_sums_that_might_pass_their_width_are_not_shown(stages):
    """The halving would lose the carries that rows drop, so that nothing is shown unless the zeros are
    known.
    """
    with pytest.raises(NotShownError, match="pass its width"):
        show(stages[2], stages[3], stages.chains)


def test_nothing_is_shown_without_the_pairs(stages):
    with pytest.raises(NotShownError):
        show(stages[2], stages[3], (), stages.zeros)
    with pytest.raises(NotShownError):
        show(stages[2], stages[3], [stages.chains[0][:-1]], stages.zeros)


@parametrize("stage", one_now([1, 3], 3))
def test_no_new_cell_may_be_another(stages, stage):
    """Each new cell with two words exchanged or with another type is found."""
    before, after = stages[stage - 1], stages[stage]
    chains = stages.chains if stage == 3 else ()
    new = sorted(name for name, cell in after["cells"].items() if before["cells"].get(name) != cell)
    swapped = {"$fa": "XY", "$mux": "AB"}
    other = {"$and": "$or", "$or": "$and", "$xor": "$and", "$add": "$sub", "$sub": "$add"}
    tried = 0
    for name in new[:: max(1, len(new) // 25)]:
        cell = after["cells"][name]
        wrong = copy.deepcopy(cell)
        if cell["type"] in other:
            wrong["type"] = other[cell["type"]]
        elif pins := swapped.get(cell["type"]):
            one, two = pins
            wrong["connections"] |= {one: cell["connections"][two], two: cell["connections"][one]}
        else:
            wrong["connections"]["A"] = ["0", *cell["connections"]["A"][1:]]
        if not _read(after, cell):
            continue
        tried += 1
        with pytest.raises(NotShownError):
            show(before, with_cell(after, name, wrong), chains, stages.zeros)
    assert tried >= 8


def with_cell(module, name, cell):
    return module | {"cells": module["cells"] | {name: cell}}


def _read(module, cell):
    """Whether any cell reads the output of this cell."""
    read = {bit for item in module["cells"].values() for bit in cell_bits(item, "input")}
    return not read.isdisjoint(cell["connections"]["Y"])


def test_nets_that_are_gone_and_nets_with_two_drivers(stages):
    before, after = stages[2], stages[3]
    name, adder = next((name, cell) for name, cell in after["cells"].items() if cell["type"] == "$fa")
    lost = {other: cell for other, cell in after["cells"].items() if other != name}
    with pytest.raises(NotShownError):
        show(before, after | {"cells": lost}, stages.chains, stages.zeros)
    with pytest.raises(NotShownError, match="two drivers"):
        show(before, with_cell(after, "again", adder), stages.chains, stages.zeros)
    with pytest.raises(NotShownError, match="ports"):
        show(before, after | {"ports": {}}, stages.chains, stages.zeros)


def test_silence_of_abc_is_no_answer(tmp_path, monkeypatch):
    """If abc ends without a verdict, it has compared nothing; if it is stopped, the part is undecided."""
    with refused("abc compared nothing: no message"):
        equivalence._asked("quit", tmp_path, 1)
    monkeypatch.setattr(equivalence, "run_abc", lambda *_: ("", False))
    assert equivalence._asked("quit", tmp_path, 1) == "undecided"


@regress
def test_long_chains_are_proved_and_wrong_ones_are_not(tmp_path, monkeypatch):
    """From the source to the cells; a rewriting that is wrong, in synthesis and in the proof alike, is
    found.
    """
    synthesized(tmp_path, unit())
    report = proof(tmp_path, seconds=20)
    assert report.equivalent and "1 chain of sums step by step" in report.summary, report.summary

    # random simulation cannot show that bits are 0: without that proof nothing is known of the chains
    with monkeypatch.context() as patch:
        patch.setattr(equivalence, "_asked", lambda *_: "undecided")
        report = proof(tmp_path, seconds=1)
        assert not report.equivalent and "chain" not in report.summary

    def without_a_carry(self, *operands):
        pair = row(self, *operands)
        pair.carry[3] = "0"
        return pair

    row = carry_save._Chains._row
    monkeypatch.setattr(carry_save._Chains, "_row", without_a_carry)
    synthesized(tmp_path, unit())
    report = proof(tmp_path, seconds=1)
    assert report.refuted and not report.equivalent and "chain" not in report.summary


@regress
def test_netlist_that_was_made_without_the_rewriting(tmp_path):
    """Its sums are those of the design, not those of the chain."""
    synthesized(tmp_path, unit(), leave_out="sharing,carry-save")
    report = proof(tmp_path, seconds=10)
    assert report.equivalent, report.summary


def test_polynomials_are_functions_of_bits():
    one, other = word_proof._bit(2), word_proof._bit(3)
    assert one * one == one
    assert word_proof._xor(word_proof._xor(one, other), other) == one
    with pytest.raises(NotShownError):
        word_proof._bit("x")
