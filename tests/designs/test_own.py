"""Accelerators outside the repository: written by `modexlab new accelerator`, found, and checked at all
levels.
"""

import math
import shutil
import zlib
from pathlib import Path

import modexlab
import pytest
from hypothesis import strategies as st
from modexlab.eval.designs import catalogue, levels, own
from modexlab.eval.designs.interfaces import COUPLINGS
from modexlab.eval.designs.own_template import files
from modexlab.eval.designs.soc_system import System, Xcel
from modexlab.fl.errors import BadInput
from modexlab.fl.param import Count
from modexlab.proc.software.call_header import call_header
from modexlab.proc.software.compiler import compile_program
from modexlab.proc.software.elf import load_elf

from tests.command_line import refusals
from tests.harness import draws, one_now, parametrize, refused
from tests.paths import ROOT

EXAMPLES = ROOT / "eval" / "examples"
EACH_EXAMPLE = parametrize("name", one_now(("crc", "gcd", "inverse"), "gcd"))
GCD = EXAMPLES / "gcd"
FIELDS = st.dictionaries(
    st.text("abcdefg", min_size=1, max_size=3), st.integers(1, 40), min_size=1, max_size=4
)
COUPLED = parametrize("interface", COUPLINGS)


def written(folder, name="gcd", request=(("a", 16), ("b", 16)), response=(("g", 16),)):
    """The folder of `modexlab new accelerator`."""
    folder.mkdir()
    for file, text in files(name, request, response).items():
        (folder / file).write_text(text)
    return folder


def replaced(folder, file, old, new):
    """The folder with another text in a file."""
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    return folder


@draws(5, FIELDS, FIELDS)
def test_a_new_accelerator_passes(tmp_path_factory, request, response):
    folder = tmp_path_factory.mktemp("new") / "mine"
    try:
        written(folder, "mine", tuple(request.items()), tuple(response.items()))
    except BadInput:  # such as a field `as`, a keyword of Python
        return
    design = modexlab.accelerator(folder)
    assert modexlab.check_levels(design.at(design.usual_nbits), ["cl", "python"])
    for interface in COUPLINGS:
        assert called(folder / "mine.c", design, interface) == 0


def called(program, design, interface="xcel", level="fl"):
    """The exit code of a program that calls an accelerator on the processor."""
    xcel = Xcel(design, design.usual_nbits, {}, interface)
    image = load_elf(compile_program([program], headers=xcel.header()))
    with System(xcel, level=level) as system:
        return system.run(image).exit_code


@parametrize("level", one_now(("fl", "rtl"), "fl"))
@COUPLED
@EACH_EXAMPLE
def test_programs_call_the_examples(name, interface, level):
    folder = EXAMPLES / name
    assert called(folder / f"{name}.c", modexlab.accelerator(folder), interface, level) == 0


@COUPLED
def test_a_number_that_is_too_wide_has_the_result_0(tmp_path, interface):
    """Without a result, reading it on the bus is an access fault."""
    program = tmp_path / "wide.c"
    program.write_text('#include "gcd.h"\nint main(void) { return gcd_call(65536, 1) != 0; }\n')
    assert called(program, modexlab.accelerator(GCD), interface) == 0


@COUPLED
def test_results_that_gcc_knows_to_be_set(tmp_path, interface, capfd):
    """A refused request sets the results too, so that programs compile without a warning."""
    folder = written(tmp_path / "gcd", response=(("g", 16), ("h", 16)))
    program = folder / "gcd.c"
    program.write_text(
        '#include "gcd.h"\nint main(void) { uint32_t g, h; gcd_call(1, 2, &g, &h); return g + h != 6; }\n'
    )
    assert called(program, modexlab.accelerator(folder), interface) == 0
    assert "warning" not in capfd.readouterr().err


def test_a_wrong_accelerator_fails_the_program(tmp_path):
    folder = replaced(written(tmp_path / "gcd"), "accelerator.py", "total = a + b", "total = a - b")
    assert called(folder / "gcd.c", modexlab.accelerator(folder)) == 1


