"""The closed formula of a program equals the cycles of its microinstructions, for random machines."""

import random

import pytest
from modexlab.cl.program_formula import Formula
from modexlab.eval.designs.catalogue import designs, find
from modexlab.eval.designs.protection import PROGRAMS, costs
from modexlab.eval.errors import NoMeasurement
from modexlab.fl.errors import BadInput

from tests.harness import later, parametrize

WIDTHS = (16, 18, 24, 32, 36, 48, 64)
COUNTS = (1, 2, 3, 4, 5, 6, 8, 16)  # values of parameters without a list
PROGRAMMED = [design for design in designs() if design.programmed]


def machines(seed, count):
    """Machines of random designs, widths, programs and parameters."""
    rng = random.Random(seed)
    while count:
        design, nbits = rng.choice(PROGRAMMED), rng.choice(WIDTHS)
        settings = dict(rng.choice([*PROGRAMS.values()]))
        for param in design.params:
            if param.name not in settings and rng.random() < 0.5:
                legal = param.legal if isinstance(param.legal, tuple) else COUNTS
                settings[param.name] = rng.choice(legal)
        try:
            machine = design.at(nbits, **settings)
            _ = machine.programmed.program
        except BadInput:  # values that do not go together
            continue
        count -= 1
        yield rng, machine


@parametrize("seed, count", [(0, 150), *later(*((seed, 800) for seed in range(1, 6)))])
def test_formula_counts_microinstructions(seed, count):
    """`costs` raises if a private operation differs; plain and public requests are compared here."""
    families, short_chains, compared = set(), 0, 0
    for rng, machine in machines(seed, count):
        made, nbits = machine.programmed, machine.nbits
        recipe = made.recipe
        found = costs(machine)
        if found.formula is not None:
            families.add(machine.design.family)
            scaled = recipe.scaled
            short_chains += recipe.keyed and scaled is not None and not scaled.chain.squares
        if recipe.keyed and not recipe.public:
            continue
        for length in (0, 1, nbits // 2, nbits):
            mod = rng.getrandbits(nbits) | 1
            exp = rng.getrandbits(length) if length else 0
            request = rng.randrange(mod), exp, mod, *(0 for _ in made.private), *([1] * recipe.public)
            fields = made.named(request)
            counted = made.timing.cycles(fields, made.arithmetic, made.inspect(fields))
            assert made.cycles(*request) == counted, (machine.name, nbits, machine.changed, request)
            compared += 1
    assert (
        len(families) == len({design.family for design in PROGRAMMED})
        and short_chains
        and 2 * compared > count
    )


@parametrize("verify, blind", [(True, "no"), *later((True, "both"), (False, "both"))])
def test_a_chain_without_squares_in_hardware(verify, blind):
    """R^2 of this machine is made by doublings alone, and stored before any product."""
    machine = find("heap").at(16, schedule="fixed-window", doublings_per_cycle=5, verify=verify, blind=blind)
    assert machine.programmed.recipe.scaled.chain.squares == 0
    with machine.session(backend="python") as session:
        (answer,) = session.run_with_keys([(77, machine.key)])
    key = machine.key
    keyed = machine.with_key(key, machine.draw)
    assert answer.result == pow(77, key.d, key.n)
    assert answer.cycles == keyed.cycles(77, key.d, key.n)
    assert answer.cycles == machine.programmed.closed.keyed(key.n, key.d, key.e)


def test_a_wrong_formula_is_an_error(cli, monkeypatch):
    """No command prints two numbers for one operation."""
    monkeypatch.setattr(Formula, "wiping", lambda *_: 99)
    with pytest.raises(
        NoMeasurement, match=r"mont-keyed of 64 bits with .*: [\d,]+ cycles by microinstruction"
    ):
        costs(find("mont-keyed").at(64, schedule="fixed-window"))
    assert "by formula; report this error" in cli.finds("show --costs mont-keyed --nbits 64").err
