"""The one harness: a table of rows goes through a component at a backend, and every row is judged."""

import json
import operator
import os
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import designs
from modexlab.eval.lab import content
from modexlab.fl.domains import make_domain
from modexlab.fl.errors import BadInput
from modexlab.rtl.sim import Stall, simulate
from pymtl3 import DefaultPassGroup
from pymtl3.dsl import Signal

from tests.tables.rows import ModExpRow

# the marks that most tests have
parametrize, regress = pytest.mark.parametrize, pytest.mark.regress
module_fixture = pytest.fixture(scope="module")
untraced = pytest.mark.usefixtures("untraced")
CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Debian's package chromium is missing")
HAS_OPENSTA = shutil.which("sta") is not None
NO_OPENSTA = "Debian's package opensta is missing"
needs_opensta = pytest.mark.skipif(not HAS_OPENSTA, reason=NO_OPENSTA)
NAME = operator.attrgetter("name")  # the id of a design
RTL_BACKENDS = ("python", "verilog", "native")  # gates, which takes a synthesis, has tests of its own
# the first design of each multiplier stands for it where a mechanism is tested; `make regress` has the others
FIRST = {design.family: design for design in reversed(designs())}
WIDTHS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


# families of the same structure as one before them, with tables and tests of their own
ALIKE = ("ScaledSystolic", "WordSerial", "HeapMont")


def is_sibling(design):
    """Another design before it has the same multiplier, or one of the same structure."""
    return FIRST[design.family] is not design or design.family in ALIKE


def regress_if(later, of=""):
    """The marks of a case that may be left to `make regress`; `make check` of the design `of` runs it."""
    return [regress(of=of)] if later else []


def one_now(cases, *now):
    """Cases of one mechanism: `make test` runs those of `now`, `make regress` all of them."""
    listed = list(cases)
    assert all(case in listed for case in now), f"not all of {now} are cases"
    return [
        pytest.param(case, marks=regress_if(case not in now), id=getattr(case, "name", None))
        for case in listed
    ]


def later(*cases):
    """Cases of several values that are left to `make regress`."""
    return [pytest.param(*case, marks=regress) for case in cases]


def each_design(*now):
    """Every design of the catalogue; `make test` runs those of `now`, or all of them."""
    cases = [
        pytest.param(design, id=design.name, marks=regress_if(now and design.name not in now, of=design.name))
        for design in designs()
    ]
    return parametrize("design", cases)


def case(design, *values, later=True, **settings):
    """A design, or its name, with its settings as a case; without `later` it is in `make test`."""
    name = getattr(design, "name", design)
    words = [*map(str, (name, *values)), *(f"{key}={value}" for key, value in settings.items())]
    return pytest.param(design, *values, settings, id=" ".join(words), marks=regress_if(later))


def examples(count):
    """`count` Hypothesis examples in `make test`, ten times as many in `make regress`."""
    return count * int(os.environ.get("MODEXLAB_EXAMPLES_FACTOR", "1"))


def draws(count, *values, **named):
    """A property of so many examples, drawn from these strategies or from those of a `given` below."""
    limited = settings(max_examples=examples(count))
    return (lambda test: limited(given(*values, **named)(test))) if values or named else limited


def any_word(nbits):
    """A number of so many bits at most."""
    return st.integers(0, (1 << nbits) - 1)


def any_odd(nbits):
    """An odd number of so many bits at most."""
    return any_word(nbits - 1).map(lambda half: 2 * half + 1)


def of_every_length(nbits, rng):
    """Numbers of every length: the least, the largest, and a random one."""
    for top in (1 << place for place in range(nbits)):
        yield from (top, 2 * top - 1, top | rng.randrange(top))


def accessed(component, accesses, backend="native", **options):
    """The answers of an interface, as numbers."""
    return [tuple(map(int, answer)) for answer in ran(component, accesses, backend, **options).responses]