def test_names_in_c():
    """A reserved word of C, and a name in both request and response."""
    shape = modexlab.Shape((("int", 8), ("b", 40)), (("status", 2), ("b", 8), ("c", 40)))
    text = call_header("a-b", 40, shape)
    assert "uint32_t a_b_call(uint32_t int_, const uint32_t b[2], uint32_t *b_out, uint32_t c[2]) {" in text


ORACLES = {"gcd": lambda request: (math.gcd(*request),), "inverse": lambda request: _inverse(*request)}


def _inverse(a, m):
    """Status and inverse by trial, with the status codes of the example."""
    if m % 2 == 0:
        return 1, 0
    if a >= m:
        return 2, 0
    found = next((x for x in range(m) if a * x % m == 1 % m), None)
    return (3, 0) if found is None else (0, found)


@EACH_EXAMPLE
def test_examples_at_all_levels(name):
    accelerator = modexlab.accelerator(EXAMPLES / name).at(8)
    passed = modexlab.check_levels(accelerator)
    assert {run.where.partition(",")[0] for run in passed} == {"cl", "python", "verilog", "native"}
    if name in ORACLES:
        requests = [row.request for row in accelerator.rows()]
        assert accelerator.answers(requests) == list(map(ORACLES[name], requests))


def test_state_between_requests():
    """The CRC of "123456789" is the check value of CRC catalogues; a new run starts with a new state."""
    crc = modexlab.accelerator(EXAMPLES / "crc").at(32)
    for level, backend in (("fl", None), ("cl", None), ("rtl", "python")):
        with crc.session(level=level, backend=backend) as session:
            message, letter = session.operate([crc.workloads()["message"], [(0, 0x61)]])
            assert message.responses[-1] == (0xCBF43926,)
            assert letter.responses == [(zlib.crc32(b"a"),)]


WRONG = [
    (
        "accelerator.py",
        '("g", self.nbits)',
        '("g", 8)',
        r"returns g = \d+, which does not fit in 8 bits; widen the field",
    ),
    (
        "accelerator.py",
        "total = a + b",
        "total = a + b + (a == 1)",
        r"row 'small numbers' \(a = 1, b = 1\): g = 2, and fl has g = 3",
    ),
    ("accelerator.py", "return 2", "return 3", "row 'small numbers' at python: request in cycle"),
    (
        "rtl.py",
        "s.state <<= DONE",
        "s.state <<= CALC",
        r"transaction 0 of \d+ accepted, but not answered after \d+ cycles",
    ),
    ("accelerator.py", "def fl(self, a, b):", "def fl(self, a, b)", r"accelerator\.py, line \d+"),
    ("accelerator.py", "def fl(", "def function(", "class Gcd lacks fl; define it"),
    ("accelerator.py", 'name = "gcd"', 'name = "G C D"', "'G C D' of class Gcd is not a valid name"),
    (
        "accelerator.py",
        '"small numbers", (1, 1,)',
        '"small numbers", (1 << 16, 1)',
        "row 'small numbers': a = 65536 does not fit in 16 bits",
    ),
    ("accelerator.py", '"slow sink"', '"slow source"', "row 'slow source': there are two rows of this name"),
    (
        "accelerator.py",
        "return total % (1 << self.nbits)",
        "return total % 2, 1",
        r"returns 2 values, and the response has 1 fields \(g\)",
    ),
]


@parametrize("file, old, new, message", WRONG)
def test_mistakes(tmp_path, file, old, new, message):
    """Each mistake is reported in a sentence with the value and the remedy."""
    folder = replaced(written(tmp_path / "gcd"), file, old, new)
    with pytest.raises((BadInput, levels.Disagreement), match=message):
        modexlab.check_levels(modexlab.accelerator(folder).at(16), ["cl", "python"])


COMMANDS = (
    "run --backend python",
    "check --backend python",
    "proc gcd.c",
    "verilog",
    "verilog --package -o package",
)


