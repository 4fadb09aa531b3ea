"""Spaces and the expressions of their constraints: the points of a file, and the refusals with their
messages.
"""

import itertools
import pickle
import random
import re
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import designs
from modexlab.eval.designs.protection import Requested
from modexlab.eval.lab import space
from modexlab.eval.lab.comparison.compare import compare, missing
from modexlab.eval.lab.metrics import METRICS, figure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.space import Space, by_operation
from modexlab.eval.lab.store.snapshot import Snapshot
from modexlab.eval.lab.store.store import Store
from modexlab.eval.papers.expression import Expression
from modexlab.eval.papers.published import NUMBERS, paper

from tests.command_line import picked
from tests.harness import parametrize, refused
from tests.paths import ROOT

PART = '[[part]]\ndesigns = ["mont"]\nnbits = [32]\n'
FIGURES = (
    figure("area_um2", 100.0),
    figure("energy_nj", 2.0, "encrypt"),
    figure("energy_nj", 5.0, "decrypt"),
)


# ---- expressions


@parametrize(
    "text, value",
    {
        "nbits * 2 + 1": 65,
        "2 ** nbits - 1": 2**32 - 1,
        "nbits // 5 % 4 - 1 / 4": 1.75,
        "8 <= nbits < 64": True,
        "8 <= nbits < 16": False,
        "not nbits == 32 or design == 'mont'": True,
        "design in ('naive', 'ssmm') and 1 / 0": False,
        "nbits not in [8, 16]": True,
        "forward == true": True,
        "-min(nbits, 4) + max(1, abs(-2)) + ceil(log2(nbits)) + floor(1.5)": 4,
        "energy_nj.decrypt < 6": True,
    }.items(),
)
def test_value(text, value):
    values = {"nbits": 32, "design": "mont", "forward": True, "energy_nj.decrypt": 5.5}
    found = Expression(text).value(values)
    assert found == value and type(found) is type(value)


def test_an_expression_is_its_text():
    """It can be pickled with a space, and equals its copy."""
    one, other = Expression("nbits <= 64"), Expression("nbits < 64")
    assert one == Expression("nbits <= 64") != other
    assert len({one, Expression("nbits <= 64"), other}) == 2
    whole = Space.parse(f'constraints = ["nbits < 64"]\n{PART}')
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert pickle.loads(pickle.dumps(one)).value({"nbits": 64}) is True


def test_names():
    text = "nstages * steps_per_stage <= max(nbits, energy_nj.decrypt) or carry_save == false"
    names = {"nstages", "steps_per_stage", "nbits", "energy_nj.decrypt", "carry_save"}
    assert Expression(text).names == names


@parametrize(
    "text, message",
    {
        "nbits <": 'expression "nbits <": invalid syntax',
        "": 'expression ""',
        "__import__('os').system('true')": "is not possible here",
        "eval('1')": "unknown function in the expression",
        "mx(1, 2)": "did you mean 'max'",
        "(lambda: 1)()": "is not possible here",
        "[each for each in (1, 2)]": "is not possible here",
        "nbits.real.imag": "is not possible here",
        "f'{nbits}'": "is not possible here",
        "min(*nbits)": "is not possible here",
        "None": "None is not possible here",
        "nbits & 1": "is not possible here",
        "x := 3": "invalid syntax",
        "1" * 600: "expression of 600 characters",
        "(" * 300 + "1" + ")" * 300: "expression of 601 characters",
    }.items(),
)
def test_refused_expressions(text, message):
    with refused(re.escape(message)):
        Expression(text)


@parametrize(
    "text",
    [
        "1 / (nbits - 32)",
        "9 ** 9 ** 9",
        "2 ** 99999",
        "design + 1",
        "design * 10 ** 9",
        "[1] * 10 ** 15",
        "[nbits] + [1]",
        "nbits < design",
        "log2(0)",
    ],
)
def test_expressions_without_a_value(text):
    with refused("has no value for"):
        Expression(text).value({"nbits": 32, "design": "mont"})