def any_stream(rtl, cl, moduli, factors, request_of, judge):
    """Hypothesis: any stream of products with any delays and stalls; CL and RTL agree in every stamp.

    request_of: a modulus and two numbers -> a request and its statics; judge: (modulus, request, answer).
    """
    row = st.tuples(moduli, factors, factors, st.integers(0, 9), st.integers(0, 9))
    rate = st.sampled_from([0.0, 0.3, 0.8])
    with simulate(rtl, "native") as hardware, simulate(cl, "python") as twin:

        @draws(60, st.lists(row, min_size=1, max_size=8), st.booleans(), st.integers(0, 2**31), rate, rate)
        def check(drawn, alike, seed, source, sink):
            used = [drawn[0][0] if alike else row[0] for row in drawn]
            made = [request_of(n, a, b) for n, (_, a, b, *_) in zip(used, drawn, strict=True)]
            requests = [request for request, _ in made]
            options = {
                "statics": [static for _, static in made],
                "source_delays": [before for *_, before, _ in drawn],
                "sink_delays": [after for *_, after in drawn],
                "stall": Stall(seed, source, sink),
            }
            run, other = (sim.run(requests, **options) for sim in (hardware, twin))
            assert run == other
            for n, request, answer in zip(used, requests, run.responses, strict=True):
                judge(n, request, answer)

        check()


def any_operation(design, nbits, **settings):
    """Hypothesis: arbitrary operands of a machine, legal or not: status, result and formula."""
    machine, word = design.at(nbits, **settings), any_word(nbits)
    with simulate(machine.rtl(), "native") as simulation:

        @draws(300, word, word, word, st.booleans())
        def check(base, exp, mod, legal):
            if legal:
                mod = machine.modulus or mod | 1
                base %= mod
            row = ModExpRow("drawn", base, exp, mod)
            status, result = row.golden(design, nbits, **settings)
            run = simulation.run([machine.carried(*row.request)])
            assert run.responses == [(status, result)]
            assert run.latencies == [machine.cycles(*row.request)]
            assert machine.check(*row.request) == status

        check()


def code_of(notebook):
    """The code of a notebook's cells."""
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    return ["".join(cell["source"]) for cell in cells]


def forget_content():
    """Digests of code are computed anew: a process keeps them otherwise."""
    content._methods_of.cache_clear()
    content._KNOWN.clear()
    content._FORMULAS.clear()


def stepped(component):
    """A component to be driven cycle by cycle, behind its reset."""
    component.elaborate()
    component.apply(DefaultPassGroup(linetrace=False))
    component.sim_reset()
    return component


def signals_of(component):
    """Every signal of a component and its subcomponents."""
    signals = component.get_all_object_filter(
        lambda item: isinstance(item, Signal) and item.is_top_level_signal()
    )
    return {repr(signal): str(eval(repr(signal), {"s": component})) for signal in signals}


def evaluated(component, **inputs):
    """A combinational component with these inputs."""
    for name, value in inputs.items():
        port = getattr(component, name)
        port @= value
    component.sim_eval_combinational()
    return component


def finished(command, **options):
    """A program that has ended, with its output as text."""
    return subprocess.run(command, capture_output=True, text=True, **options)


def refused(match=None):
    """A context in which a bad input is reported, by a message that matches."""
    return pytest.raises(BadInput, match=match)


def expect(found, **values):
    """Check attributes of an object, which is returned."""
    assert {name: getattr(found, name) for name in values} == values
    return found


def refuses(call, *words):
    """A bad input is reported, with these words."""
    with pytest.raises(BadInput) as refused:
        call()
    assert all(word in str(refused.value) for word in words), refused.value


def bad_calls(*rows):
    """A test: each row is a call, its arguments, and a pattern of the message that refuses them."""

    @parametrize("row", rows, ids=[row[-1] for row in rows])
    def test(row):
        call, *arguments, message = row
        with refused(message):
            call(*arguments)

    return test


def ran(component, requests, backend="native", **options):
    """The run of a new simulation, which ends with it."""
    with simulate(component, backend) as sim:
        return sim.run(requests, **options)


def ran_alike(make, requests, **options):
    """The run of a component, which is the same with every backend."""
    run, *others = (ran(make(), requests, backend, **options) for backend in RTL_BACKENDS)
    assert all(other == run for other in others)
    return run