@parametrize("command", COMMANDS)
def test_ports_that_are_not_those_of_the_shape(cli, tmp_path, monkeypatch, command):
    """A request with another field, and a component without a response stream."""
    other = replaced(written(tmp_path / "other"), "rtl.py", '"a", nbits', '"c", nbits')
    replaced(other, "rtl.py", "istream.msg.a", "istream.msg.c")
    silent = replaced(written(tmp_path / "silent"), "rtl.py", "s.ostream", "s.answer")
    monkeypatch.chdir(other)
    for folder, message in (
        (other, "rtl() has istream with c:16, b:16, and the shape has a:16, b:16"),
        (silent, "it needs the streams"),
    ):
        assert message in cli.fails(f"{command} --accelerator", folder)


def test_an_edited_folder_is_loaded_again(tmp_path):
    folder = written(tmp_path / "gcd")
    before = modexlab.accelerator(folder)
    assert before is modexlab.accelerator(folder)
    after = modexlab.accelerator(replaced(folder, "accelerator.py", "total = a + b", "total = a * b"))
    assert after.at(16).identity != before.at(16).identity
    assert (before.at(16).fl(3, 5), after.at(16).fl(3, 5)) == (8, 15)


def test_a_model_and_its_function(tmp_path):
    """`fl` is the first response of a model; for hardware with state but no model, the error has a hint."""

    def check(backend, old, new):
        folder = shutil.copytree(EXAMPLES / "crc", tmp_path / backend)
        design = modexlab.accelerator(replaced(folder, "accelerator.py", old, new))
        modexlab.check_levels(design.at(32), [backend])

    with refused(r"row 'a byte without a first one': fl returns crc = 165, and a new model\(\)"):
        check("cl", "return zlib.crc32(bytes([data]))", "return data")
    with pytest.raises(modexlab.Disagreement, match=r"define model\(\) if it keeps state between requests"):
        check("python", "def model(self):", "def unused(self):")


def test_hardware_that_cannot_be_made(tmp_path):
    """The error is one sentence with file, line and reason, without a traceback."""
    wire = "s.total = Wire(nbits"
    folder = replaced(written(tmp_path / "gcd"), "rtl.py", f"{wire})", f"{wire} + 1)")
    with refused(r"gcd/rtl\.py, line \d+: InvalidConnectionError: Bitwidth mismatch .*; give both sides"):
        modexlab.check_levels(modexlab.accelerator(folder).at(16), ["python"])


RANDOM = "import random; total = random.getrandbits(16)"
CL = """return {formula}

    def cl(self):
        import copy

        late = copy.copy(self)
        late.cycles = lambda *request: {cycles}
        return Accelerator.cl(late)
"""
LATE_CL, WRONG_FORMULA = CL.format(formula=2, cycles=3), CL.format(formula=3, cycles=2)


def test_random_function(tmp_path):
    folder = replaced(written(tmp_path / "gcd"), "accelerator.py", "total = a + b", RANDOM)
    with refused(r"accelerator\.py, line \d+: gcd has two responses to a = .*, then .*; draw random numbers"):
        modexlab.check_levels(modexlab.accelerator(folder).at(16), ["cl", "python"])


@parametrize(
    "new, advice",
    [("return 3", r"rtl\(\)"), (LATE_CL, r"cl\(\)"), (WRONG_FORMULA, "the formula")],
)
def test_the_level_that_is_wrong_is_named(tmp_path, new, advice):
    """Two of cl, rtl and the formula agree."""
    folder = replaced(written(tmp_path / "gcd"), "accelerator.py", "return 2", new)
    with pytest.raises(modexlab.Disagreement, match=f" agree: correct {advice}$"):
        modexlab.check_levels(modexlab.accelerator(folder).at(16), ["cl", "python"])


@parametrize("name", ["crc", "inverse", "gcd"])
def test_warm_ups(name):
    """The default is the same sequence on other data: flags are kept, and no request is refused."""
    made = modexlab.accelerator(EXAMPLES / name).at(16 if name != "crc" else 32)
    for workload, requests in made.workloads().items():
        warm_up = made.warm_up(workload)
        assert warm_up == made.warm_up(workload) != requests and len(warm_up) == len(requests)
        assert made.answers(warm_up) != made.answers(requests)
        if name == "crc":
            assert [first for first, _ in warm_up] == [first for first, _ in requests]
        if name == "inverse":
            ((a, m),) = warm_up
            assert m % 2 == 1 and a * pow(a, -1, m) % m == 1 % m