@given(st.recursive(
    st.sampled_from(["a", "b", "3", "2.5"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "<", ">=", "==", "and", "or"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        inner.map(lambda text: f"(not {text})"),
        inner.map(lambda text: f"(-{text})"),
    ),
    max_leaves=12,
))  # fmt: skip
def test_expressions_mean_what_python_means(text):
    values = {"a": 5, "b": -2}
    assert Expression(text).value(values) == eval(text, {"__builtins__": {}}, dict(values))


# ---- points


def points(text):
    return list(Space.parse(text).points())


def test_a_part_is_a_product():
    found = points("""
[[part]]
designs = ["mont", "naive"]
nbits = {from = 16, to = 64, factor = 2}
workloads = ["encrypt", "decrypt"]
stages = ["formula", "flow"]
[part.set]
nstages = [1, 2]
steps_per_stage = [8]
[part.flow]
clock_period = [2, 3.0]
""")
    steps = {"steps_per_stage": 8}
    by_hand = {
        Point(name, nbits, settings, **fields)
        for name, settings in (("mont", steps), ("mont", {"nstages": 2, **steps}), ("naive", {}))
        for nbits in (16, 32, 64)
        for fields in (
            *({"stage": "formula", "workload": work} for work in ("encrypt", "decrypt")),
            *({"stage": "flow", "flow": {"clock_period": clock}} for clock in (2.0, 3.0)),
        )
    }
    assert set(found) == by_hand and len(found) == len(by_hand) == 36


def test_points_come_one_at_a_time():
    """A space that does not fit into memory."""
    huge = Space.parse("""
[[part]]
designs = "all"
nbits = {from = 8, to = 4096}
[part.set]
modulus = {from = 3, to = 99999, step = 2}
digit_nbits = {from = 4, to = 32}
""")
    assert huge.size() > 10**9
    assert len(list(itertools.islice(huge.points(), 5))) == 5


def test_what_stands_twice_is_measured_once():
    again = f"{PART}[part.set]\nnstages = [1]\n"  # the default value
    assert points(PART + again) == points(PART) == [Point("mont", 32)]
    assert Space.parse(PART + again).size() == 2


def test_impossible_points_are_counted():
    some = Space.parse(f"{PART}[part.set]\nnstages = [1, 3, 4]\nsteps_per_stage = [8]\n")
    assert [dict(point.settings).get("nstages", 1) for point in some.points()] == [1, 4]
    ((what, why),) = some.impossible.items()
    assert "nstages=3" in what and "does not divide" in why
    assert len(list(some.points())) == 2 and len(some.impossible) == 1  # not twice as many


def test_parameters_go_to_designs_that_have_them():
    found = points('[[part]]\ndesigns = "all"\nnbits = [16]\n[part.set]\ncarry_save = [false, true]\n')
    having = {design.name for design in designs() if "carry_save" in {param.name for param in design.params}}
    assert {point.subject for point in found if point.settings} == having
    assert len(found) == len(designs()) + len(having)


def test_designs_by_what_they_are():
    found = points('[[part]]\nnbits = [32]\ndesigns = {family = ["MontMulRem"], paper = [""]}\n')
    assert {point.subject for point in found} == {"mont", "mont-ct", "mont-keyed"}


def test_machines_by_what_they_promise():
    """A setting decides like the design, in selectors and in constraints; a search obeys them too."""

    def chosen(text):
        return {(point.subject, point.resolved["schedule"]) for point in points(text)}

    plain = "[[part]]\nnbits = [32]\ndesigns = {constant_time = true}\n"
    text = f'{plain}[part.set]\nschedule = ["ladder", "left-to-right"]\n'
    found = chosen(text)
    assert {("mont", "ladder"), ("ssmm-ct", "ladder")} <= found
    assert not {("ssmm", "ladder"), ("mont", "left-to-right")} & found
    assert (
        chosen("constraints = ['constant_time']\n" + text.replace("{constant_time = true}", '"all"')) == found
    )
    assert "heap" in {subject for subject, _ in chosen(plain)}
    space = Space.parse(text.replace("{constant", '{family = ["ShiftSub"], paper = [""], constant'))
    assert space.sample(lambda name, values: "ssmm" if name == "design" else values[0]) is None
    assert space.left_out == {"constant_time == true": 1}
    with refused("constant_time = 'often': give true, or false"):
        points(plain.replace("true", '"often"'))


def test_ranges():
    def widths(text):
        return [point.nbits for point in points(f'[[part]]\ndesigns = ["naive"]\nnbits = {text}\n')]

    assert widths("{from = 8, to = 33, step = 8}") == [8, 16, 24, 32]
    assert widths("{from = 30, to = 32}") == [30, 31, 32]
    assert widths("{from = 32, to = 4096, factor = 2}") == [32 << i for i in range(8)]
    assert widths("64") == [64]
    clocks = points(
        f'{PART}stages = ["flow"]\n[part.flow]\nclock_period = {{from = 1.9, to = 2.2, step = 0.1}}'
    )
    assert [dict(clock.flow)["clock_period"] for clock in clocks] == [1.9, 2.0, 2.1, 2.2]


# ---- constraints


def test_constraints_before_measuring():
    some = Space.parse("""
constraints = ["nstages * steps_per_stage <= 16", "design != 'ssmm' or nbits < 32"]
[[part]]
designs = ["mont", "ssmm", "naive"]
nbits = [16, 32]
stages = ["formula"]
[part.set]
nstages = [1, 2, 4]
""")
    found = [(point.subject, point.nbits, point.resolved.get("nstages")) for point in some.points()]
    assert found == [
        ("mont", 16, 1), ("mont", 16, 2), ("mont", 32, 1), ("mont", 32, 2),
        ("ssmm", 16, None), ("naive", 16, None), ("naive", 32, None),
    ]  # fmt: skip
    assert some.left_out == {"nstages * steps_per_stage <= 16": 1, "design != 'ssmm' or nbits < 32": 1}
    assert len(some.impossible) == 1  # 4 stages of 8 at 16 bits


def test_constraints_on_figures():
    some = Space.parse(
        'constraints = ["area_um2 < 50", "energy_nj < 3", "energy_nj.encrypt < 3", "nbits > 8", '
        '"die_um2 < 1"]\n' + PART + 'stages = ["flow"]'
    )
    flow = Point("mont", 32, stage="flow")
    # a constraint on the die does not apply without one
    assert some.after(flow, FIGURES) == ["area_um2 < 50", "energy_nj < 3"]
    assert some.after(flow, FIGURES[1:2]) == [] == some.before(flow)
    assert by_operation(FIGURES)[0]["energy_nj"] == 5.0


def test_contradicting_constraints():
    some = Space.parse(f'constraints = ["nbits > 32", "nbits < 32"]\n{PART}')
    with refused('the space is empty: of 1 points, constraint "nbits > 32" leaves out 1'):
        list(some.points())


def test_nothing_but_impossible_points():
    some = Space.parse(f"{PART}[part.set]\nnstages = [3, 5]\n")
    with refused(r"of 2 points, 2 are impossible, as mont, .*nstages = 3 does not divide"):
        list(some.points())


# ---- axes for a search

SEARCHED = """
constraints = ["nstages * steps_per_stage <= 32"]
[[part]]
designs = ["mont", "ssmm"]
nbits = [16, 32]
stages = ["native", "flow"]
[part.set]
nstages = [1, 2]
steps_per_stage = [4, 8]
bits_per_cycle = [1, 2]
[part.flow]
clock_period = [2.0, 3.0]
[[part]]
designs = ["naive"]
nbits = [8]
"""


def test_sampling_reaches_all_points_and_no_others():
    some = Space.parse(SEARCHED)
    generator = random.Random(1)
    axes = some.parameters

    def choose(name, values):
        assert tuple(values) == axes[name]
        return generator.choice(values)

    assert {some.sample(choose) for _ in range(1500)} == set(some.points())


def test_sampling_refuses_what_constraints_refuse():
    some = Space.parse(f'constraints = ["nbits < 32"]\n{PART}')
    assert some.sample(lambda _, values: values[0]) is None
    assert some.left_out == {"nbits < 32": 1}


# ---- refusals


@parametrize(
    "text, message",
    {
        "title = ": "this is no TOML",
        "": "a space without a part; add [[part]]",
        "part = []": "a space without a part",
        f"objectves = 1\n{PART}": "unknown key 'objectves': did you mean 'objectives'",
        f"title = 1\n{PART}": "title: give text, not a whole number",
        f'{PART}desings = "all"': "unknown key of [part[0]] 'desings': did you mean 'designs'",
        "[[part]]\nnbits = [32]": "part[0]: designs is missing",
        '[[part]]\ndesigns = ["mont"]': "nbits is missing",
        '[[part]]\ndesigns = ["mnt"]\nnbits = [32]': "unknown design 'mnt': did you mean 'mont'",
        '[[part]]\ndesigns = ["proc-nave"]\nnbits = [32]': "did you mean 'proc-naive'",
        "[[part]]\ndesigns = []\nnbits = [32]": "designs is empty",
        "[[part]]\ndesigns = {famly = 1}\nnbits = [32]":
         "unknown selector of designs 'famly': did you mean 'family'",
        '[[part]]\ndesigns = {family = "MulRm"}\nnbits = [32]':
         "unknown family 'MulRm': did you mean 'MulRem'",
        '[[part]]\ndesigns = {family = "MulRem", paper = "004"}\nnbits = [32]':
         "no design has family = 'MulRem'",
        '[[part]]\ndesigns = ["mont"]\nnbits = []': "nbits is empty",
        '[[part]]\ndesigns = ["mont"]\nnbits = ["x"]': "widths are whole numbers",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = 8}': "part[0].nbits: to is missing",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = 8, to = 16, stp = 2}': "did you mean 'step'",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = 16, to = 8}': "the range from 16 to 8 is empty",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = 8, to = 16, step = 0}': "step = 0 does not go up",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = 8, to = 16, factor = 1}': "does not go up",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = 8, to = 16, step = 2, factor = 2}': "not both",
        'part = [{designs = "mont", nbits = {to = "x", from = 8}}]':
         "part[0].nbits.to: give a whole number or a number, not text",
        f'{PART}stages = ["natve"]': "unknown stage 'natve': did you mean 'native'",
        f"{PART}stages = []": "stages is empty",
        f'{PART}interfaces = ["axi"]': "unknown interface 'axi'",
        f'{PART}workloads = ["decript"]': "unknown workload 'decript': did you mean 'decrypt'",
        f"{PART}workloads = 3": "part[0].workloads: give text or a list, not a whole number",
        f"{PART}[part.set]\nnstage = [1]":
         "unknown parameter of these designs 'nstage': did you mean 'nstages'",
        f'{PART}[part.set]\nadd_red = ["kok"]': "add_red = kok is not possible",
        f"{PART}[part.set]\nnstages = [0]": "nstages = 0 is not possible; give 1 or more",
        f"{PART}[part.set]\nnstages = [[1]]":
         "give true or false, a whole number, a number or text, not a list",
        f"{PART}set = 3": "part[0].set: give a table, not a whole number",
        f"{PART}[part.flow]\nclock_period = [2]": "settings of the flow without such a stage",
        f'{PART}stages = ["flow"]\n[part.flow]\nclock_perid = [2]': "did you mean 'clock_period'",
        'objectives = {area = "min"}\n' + PART: "unknown metric 'area': did you mean 'area_um2'",
        'objectives = {area_um2 = "min"}\n' + PART:
         "no stage of this space (native) measures it; add one of stages flow",
        'objectives = {cycles = "less"}\n' + PART: 'give "min" or "max"',
        "objectives = {}\n" + PART: "objectives = {}: give a direction",
        f'constraints = ["nstage < 3"]\n{PART}': "'nstage': did you mean 'nstages'",
        f'constraints = ["carry_save"]\n{PART}':
         "unknown name in the expression",  # no design of this space has this parameter
        f'constraints = ["area_um2 <"]\n{PART}': "invalid syntax",
        f'{PART}{PART}stages = ["x"]': "part 2: unknown stage",
        'objectives = {cycles = ["min"]}\n' + PART: "give text, not a list",
        'objectives = {cycles = {a = 1}}\n' + PART: "give text, not a table",
        f'constraints = ["cycles.decrpt < 5"]\n{PART}workloads = ["decrypt"]':
         "did you mean 'cycles.decrypt'",
        f'constraints = ["cycles.decrypt < 5"]\n{PART}':
         "did you mean 'cycles.encrypt'",  # no workload decrypts
        f'constraints = ["energy_nj.decript < 5"]\n{PART}stages = ["flow"]':
         "did you mean 'energy_nj.decrypt'",
        f'constraints = ["area_um2.decrypt < 5"]\n{PART}stages = ["flow"]':
         "unknown name in the expression",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = 8, to = inf}': "to: inf is no number to measure at",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = 8, to = 16, step = nan}': "step: nan is no number",
        '[[part]]\ndesigns = ["mont"]\nnbits = [-inf]': "nbits: -inf is no number",
        f'{PART}stages = ["flow"]\n[part.flow]\nclock_period = [nan]': "clock_period: nan is no number",
        f'[[part]]\ndesigns = ["mont"]\nnbits = {{from = 8, to = {"9" * 400}}}': "goes further than numbers",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = 8, to = 999999999999}': "give at most 100000",
        f'[[part]]\ndesigns = ["mont"]\nnbits = {{from = 8, to = {"9" * 400}, step = 0.5}}':
         "goes further than numbers",
        f'[[part]]\ndesigns = ["mont"]\nnbits = {{from = 8, to = {"9" * 400}, factor = 1.5}}':
         "goes further than numbers",
        '[[part]]\ndesigns = ["mont"]\nnbits = {from = -1e308, to = 1e308}': "goes further than numbers",
        f"title = {'9' * 5000}\n" + PART: "a number with thousands of digits",
        f'[[part]]\ndesigns = ["mont"]\nnbits = [0x{"f" * 5000}]': "is too long; give at most 5000 bits",
        f"x = {'[' * 5000}": "lists in lists",
    }.items(),
)  # fmt: skip
def test_refused_spaces(text, message):
    with refused(re.escape(message)) as error:
        Space.parse(text)
    assert "\n" not in str(error.value)


