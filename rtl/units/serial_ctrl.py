"""SerialCtrl: the controller of a unit that computes in steps, one operation at a time.

    IDLE  operands are loaded when a request comes, or already in the cycle in which an answer is taken
    STEP  one cycle of steps after another
    LAST  one more cycle for what comes after the steps (with has_last)
    DONE  the answer is offered until it is taken

How the steps end (`until`): "count", after ncycles cycles; "spent", with the cycle after which the datapath
says that nothing is left (`spent_n`); "noticed", in a cycle of its own, when nothing is left (`spent`), as
paper 004's Verilog does it.

Cycles from request to answer: ncycles + 1; max(1, cycles used) + 1; cycles used + 2; each 1 more with
has_last. Ports: the handshakes, `load`, `step` and `last` to the datapath.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import SendIfcRTL

from ...fl.status import Status
from ..states import states

OK = Status.OK


def declare_handshakes(s, status_nbits=0):
    """The handshakes of a control, with a status of so many bits."""
    s.istream_val = InPort()
    s.istream_rdy = OutPort()
    if status_nbits:
        s.in_status = InPort(status_nbits)
    s.ostream_val = OutPort()
    s.ostream_rdy = InPort()
    if status_nbits:
        s.out_status = OutPort(status_nbits)


def accept_when_loaded(s, FREE, LOAD, DONE):
    """Handshakes of a control that accepts a good request when it `ends` to load its numbers, any other at
    once.
    """
    s.good = Wire()

    @update
    def handshakes():
        s.good @= s.in_status == OK
        s.istream_rdy @= ((s.st == LOAD) & s.ends) | ((s.st == FREE) & s.istream_val & ~s.good)
        s.accept @= s.istream_val & s.istream_rdy
        s.ostream_val @= s.st == DONE


def connect_serial(s):
    """The streams of a unit `s` that has a SerialCtrl as s.ctrl."""
    s.istream.val //= s.ctrl.istream_val
    s.istream.rdy //= s.ctrl.istream_rdy
    s.ostream.val //= s.ctrl.ostream_val
    s.ostream.rdy //= s.ctrl.ostream_rdy


def connect_checked(s):
    """The same of a machine with an OperandCheck, whose status goes through s.ctrl."""
    connect_serial(s)
    s.operand_check.status //= s.ctrl.in_status
    s.ctrl.out_status //= s.ostream.msg.status


def answer_if_ok(s, result):
    """A machine answers with a result, and with 0 if there is none."""
    s.result = Wire(result.get_type())
    s.result //= result
    s.answer = Wire(result.get_type())
    s.ostream.msg.result //= s.answer

    @update
    def answer_or_zero():
        s.answer @= 0
        if s.ctrl.out_status == OK:
            s.answer @= s.result


def connect_pass(s, ncycles, counted):
    """A unit `s` that steps s.x to ostream: its PassCtrl, and the register."""
    s.ctrl = PassCtrl(ncycles, counted)
    if counted:
        s.last = InPort(counted)
        s.last //= s.ctrl.last
    connect_serial(s)

    @update_ff
    def data():
        if s.ctrl.load:
            s.x <<= s.istream.msg
        elif s.ctrl.step:
            s.x <<= s.ostream.msg


def answer_registered(s, value):
    """A unit `s` answers with a value that it makes of its request, registered."""
    s.out = Registered(value.get_type().nbits)
    s.out.x //= value
    s.out.in_val //= s.istream.val
    s.istream.rdy //= s.out.in_rdy
    s.ostream //= s.out.ostream


def count_steps(s):
    """s.count: the steps since the operands were loaded."""

    @update_ff
    def counter():
        if s.load:
            s.count <<= 0
        elif s.step:
            s.count <<= s.count + 1


class SerialCtrl(Component):
    def construct(s, ncycles, until="count", has_last=False):
        declare_handshakes(s)
        s.load = OutPort()
        s.step = OutPort()

        codes = {"IDLE": 0, "STEP": 1, "LAST": 2, "DONE": 3}
        IDLE, STEP, LAST, DONE = (b2(code) for code in codes.values())
        AFTER_STEPS = LAST if has_last else DONE
        s.st = Wire(2)
        states(s.st, **{name: code for name, code in codes.items() if has_last or name != "LAST"})
        s.ends = Wire()

        @update
        def outputs():
            s.istream_rdy @= (s.st == IDLE) | ((s.st == DONE) & s.ostream_rdy)
            s.load @= s.istream_rdy & s.istream_val

        @update
        def offers():
            s.ostream_val @= s.st == DONE

        if has_last:
            s.last = OutPort()

            @update
            def last_cycle():
                s.last @= s.st == LAST

        s.noticed = Wire()  # nothing is left, so that no step is made
        if until == "noticed":
            s.spent = InPort()
            s.ends //= s.spent
            s.noticed //= s.spent
        else:
            s.noticed //= 0

        @update
        def steps():
            s.step @= (s.st == STEP) & ~s.noticed

        if until == "spent":
            s.spent_n = InPort()
            s.ends //= s.spent_n
        elif until == "count":
            s.count_cycles(ncycles)

        @update_ff
        def state():
            if s.reset:
                s.st <<= IDLE
            elif s.load:
                s.st <<= STEP
            elif (s.st == STEP) & s.ends:
                s.st <<= AFTER_STEPS
            elif s.st == LAST:
                s.st <<= DONE
            elif s.ostream_val & s.ostream_rdy:
                s.st <<= IDLE

    def count_cycles(s, ncycles):
        """The count of the last cycle."""
        wide = max(1, clog2(ncycles))
        s.count = Wire(wide)
        s.final_count = Wire(wide)
        s.final_count //= ncycles - 1

        @update
        def ends_by_count():
            s.ends @= s.count == s.final_count

        count_steps(s)
        s.assertions = {"AnswersAfterLastStep": "!ostream_val || {count - 1'd1} == final_count"}

    def line_trace(s):
        return "ISLD"[int(s.st)]


class PassCtrl(Component):
    """The controller of a unit that answers in its last step.

    Cycles from request to answer: ncycles; with `counted`, `last` + 1, a port of so many bits, static while
    the unit is busy. Other ports as SerialCtrl's; the next operands are loaded in the cycle in which an
    answer is taken. That a cycle is the last one is found out in the cycle before: whoever takes an answer
    may have much to do with it.
    """

    PARAMETERS = ("ncycles", "counted")

    def construct(s, ncycles, counted=0):
        declare_handshakes(s)
        s.load = OutPort()
        s.step = OutPort()

        s.busy = Wire()
        s.count = Wire(counted or max(1, clog2(ncycles)))
        s.final_count = Wire(s.count.get_type())
        if counted:
            s.last = InPort(counted)
            s.final_count //= s.last
        else:
            s.final_count //= ncycles - 1

        s.fresh = Wire()  # first cycle of an operation, when `last` becomes valid
        s.at_end = Wire()
        s.ends = Wire()

        @update
        def offers():
            s.ends @= s.at_end | (s.fresh & (s.final_count == 0))
            s.ostream_val @= s.busy & s.ends
            s.step @= s.busy & ~s.ends

        s.assertions = {"AnswersInLastStep": "!ostream_val || count == final_count"}

        @update_ff
        def look_ahead():
            s.fresh <<= s.load
            if s.load:
                s.at_end <<= 0
            elif s.busy:
                s.at_end <<= s.ends | (s.count + 1 == s.final_count)

        @update
        def takes():
            s.istream_rdy @= ~s.busy | (s.ostream_val & s.ostream_rdy)
            s.load @= s.istream_rdy & s.istream_val

        @update_ff
        def state():
            if s.reset:
                s.busy <<= 0
            elif s.load:
                s.busy <<= 1
            elif s.ostream_val & s.ostream_rdy:
                s.busy <<= 0

        count_steps(s)

    def line_trace(s):
        return f"({s.count})" if s.busy else "( )"


class Registered(Component):
    """An output register with val/rdy handshakes, for combinational logic."""

    PARAMETERS = ("nbits",)

    def construct(s, nbits):
        s.x = InPort(nbits)
        s.in_val = InPort()
        s.in_rdy = OutPort()
        s.ostream = SendIfcRTL(mk_bits(nbits))
        s.full = Wire()
        s.value = Wire(nbits)
        s.ostream.val //= s.full
        s.ostream.msg //= s.value
        s.assertions = {"AnswerStays": ("full && !ostream__rdy", "{full, value}")}

        @update
        def ready():
            s.in_rdy @= ~s.full | s.ostream.rdy

        @update_ff
        def hold():
            if s.reset:
                s.full <<= 0
            elif s.in_rdy:
                s.full <<= s.in_val
            if s.in_val & s.in_rdy:
                s.value <<= s.x