def test_registration(monkeypatch):
    """A registered class is in the catalogue by name, and other processes find it by its reference."""
    monkeypatch.setattr(own._registered, "known", {})
    design = modexlab.register(Doubler)
    assert catalogue.entry("doubler") is design
    assert catalogue.entry(design.reference).at(8, times=3).fl(5) == 15
    with refused("times = 0 is not possible; give 1 or more"):
        design.at(8, times=0)
    with refused("doubler of 5000 bits is not possible"):
        design.at(5000)


class Doubler(modexlab.Accelerator):
    """Multiplies by a constant."""

    name = "doubler"
    params = (modexlab.Param("times", 2, Count(1), "the factor"),)

    @property
    def shape(self):
        return modexlab.Shape((("a", self.nbits),), (("p", 2 * self.nbits),))

    def fl(self, a):
        return a * self.times

    def rtl(self):
        raise NotImplementedError


def test_names_of_the_catalogue_are_taken(tmp_path):
    folder = written(tmp_path / "mont", name="mont")
    with refused("name 'mont' is already that of a design of the catalogue"):
        catalogue.by_paths([str(folder)])


# ---- the command line


def test_new_and_check(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new = "new accelerator gcd --operand a:16 --operand b:16 --result g:16"
    cli.passes(new)
    assert sum(1 for file in Path("gcd").glob("*.py") for _ in file.open()) <= 110
    assert "exists and is not empty" in cli.fails(new)
    check = "check --accelerator gcd --backend python"
    assert len(cli.reports(check, ok=True)["runs"]) == 2 * len(levels.STALLS)
    replaced(Path("gcd"), "accelerator.py", "total = a + b", "total = a - b")
    cli.shows(
        check, "FAILED: gcd at python, row 'small numbers' (a = 1, b = 1): g = 2, and fl has g = 0", code=1
    )


test_reserved_names = refusals(
    "new accelerator",
    {
        f"{name} --operand a:16 --result g:1": f"name '{name}': this word is reserved in Python"
        for name in ("class", "none")
    },
)

test_wrong_fields = refusals(
    "new accelerator mine",
    {
        "--operand a": "--operand: 'a' is not a field; write its name and its width, as in a:16",
        "--operand a:16": "no --result; give at least one",
        "--operand class:16 --result g:1": "--operand class: this word is reserved in Python, SystemVerilog",
        "--operand a:16 --result wire:1": "--result wire: this word is reserved in Python, SystemVerilog or",
        "--operand a:0 --result g:1": "a:0 is not possible; give a width from 1 to 4096",
        "--operand a:1 --operand a:2 --result g:1": "--operand a is given twice",
    },
)


@parametrize("level", ["fl", "cl", "rtl --backend python"])
def test_run(cli, level):
    command = f"run --accelerator {GCD} --field a=12 --field b=18 --level"
    cycles = None if level == "fl" else cli.json(f"{command} formula")["cycles"]
    cli.reports(f"{command} {level}", responses=[{"g": 6}], golden=[{"g": 6}], cycles=cycles)


test_wrong_requests = refusals(
    f"run --accelerator {GCD}",
    {
        "--field a=12": "no b; give --field b=...",
        "--field c=12": "unknown field of gcd 'c'",
        "--field a=1 --field a=2": "--field a is given twice",
        "--field a=x --field b=1": "--field a: 'x' is not a whole number",
        "--field a=1,2 --field b=1": "2 of a, 1 of b: requests in series need one value of each field; "
        "give 2",
        "--field a=65536 --field b=1": "a 65536 does not fit in its 16 bits",
        "--base 3": "--base is for RSA machines",
        "--workload encrypt": "unknown workload of gcd 'encrypt'",
    },
)


def test_commands_for_rsa_alone_say_so(cli):
    assert "gcd is not an RSA machine" in cli.fails("show --program --accelerator", GCD)
    assert "--field is for accelerators of your own" in cli.fails("run mont --field a=1")