def agreed(twin, rtl, run, backends=RTL_BACKENDS):
    """The run of a twin, which is that of the hardware with these backends, also with stalls.

    run: component, backend and stall -> run.
    """
    for stall in (Stall(seed=3, source=0.3, sink=0.4), None):
        expected = run(twin(), "python", stall)
        for backend in backends:
            assert run(rtl(), backend, stall) == expected, backend
    return expected


def agree_in_cycles(request, **levels):
    """AssertionError that names the levels which differ in cycles."""
    assert len(set(levels.values())) == 1, f"{request}: " + ", ".join(
        f"{name} takes {cycles} cycles" for name, cycles in levels.items()
    )


def delays(rows):
    """The delay columns of a table."""
    return {
        "source_delays": [row.source_delay for row in rows],
        "sink_delays": [row.sink_delay for row in rows],
    }


def residue(row, domain, nbits):
    """Return a multiplier's answer in the domain: the product itself, or the product by 1/R."""
    scale = pow(1 << nbits, -1, row.mod) if domain == "montgomery" and row.mod > 1 else 1
    return row.a * row.b * scale % row.mod


def sent(component, rows, backend, stall=None, **options):
    """All rows through a component."""
    return ran(component, [row.request for row in rows], backend, stall=stall, **delays(rows), **options)


def run_products(unit, rows, domain, nbits, backend, stall=None):
    """All rows through a multiplier; each answer is compared with the row's."""
    run = sent(unit, rows, backend, stall, statics=[{"modulus": row.mod} for row in rows])
    for row, answer in zip(rows, run.responses, strict=True):
        row.judge(answer, residue(row, domain, nbits), f"backend {backend}")
    return run


def run_mod_exps(machine, rows, design, nbits, backend, stall=None, **settings):
    """All rows through a machine; status and result of each are compared with the row's."""
    with simulate(machine, backend) as simulation:
        return judged_mod_exps(simulation, rows, design, nbits, stall, **settings)


def run_native(design, rows, nbits, stall=None, **settings):
    """All rows through the hardware of a design, natively."""
    return run_mod_exps(design.at(nbits, **settings).rtl(), rows, design, nbits, "native", stall, **settings)


def check_native(design, rows, nbits, **settings):
    """The same, and its cycles by the formula."""
    run = run_native(design, rows, nbits, **settings)
    check_formula(design, rows, run, nbits, **settings)
    return run


def check_powers(machine, operands):
    """Operations that a machine takes, natively: the powers."""
    run = ran(machine.rtl(), [machine.carried(*operand) for operand in operands])
    assert run.responses == [(0, pow(*operand)) for operand in operands]
    return run


def judged_mod_exps(simulation, rows, design, nbits, stall=None, **settings):
    """All rows through a simulated machine; status and result of each are compared with the row's."""
    carried = design.at(nbits, **settings).carried
    run = simulation.run([carried(*row.request) for row in rows], stall=stall, **delays(rows))
    for row, answer in zip(rows, run.responses, strict=True):
        row.judge(answer, row.golden(design, nbits, **settings), f"backend {simulation.backend}")
    return run


def check_fl_products(rows, domain, nbits):
    """Every row at the functional level."""
    for row in rows:
        answer = make_domain(domain, row.mod, nbits).product(row.a, row.b)
        row.judge(answer, residue(row, domain, nbits), "the functional level")


def check_fl_mod_exps(design, rows, nbits, **settings):
    """Every row at the functional level."""
    machine = design.at(nbits, **settings)
    for row in rows:
        row.judge(machine.fl(*row.request), row.golden(design, nbits, **settings), "the functional level")


def check_formula(design, rows, run, nbits, **settings):
    """The closed formula on the rows without delays whose machine was idle when they came."""
    cycles = design.at(nbits, **settings).cycles
    free = -1
    for row, accepted, done in zip(rows, run.accepted, run.done, strict=True):
        if row.sink_delay == 0 and accepted > free:
            row.judge(done - accepted, cycles(*row.request), "in cycles, the hardware")
        free = done