def test_files(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f'title = "mine"\n{PART}')
    assert Space.load(path).title == "mine"
    path.write_text(f"{PART}x = 1")
    with refused(r"^mine\.toml: unknown key"):
        Space.load(path)
    path.write_bytes(b"\xff\xfe")
    with refused("line 1: this is no text"):
        Space.load(path)
    with refused("cannot be read: No such file"):
        Space.load(tmp_path / "no.toml")
    with refused("cannot be read: Is a directory"):
        Space.load(tmp_path)
    with refused(r"unknown space 'corse': did you mean 'course'.*or give a file"):
        Space.load("corse")


# ---- ready-made spaces

PAPERS = [f"paper-{number}" for number in NUMBERS]
READY_MADE = ["cores", "course", "exploration", "kits", *PAPERS, "passes", "report", "silicon", "widths"]


def test_ready_made_names():
    assert list(space.names()) == READY_MADE


@parametrize("name", READY_MADE)
def test_ready_made_spaces(name):
    """Every point can be made and has a command, every objective is measured at some stage, and most points
    are possible.
    """
    ready_made = Space.load(name)
    found = list(ready_made.points())
    assert ready_made.title and ready_made.description and found
    assert len(found) + len(ready_made.impossible) + sum(ready_made.left_out.values()) <= ready_made.size()
    assert len({point.key for point in found}) == len(found)
    assert all(point.command[0] == "modexlab" for point in found)
    stages = {point.stage for point in found}
    assert all(stages.intersection(METRICS[metric].stages) for metric in ready_made.objectives)
    assert len(ready_made.impossible) < len(found)


