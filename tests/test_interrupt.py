"""Ctrl-C in every long command: exit code 130, no traceback, and no process that stays."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from modexlab.eval.cli.ctrl_c import repeated
from modexlab.eval.lab.cluster import make_queue
from modexlab.eval.lab.store.reference import REFERENCE

from tests.harness import later, parametrize
from tests.paths import DATA

SECONDS = 60  # until a command has ended, on a busy machine
TAG = "MODEXLAB_INTERRUPTED"  # environment variable that marks a command and all that it starts
# says when Python itself has begun
PROGRAM = "import sys; from modexlab.eval.cli.entry import main; print('begun', flush=True); sys.exit(main())"
DELAYS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
LONG = f"run naive-001 --base 1119317562 --exp {2**255 - 1} --mod {2**256 - 189} --backend python"
COMMANDS = {
    "run": LONG,
    "check": f"check mont {DATA / 'wycheproof_decrypt_512.json'} --level cl",
    "asic": "asic mont --nbits 256 --interface unit --clock 6",
    "sweep": "sweep widths",
    "prove": "prove heap",
    "leakage": "attack leakage mont --nbits 16",
    "faults": "attack faults mont --nbits 8",
    "all": "attack all",
    "report": "report --output out.html",
    "verilog": "verilog heap --nbits 512",
    "proc": "proc systems",
    "compare": "compare --measure",
    "verify": f"store check {REFERENCE}",
}
# Python restores the default action of signals as it ends; shells report 130 for that, too
INTERRUPTED = (130, -signal.SIGINT)
ALONE, GROUP = os.kill, os.killpg  # of a program, and of a terminal


def tagged(tag):
    """The processes with this tag."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if tag in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_text())
        except OSError:  # it has just ended
            continue
    return found


def interrupted(command, delay, by, directory):
    """Interrupt a command after a delay; return whether it was still running."""
    tag = f"{TAG}={os.getpid()}-{time.monotonic_ns()}"
    places = {"MODEXLAB_STORE": str(directory / "store.jsonl")}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *shlex.split(command)],
        env={**os.environ, **places, **dict([tag.split("=")])},
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(delay)
    runs = process.poll() is None
    if runs:
        by(process.pid, signal.SIGINT)
    try:
        _, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError(f"{command} runs on after Ctrl-C at {delay} s: {tagged(tag.encode())}") from None
    if runs:
        assert process.returncode in INTERRUPTED, (delay, process.returncode, err)
    assert "Traceback" not in err and "Exception ignored" not in err, (delay, err)
    end = time.monotonic() + SECONDS
    while left := tagged(tag.encode()):
        assert time.monotonic() < end, (delay, left)
        time.sleep(0.05)
    return runs


@parametrize("by", [ALONE, GROUP], ids=["alone", "group"])
@parametrize(
    "command, delays",
    [
        (COMMANDS["run"], (0.1, 1.5)),
        (COMMANDS["asic"], (3.0,)),
        *later(*((command, DELAYS) for command in COMMANDS.values())),
    ],
    ids=["run", "asic", *(f"all delays of {name}" for name in COMMANDS)],
)
def test_ctrl_c(command, delays, by, tmp_path):
    assert interrupted(command, delays[0], by, tmp_path)
    for delay in delays[1:]:
        interrupted(command, delay, by, tmp_path)


class Last:
    """Presses Ctrl-C as it is deleted."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_in_a_finaliser_is_repeated(capsys):
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), repeated():
        Last()
        time.sleep(SECONDS)
    assert time.monotonic() < begin + SECONDS / 2
    assert "ignored" not in capsys.readouterr().err


def test_an_interrupt_while_the_timer_starts_is_repeated(capsys, monkeypatch):
    """On a busy machine, the signal of the timer may arrive before its start has returned."""
    timers = []

    class Timer(threading.Timer):
        def start(self):
            timers.append(self)
            if len(timers) == 1:
                raise KeyboardInterrupt
            super().start()

    monkeypatch.setattr(threading, "Timer", Timer)
    with pytest.raises(KeyboardInterrupt), repeated():
        Last()
        time.sleep(SECONDS)
    assert len(timers) >= 2
    assert "ignored" not in capsys.readouterr().err


def test_other_errors_in_a_finaliser_are_printed(monkeypatch):
    class Wrong:
        def __del__(self):
            raise ValueError

    found = []
    monkeypatch.setattr(sys, "unraisablehook", found.append)
    with repeated():
        Wrong()
    assert [error.exc_type for error in found] == [ValueError]


def test_the_handler_of_ctrl_c_stays_when_dask_jobqueue_is_imported(monkeypatch):
    """Its module runner.py installs another one, which exits with code 0."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "dask_jobqueue"]:
        monkeypatch.delitem(sys.modules, name)
    before = signal.getsignal(signal.SIGINT)
    with make_queue("slurm", {}, []):
        assert "dask_jobqueue.runner" in sys.modules
        assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
