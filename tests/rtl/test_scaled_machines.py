"""ScaledModExp, a systolic array between converters: the table of exponentiations at all levels, in the same
cycles.
"""

from modexlab.cl.scaled_mod_exp import ScaledModExpCL, scaled_mod_exp_cycles
from modexlab.fl.mod_exp import operand_status
from modexlab.fl.multipliers.scaled import ScaledShape
from modexlab.fl.status import Status
from modexlab.rtl.mod_exp.systolic.scaled_mod_exp import ScaledModExp
from modexlab.rtl.sim import simulate

from tests.harness import agreed, any_operation, one_now, parametrize, ran, run_mod_exps
from tests.tables import mod_exp


class Machine:
    """One machine: its levels, its formula, and its restrictions."""

    odd_only = reduced_only = True
    modulus = 0  # any

    def __init__(self, nbits, w, doublings=1, halvings=1):
        self.nbits = self.modulus_nbits = nbits
        self.of = ScaledShape(nbits, w), doublings, halvings

    def at(self, _nbits):
        return self

    def carried(self, *operands):
        return operands

    def check(self, base, _exp, mod):
        return operand_status(base, mod, odd_only=True, reduced_only=True)

    def rtl(self):
        return ScaledModExp(*self.of)

    def cl(self):
        return ScaledModExpCL(*self.of)

    def cycles(self, base, exp, mod):
        shape, doublings, halvings = self.of
        converters = {"doublings_per_cycle": doublings, "halvings_per_cycle": halvings}
        return scaled_mod_exp_cycles(shape, base, exp, mod, **converters)


MACHINES = [
    Machine(8, 4, 4, 4),
    Machine(8, 5),
    Machine(8, 9, 3, 9),
    Machine(8, 4, 2, 2),
    Machine(8, 32, doublings=32, halvings=1),  # M' is complete last
]


def label(machine):
    shape, *converters = machine.of
    return f"w={shape.digit_nbits} {converters}"


@parametrize("machine", one_now(MACHINES, *MACHINES[:2]), ids=label)
def test_table_at_every_level(machine):
    """8 bits: CL and native RTL give the expected result in the same cycles, with stalls, and as the formula
    says.
    """
    rows = mod_exp.table(8)
    agreed(
        machine.cl, machine.rtl, lambda top, *where: run_mod_exps(top, rows, machine, 8, *where), ["native"]
    )
    with simulate(machine.rtl()) as sim:
        for row in rows:
            assert sim.run([row.request]).latencies == [machine.cycles(*row.request)], row


def test_operations_follow_each_other():
    """Three operations with three moduli are in flight at once, and each result is for its own modulus."""
    machine = MACHINES[0]
    requests = [(5, 200 + i, 0xF1 - 2 * i) for i in range(8)]
    run = ran(machine.rtl(), requests)
    assert run.responses == [(Status.OK, pow(*request)) for request in requests]
    assert any(run.accepted[i + 2] < run.done[i] for i in range(6))
    assert run.cycles < sum(machine.cycles(*request) for request in requests)


@parametrize("machine", one_now([MACHINES[1], Machine(16, 6, 3, 2)], MACHINES[1]), ids=label)
def test_any_exponentiation(machine):
    any_operation(machine, machine.nbits)