@parametrize("number", ["000", "001", "004"])
def test_a_papers_space_has_what_its_comparison_asks_for(number, tmp_path):
    """After a paper's space is measured, no figure is missing that takes a minute or two."""
    asked = missing(compare(paper(number).figures(), Snapshot(Store(tmp_path / "empty.jsonl")))).quick
    assert asked
    assert set(asked) <= set(Space.load(f"paper-{number}").points())


def test_the_course_has_gates():
    assert len([point for point in Space.load("course").points() if point.stage == "flow"]) > 10


def test_the_report_has_the_recommended_designs_and_simulates_what_it_draws():
    """fold and heap go through the flow; simulation confirms every formula in the chart by width."""
    points = {picked(point, "stage subject nbits") for point in Space.load("report").points()}
    assert {("flow", "fold", 32), ("flow", "heap", 32)} <= points
    widths = Counter(subject for stage, subject, _ in points if stage == "formula")
    drawn = {subject for subject, count in widths.items() if count > 1}
    assert {"fold", "heap"} <= drawn <= {subject for stage, subject, _ in points if stage == "native"}


def test_an_accelerator_of_the_command_line(cli, tmp_path, monkeypatch):
    """The file names it, from any folder; parts without it are left alone."""
    monkeypatch.chdir(tmp_path)
    part = '[[part]]\ndesigns = ["{}"]\nnbits = [16]\nstages = ["python"]\n'
    Path("lanes.toml").write_text(part.format("gcd") + part.format("mont"))
    folder = ROOT / "eval" / "examples" / "gcd"
    found = Space.parse(Path("lanes.toml").read_text(), {"gcd": f"gcd@{folder}"})
    assert [part.subjects for part in found.parts] == [(f"gcd@{folder}",), ("mont",)]
    command = f"sweep lanes.toml --dry-run --accelerator {folder}"
    assert "2 points" in cli.passes(command).out
    assert "unknown design 'gcd'" in cli.fails("sweep lanes.toml --dry-run")


def test_workloads_of_the_flow():
    """The flow measures all workloads at once."""
    with refused(r"workloads = \['encrypt'\] at stages flow: .*; drop workloads, or add a stage"):
        Space.parse(f'{PART}workloads = ["encrypt"]\nstages = ["flow"]\n')


# ---- protections


def test_protections_of_a_space():
    """They apply as in other commands; the file takes precedence, and machines with a key decrypt."""
    text = 'designs = ["mont", "mont-keyed", "heap"]\nnbits = [8, 32, 64]\nworkloads = ["encrypt"]\n'
    wide = Space.parse(f"[[part]]\n{text}[part.set]\nfit = ['machine']\n")
    requested = Requested(crt=True, blind="message")
    for point in (points := list(wide.protected(requested).points())):
        chosen = {"fit": "machine"} if point.subject == "mont-keyed" else {}
        expected = point.design.at(point.nbits, **requested.settings(point.design, point.nbits, chosen))
        assert point.machine.parameters == expected.parameters and point.workload == "decrypt"
    assert {point.subject for point in points} == {"mont-keyed", "heap"}
    assert wide.protected(Requested()) is wide
    with refused("with mont: no design there has a program; add mont-keyed or heap"):
        Space.parse(PART).protected(requested)
