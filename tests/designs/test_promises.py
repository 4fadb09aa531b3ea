"""Every promise of every design, schedule and setting, checked against formulas, cycle rule, oracle and
hardware.
"""

import itertools
import random
import re

from modexlab.cl.timing import Dependence
from modexlab.eval.assurance.proof.registry import checks
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.interfaces import AXI4LITE
from modexlab.eval.designs.verilog.machine import verilog
from modexlab.eval.exchange.package.datasheet import markdown
from modexlab.eval.exchange.package.exponentiation import Exponentiation
from modexlab.eval.exchange.package.vectors import Vectors
from modexlab.fl.axi4lite import Axi4LiteFL, register_map
from modexlab.fl.errors import BadInput
from modexlab.fl.status import Status
from modexlab.flow.prove.report import PROVED, REFUTED
from modexlab.rtl.sim import simulate

from tests.harness import NAME, case, each_design, of_every_length, one_now, parametrize, regress
from tests.programs import PROTECTIONS, changed, machine_of

DESIGNS = catalogue.designs()
NBITS = 8
KEY_NBITS = 16  # wide enough for primes
SECONDS = 120.0  # of a proof
VALUE = Dependence.VALUE
# settings that could affect time, with every schedule of the designs that have them
SETTINGS = (
    {},
    {"scan": "full"},
    {"scan": "length"},
    {"fit": "modulus", "steps_per_stage": 2},
    {"quotient_bits_per_cycle": 1},
    {"bits_per_cycle": 2},
    {"fit": "modulus", "scan": "length"},
    {"fit": "modulus", "window": 2},
    {"carry_save": True},
    {"forward": False},
    {"conversion": "square"},
    {"pipelined": True, "nstages": 2, "steps_per_stage": 2},
    {"streams": 2},
    {"quotient_delay": 1},
    {"multiplier_bits_per_cycle": 2},
)
KEYED_AND_FIT = (*PROTECTIONS, *({**settings, "fit": "modulus"} for settings in PROTECTIONS))
EACH_PROGRAMMED = parametrize("design", [design for design in DESIGNS if design.programmed], ids=NAME)


def machines(design, nbits, variants):
    """The machines of a design with each schedule and each of these settings that it supports, one
    at a time.
    """
    names = {param.name for param in design.params}
    legal = design.control.schedule.legal
    for schedule, settings in itertools.product(legal, variants):
        if settings.keys() <= names:
            try:
                machine = design.at(nbits, schedule=schedule, **settings)
            except BadInput:  # they exclude one another
                continue
            print(design.name, machine.parameters)  # pytest shows the last one if the test fails
            yield machine


def dependence(cycles):
    """How cycles depend on one number while the others are fixed."""
    if len(set(cycles.values())) == 1:
        return Dependence.NONE
    by_length = {(value.bit_length(), count) for value, count in cycles.items()}
    lengths = {length for length, _ in by_length}
    return Dependence.LENGTH if len(by_length) == len(lengths) else VALUE


def corners(nbits):
    """0, and numbers of all lengths."""
    return sorted({0, *of_every_length(nbits, random.Random(nbits))})


def accepted(machine):
    """Moduli of all lengths that the machine accepts."""
    if machine.modulus:
        return [machine.modulus]
    return [mod for mod in corners(machine.modulus_nbits) if machine.check(0, 1, mod) is Status.OK]


