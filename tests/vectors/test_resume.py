"""Answers to many exponentiations: the same in one process and in several, and kept where a run is cut
short.
"""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from modexlab.eval.designs import catalogue
from modexlab.eval.exchange.vectors import resume
from modexlab.eval.exchange.vectors.resume import Answers, Chunk
from modexlab.fl.errors import BadInput
from modexlab.fl.status import Status

from tests.paths import DATA

from ..command_line import Cli

MOD = 2**31 - 1
WANTED = [(nbits, (3 + i, 65537 + i, MOD)) for nbits in (32, 64) for i in range(6)]
EXPECTED = {(nbits, row): (Status.OK, pow(*row)) for nbits, row in WANTED}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(Answers, "kept", property(lambda _: tmp_path / "kept.jsonl"))
    monkeypatch.setattr(resume, "STEP", 2 * 32 * 17)  # two exponentiations of 32 bits


def answers(**how: object) -> Answers:
    return Answers(catalogue.find("mont"), {}, "fl", None, **how)


@pytest.mark.parametrize(("jobs", "long"), [(1, 0), (2, 0), (2, 1 << 40)])
def test_all_are_computed_once(jobs, long, monkeypatch):
    monkeypatch.setattr(resume, "LONG", long)
    made = answers(jobs=jobs)
    told: list[tuple[int, int]] = []
    with made:
        made.of([*WANTED, WANTED[0]], lambda *counts: told.append(counts))
    assert made.known == EXPECTED
    assert told[-1] == (13, 13) and told == sorted(told)
    assert not made.kept.exists()


def stops_after(chunks: int) -> Callable[..., list]:
    """`compute`, interrupted."""
    left = chunks

    def compute(chunk: Chunk, *more: object) -> list:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return real(chunk, *more)

    real = resume.compute
    return compute


def test_an_interrupted_run_goes_on(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(resume, "compute", stops_after(2))
        first = answers()
        with pytest.raises(KeyboardInterrupt), first:
            first.of(WANTED, lambda *_: None)
    assert len(first.known) == 4 and first.kept.exists()
    with first.kept.open("a") as file:
        file.write('[32, "0x3", "0x')  # it was killed while it wrote
    computed: list[Chunk] = []
    real = resume.compute
    monkeypatch.setattr(resume, "compute", lambda chunk, *more: computed.append(chunk) or real(chunk, *more))
    second = answers()
    with second:
        second.of(WANTED, lambda *_: None)
    assert second.known == EXPECTED
    assert sum(len(chunk.operands) for chunk in computed) == len(WANTED) - 4
    assert not second.kept.exists()


def test_names_of_kept_answers_tell_designs_apart(monkeypatch):
    monkeypatch.undo()
    names = {
        Answers(catalogue.find(name), settings, level, stage).kept
        for name, settings, level, stage in (
            ("mont", {}, "fl", None),
            ("mont", {}, "rtl", "native"),
            ("mont", {"nstages": 2}, "rtl", "native"),
            ("naive", {}, "fl", None),
        )
    }
    assert len(names) == 4


@pytest.mark.parametrize("level", ["fl", "cl"])
def test_levels(level, capsys):
    cli = Cli(capsys)
    report = cli("check", DATA / "modexp_plain.json", "--design", "naive", "--level", level, "--json").json()
    assert report["level"] == level and report["passed"] and not report["failed"]


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command(
    told,
    capsys,
    monkeypatch,
    request,
):
    """SIGTERM acts as Ctrl-C: the verdicts so far are printed, and known results are kept."""
    real = resume.compute
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}[told]
    found = signal.signal(told, usual)  # dask_jobqueue replaces that of SIGINT when it is imported
    request.addfinalizer(lambda: signal.signal(told, found))

    def compute(chunk: Chunk, *more: object) -> list:
        if any(exp == 65537 for _, exp, _ in chunk.operands):
            signal.raise_signal(told)
        return real(chunk, *more)

    monkeypatch.setattr(resume, "compute", compute)
    done = Cli(capsys)("check", DATA / "bn_small.txt", DATA / "modexp_plain.json", "--level", "fl")
    assert done.code == 130
    assert "results are kept; the same command goes on from there" in done.err
    assert "bn_small.txt: " in done.out and "total" not in done.out
    assert signal.getsignal(told) is usual


def test_an_error_of_a_worker_ends_the_run(monkeypatch):
    monkeypatch.setattr(resume, "LONG", 0)
    impossible = Answers(catalogue.find("mont"), {"nstages": 33}, "fl", None, jobs=2)
    with pytest.raises(BadInput, match="nstages = 33"), impossible:
        impossible.of(WANTED, lambda *_: None)
