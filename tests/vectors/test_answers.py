"""Answers to many exponentiations: equal in one process and in several, and kept if a run is interrupted."""

import signal

import pytest
from modexlab.eval.designs import catalogue
from modexlab.eval.exchange.vectors import answers as module
from modexlab.eval.exchange.vectors.answers import Answers, Chunk
from modexlab.eval.exchange.vectors.private import Protection
from modexlab.fl.status import Status

from tests.harness import parametrize, refused
from tests.paths import DATA

MOD = 2**31 - 1
WANTED = [(nbits, (3 + i, 65537 + i, MOD)) for nbits in (32, 64) for i in range(6)]
EXPECTED = {(nbits, row): (Status.OK, pow(*row)) for nbits, row in WANTED}


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(module, "STEP", 2 * 32 * 17)  # two exponentiations of 32 bits


def known(store):
    """The results of tasks that are kept."""
    index = store.read()
    return list(index.results_of(index.results))


def answers(**how):
    return Answers(catalogue.find("mont"), {}, "fl", None, **how)


@parametrize("jobs, long", [(1, 0), (2, 0), (2, 1 << 40)])
def test_all_are_computed_once(jobs, long, monkeypatch, store):
    monkeypatch.setattr(module, "LONG", long)
    told = []
    with answers(jobs=jobs, store=store) as made:
        made.of([*WANTED, WANTED[0]], lambda *counts: told.append(counts))
    assert made.known == EXPECTED
    assert told[-1] == (13, 13) and told == sorted(told)
    assert not known(store)


def test_an_interrupted_run_goes_on(monkeypatch, store):
    computed = []
    real = Chunk.run

    def run(chunk, report):
        computed.append(chunk)
        if len(computed) == 3:
            raise KeyboardInterrupt
        return real(chunk, report)

    monkeypatch.setattr(Chunk, "run", run)
    with pytest.raises(KeyboardInterrupt), answers(store=store) as first:
        first.of(WANTED, lambda *_: None)
    assert len(first.known) == 4 and len(known(store)) == 2
    with answers(store=store) as second:
        second.of(WANTED, lambda *_: None)
    assert second.known == EXPECTED
    assert sum(len(chunk.operands) for chunk in computed[3:]) == len(WANTED) - 4
    assert not known(store)


def test_kept_answers_tell_designs_and_programs_apart():
    protections = [None, *(Protection(crt, blind, True) for crt in (False, True) for blind in ("no", "both"))]
    mont, naive = catalogue.find("mont-keyed"), catalogue.find("naive")
    found = [
        *(
            Answers(mont, settings, "fl", None, protection=protection)
            for settings in ({}, {"window": 2})
            for protection in protections
        ),
        *(Answers(mont, settings, "rtl", "native") for settings in ({}, {"nstages": 2})),
        Answers(naive, {}, "fl", None),
    ]
    made_by = [item.made_by for item in found]
    assert len(set(made_by)) == len(made_by)


@parametrize("level", ["fl", "cl"])
def test_levels(level, cli):
    report = cli.json(f"check naive {DATA}/bn_small.txt --level {level}")
    assert report["level"] == level and report["passed"] and not report["failed"]


@parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command(told, cli, monkeypatch):
    """SIGTERM acts like Ctrl-C: the verdicts so far are printed, and known results are kept."""
    real = Chunk.run
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}[told]

    def run(chunk, report):
        if any(exp == 65537 for _, exp, _ in chunk.operands):
            signal.raise_signal(told)
        return real(chunk, report)

    monkeypatch.setattr(Chunk, "run", run)
    done = cli.passes(f"check {DATA}/bn_small.txt {DATA}/wycheproof_signature_512.json --level fl", code=130)
    assert "results are kept; the same command goes on from there" in done.err
    assert "bn_small.txt: " in done.out and "total" not in done.out
    assert signal.getsignal(told) is usual


def test_an_error_of_a_worker_ends_the_run(monkeypatch):
    monkeypatch.setattr(module, "LONG", 0)
    impossible = Answers(catalogue.find("mont"), {"nstages": 33}, "fl", None, jobs=2)
    with refused("nstages = 33"), impossible:
        impossible.of(WANTED, lambda *_: None)