def seen(machine, cycles):
    """The observed dependence of cycles on exponent, base and modulus."""
    moduli, exponents = accepted(machine), corners(machine.nbits)
    top = moduli[-1]
    few = [exp for exp in (0, 1, 0xA5) if exp.bit_length() <= machine.nbits]
    pairs = {(0, moduli[0]), (moduli[len(moduli) // 2] // 3, moduli[len(moduli) // 2]), (top - 2, top)}
    return (
        max(dependence({exp: cycles(base, exp, mod) for exp in exponents}) for base, mod in pairs),
        max(dependence({base: cycles(base, exp, top) for base in (0, 1, top // 2, top - 1)}) for exp in few),
        max(dependence({mod: cycles(0, exp, mod) for mod in moduli}) for exp in few),
    )


@parametrize("nbits", one_now((NBITS, 16), NBITS))
@each_design()
def test_time(design, nbits):
    """Cycles by formula, which the CL twins share, depend on the promised operands; for the exponent,
    exactly.
    """
    for machine in machines(design, nbits, SETTINGS):
        promised = machine.promises.time
        exponent, base, modulus = seen(machine, machine.cycles)
        assert exponent <= promised.exponent and base <= promised.base and modulus <= promised.modulus
        if promised.base is VALUE:
            assert base and exponent
        else:
            assert exponent == promised.exponent


@EACH_PROGRAMMED
def test_time_with_a_key(design):
    """The same for private operations, on private exponent and primes. The formula has no message."""
    primes = [value for value in corners(KEY_NBITS // 2) if value & 1 and value > 2]
    n, e = (1 << KEY_NBITS) - 5, 17
    for machine in machines(design, KEY_NBITS, (*PROTECTIONS[::3], KEYED_AND_FIT[-1])):
        promised, made = machine.promises.time, machine.programmed
        if promised.base is VALUE:
            assert made.unit.product_cycles(1) is None and not machine.promises.constant_time
            continue
        if made.unit.product_cycles(1) is None:
            continue  # no formula: tested by microinstruction below
        exponents = {d: made.closed.keyed(n, d, e, 0xF1, 0xFB) for d in corners(KEY_NBITS) if d & 1}
        assert dependence(exponents) <= promised.exponent
        by_prime = {p: made.closed.keyed(n, n - 2, e, p, 0xFB) for p in primes}
        assert dependence(by_prime) <= promised.modulus


@regress
@EACH_PROGRAMMED
def test_time_by_words(design):
    """The same by microinstruction, for random messages, keys and blinding."""
    rng = random.Random(1)
    for machine in machines(design, KEY_NBITS, KEYED_AND_FIT):
        promises, made = machine.promises, machine.programmed
        if not promises.constant_time:
            continue
        by_length = set()
        for _ in range(12):
            fields = {
                name: rng.choice((0, 1, rng.randrange(1 << nbits), (1 << nbits) - 1))
                for name, nbits in made.program.fields
            }
            fields |= {"base": rng.randrange(1 << KEY_NBITS), "mod": (1 << KEY_NBITS) - 5, "e": 17}
            fields |= {name: rng.randrange(0x81, 0x100, 2) for name in ("p", "q") if name in fields}
            fields["exp"] = 17 if promises.key == "crt" else rng.choice(corners(KEY_NBITS)) | 1
            length = 0 if promises.every_exponent else fields["exp"].bit_length()
            by_length.add((length, made.timing.cycles(fields, None, Status.OK)))
        assert len(by_length) == len({length for length, _ in by_length})


ON_HARDWARE = [
    case("mont"),
    case("mont-keyed", schedule="fixed-window", fit="modulus", steps_per_stage=2),
    case("mont-ct"),
    case("mont-001", schedule="always"),
    case("mmmul-004", schedule="ladder"),
    case("ssmm", schedule="ladder"),
    case("ssmm-004", schedule="always"),
    case("naive-001", schedule="ladder"),
    case("ssmm-ct", carry_save=True),
    case("fold-ct"),
    case("heap", schedule="sliding-window", digit_nbits=4),
    case("serial-003"),
]


@parametrize("name, settings", ON_HARDWARE)
def test_time_of_the_hardware(name, settings):
    """Compiled RTL has the same dependence as the formula, and no more than promised."""
    machine = machine_of(name, NBITS, **settings)
    promised = machine.promises.time
    with simulate(machine.rtl()) as simulation:

        def cycles(base, exp, mod):
            return simulation.run([machine.carried(base, exp, mod)]).latencies[0]

        found = seen(machine, cycles)
    assert found == seen(machine, machine.cycles)
    assert all(was <= most for was, most in zip(found, vars(promised).values(), strict=True))


@parametrize(
    "name, settings",
    [
        *map(case, ("mont", "mont-ct", "fold", "fold-ct", "heap")),
        case("mont-keyed", schedule="fixed-window"),
        case("mont", schedule="right-to-left-1"),
        case("mont", schedule="ladder"),
        *(
            case(name, schedule=schedule)
            for name in ("naive-001", "ssmm-004", "ssmm")
            for schedule in ("always", "ladder")
        ),
        case("mont-keyed", schedule="sliding-window"),
    ],
)
def test_time_by_proof(name, settings):
    """`prove --check time` proves each promise of constant time, and disproves it for the other machines."""
    machine = machine_of(name, NBITS, **settings)
    (check,) = checks(machine, ["time"])[:1]
    assert check.says.endswith("all exponents") == machine.promises.every_exponent
    found = check.run(SECONDS)
    assert found.verdict == (PROVED if machine.promises.constant_time else REFUTED), found


def test_summaries_of_the_catalogue_repeat_the_promise():
    """A summary that mentions constant time says the same as `show`: for all exponents, or for those of a
    length.
    """
    found = {}
    for design in catalogue.designs():
        if said := re.search(r"constant time( for exponents of a length)?", design.summary):
            assert design.promises.word == ("of a length" if said[1] else "yes"), design.name
            found[design.name] = said[0]
    assert {"heap", "systolic", "serial"} == found.keys()


@parametrize("name", ["systolic", "serial"])
def test_time_reveals_the_length_of_the_exponent_alone(name):
    machine = catalogue.find(name).at(8)
    *_, mod = machine.some_operands()
    operands = [(5, exp, mod) for exp in (1, 2, 3, 0x80, 0xFF)]
    with machine.session() as session:
        cycles = [run.cycles for run in session.operate([[machine.carried(*item)] for item in operands])]
    one, two, three, top, ones = cycles
    assert one < two == three < top == ones


# ---- operands


@each_design()
def test_operands(design):
    """Even moduli, and bases at or above the modulus, are rejected if promised, and computed otherwise."""
    machine = design.at(NBITS)
    promises, mod = machine.promises, machine.modulus or 239
    even, _ = machine.fl(2, 3, 238)
    large, result = machine.fl(mod, 3, mod)
    assert (even is not Status.OK) == (promises.odd_only or bool(promises.modulus))
    assert (large is not Status.OK) == promises.reduced_only
    assert result == 0


def refuses(machine, request, **numbers):
    """Whether it refuses the request with these numbers."""
    status, _ = machine.programmed.fl(changed(machine, request, **numbers))
    return status is not Status.OK


@EACH_PROGRAMMED
def test_keys(design):
    """The same with a key: the request has the fields of its kind, and the check withholds wrong results."""
    for machine in machines(design, KEY_NBITS, PROTECTIONS[::3]):
        promises, key = machine.promises, machine.key
        request = machine.carried(5, key.d, key.n)
        good = machine.programmed.named(request)
        assert ("dp" in good) == (promises.key == "crt")
        assert ("x" in good) == promises.message_blinded
        assert bool({"k", "kp"} & good.keys()) == promises.exponent_blinded
        assert ("e" in good or promises.key == "crt") >= promises.checked
        assert refuses(machine, request, base=key.n) or not promises.reduced_only
        even = {"mod": key.n - 1} | ({"p": 2} if "p" in good else {})
        assert refuses(machine, request, **even) or not promises.odd_only
        assert promises.key != "d" or refuses(machine, request, exp=good["exp"] ^ 2) == promises.checked


# ---- everything that states them


@each_design()
def test_register(design):
    """CAPABILITIES states the promises of the machine, with each of its schedules."""
    nbits = KEY_NBITS if design.programmed else NBITS
    names = ("constant_time", "odd_only", "reduced_only", "message_blinded", "exponent_blinded", "checked")
    for machine in machines(design, nbits, ({}, {"crt": True, "verify": True})):
        register = register_map(machine.shape, machine.traits)["CAPABILITIES"]
        value, _ = Axi4LiteFL(machine.shape, machine.fl, machine.traits).read(register.address)
        stated = {name: getattr(machine.promises, name) for name in names}
        stated["crt"] = machine.promises.key == "crt"
        assert {name: bool(value >> register.field(name).low & 1) for name in stated} == stated


@parametrize(
    "name, settings",
    [
        ("mont", {}),
        ("mont-ct", {}),
        ("mont-keyed", {"verify": True}),
        ("mont-keyed", {"crt": True, "schedule": "always"}),
        ("naive-001", {"schedule": "ladder"}),
    ],
)
def test_data_sheet(name, settings):
    """The data sheet states the promises too."""
    machine = machine_of(name, KEY_NBITS, **settings)
    subject = Exponentiation(machine, AXI4LITE)
    words = subject.words | {"name": "core", "version": "0", "transfers": "0"}
    sheet = markdown(subject, words, Vectors(subject, "core", 1, 1), (), (), ())
    assert f"| constant time | {machine.promises.sentence} |" in sheet
    assert ("Even moduli are refused" in sheet) == machine.promises.odd_only
    assert ("A base at or above the modulus is refused" in sheet) == machine.promises.reduced_only


@parametrize(
    "name, settings",
    [
        case("heap", later=False),
        case("mont"),
        case("mont-keyed", schedule="always", crt=True, verify=True),
        case("naive-001", schedule="always"),
        case("mont-keyed", blind="both"),
    ],
)
def test_header(name, settings):
    """The header contains the sentence, and the Verilog below it the value of the register."""
    keyed = {"crt", "blind", "verify"} & settings.keys()
    machine = machine_of(name, KEY_NBITS if keyed else NBITS, **settings)
    text = verilog(machine, AXI4LITE.name)
    words = " ".join(text.partition("\nmodule")[0].replace("//", " ").split())
    assert f"Constant time {machine.promises.sentence}" in words
    assert ("for odd moduli" in words) == machine.promises.odd_only
    assert ("bases below the modulus" in words) == machine.promises.reduced_only
    slave = Axi4LiteFL(machine.shape, machine.fl, machine.traits)
    base, digits = re.search(r"localparam .* CAPABILITIES = (?:\d+'([hd]))?([0-9a-f]+);", text).groups()
    assert int(digits, 16 if base == "h" else 10) == slave.map["CAPABILITIES"].reset


def test_designs(cli):
    """`show` states the default machine's promises as JSON and in detail."""
    for row in cli.json("show designs"):
        design = catalogue.find(row["name"])
        machine = design.at(design.usual_nbits)
        promises = machine.promises
        assert row.items() >= promises.as_json().items() and row["constant_time"] == promises.constant_time
        for schedule in row["constant_schedules"]:
            of_schedule = design.at(NBITS, schedule=schedule)
            exponent, base, _ = seen(of_schedule, of_schedule.cycles)
            assert exponent <= Dependence.LENGTH and not base, (design.name, schedule)
    sentence = catalogue.find("mont").promises.sentence
    cli.shows(
        "show mont",
        f"  constant time  {sentence}\n",
        " no with schedule=right-to-left-1, schedule=left-to-right\n",
    )
