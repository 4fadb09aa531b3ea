"""Ctrl-C while PyMTL3 code is running (rtl/sim/interrupt.py)."""

import signal
import threading

import pytest
from modexlab.rtl.messages import declare_streams
from modexlab.rtl.sim import interrupt, simulate
from pymtl3 import Bits8, Component, update, update_ff

CYCLE = 5


class Press:
    """A slice bound whose conversion to int presses Ctrl-C."""

    def __int__(self):
        signal.raise_signal(signal.SIGINT)
        return 0


class Pressed(Component):
    """Never responds; Ctrl-C is pressed in one of its cycles, within a PyMTL3 value."""

    def construct(s):
        declare_streams(s, Bits8, Bits8)
        s.cycles = 0

        @update_ff
        def count():
            s.cycles += 1
            if s.cycles == CYCLE:
                s.istream.msg[Press() : 4]

        @update
        def silent():
            s.istream.rdy @= 1
            s.ostream.val @= 0
            s.ostream.msg @= 0


@pytest.fixture(autouse=True)
def plain_handler():
    """Python's default handler, which other tests of this process may have replaced."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_why_it_is_kept():
    """Without the delay, PyMTL3 turns the interrupt into another error."""
    with pytest.raises(IndexError):
        Bits8(0)[Press() : 4]


def test_it_is_raised_at_the_edge_of_its_cycle():
    component = Pressed()
    with simulate(component, "python") as simulation, pytest.raises(KeyboardInterrupt):
        simulation.run([1])
    assert component.cycles == CYCLE
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_is_raised_at_the_end_at_the_latest_and_once():
    reached = False
    with pytest.raises(KeyboardInterrupt), interrupt.kept():
        with interrupt.kept():  # the inner context leaves it to the outer one
            signal.raise_signal(signal.SIGINT)
        reached = True
    assert reached
    interrupt.check()


def test_an_error_on_the_way_does_not_hide_it():
    with pytest.raises(KeyboardInterrupt), interrupt.kept():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("of something else")


def test_the_handler_of_a_caller_stays():
    caught = []
    before = signal.signal(signal.SIGINT, lambda *_: caught.append(True))
    try:
        with interrupt.kept():
            signal.raise_signal(signal.SIGINT)
            assert caught
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_are_left_alone():
    found = []

    def work():
        with interrupt.kept():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
