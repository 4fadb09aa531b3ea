"""Proofs, leakage tests and fault campaigns of accelerators outside the repository."""

import itertools
import shutil
import zlib

import modexlab
import pytest
from modexlab.eval.assurance.attacks.fault_campaign import FaultCampaign
from modexlab.eval.assurance.attacks.leakage import assess, compared_fields
from modexlab.eval.assurance.attacks.welch import FIXED, RANDOM
from modexlab.eval.assurance.proof.registry import checks, prove
from modexlab.eval.errors import NoMeasurement
from modexlab.eval.lab.store.snapshot import Snapshot
from modexlab.eval.lab.verdicts import Subject
from modexlab.eval.report import proofs
from modexlab.eval.report.sections import Content
from modexlab.flow.prove.report import PROVED, REFUTED
from modexlab.rtl.sim.campaigns.faults import Effect

from tests.command_line import refusals
from tests.designs.test_own import EXAMPLES, GCD, replaced, written
from tests.harness import one_now, parametrize, regress
from tests.paths import ROOT

INVERSE = EXAMPLES / "inverse"
SECONDS = 20.0
LEAKAGE = "attack leakage --accelerator"


def proved(design, *wanted):
    """The outcomes of these checks at 8 bits."""
    found = checks(design.at(8), wanted)
    return [prove(check, SECONDS, {}) for check in found]


@pytest.fixture(name="edited")
def edit_copies(tmp_path):
    """The design of an example, or of a new adder called gcd, in a copy with these replacements."""

    def edited(name, old, new, file="accelerator.py"):
        folder = tmp_path / name
        if not folder.exists():
            written(folder) if name == "gcd" else shutil.copytree(EXAMPLES / name, folder)
        return modexlab.accelerator(replaced(folder, file, old, new))

    return edited


# ---- proofs


def test_prove(cli, store):
    """Store and report have the verdicts; the latency of gcd depends on its operands."""
    result = cli.finds(f"prove --accelerator {GCD} --check protocol time axi4lite --json")
    found = {check["check"]: check for check in result.json()}
    verdicts = {name: check["verdict"] for name, check in found.items()}
    assert verdicts == {"protocol": PROVED, "axi4lite": PROVED, "time": REFUTED}
    gcd = modexlab.accelerator(GCD).at(8)
    for request in found["time"]["counterexample"]:
        assert gcd.cycles(request["a"], request["b"]) == request["cycles"]
    verdicts = {verdict.name: verdict for verdict in store.verdicts()}
    (line,) = proofs.table(Content(Snapshot(store), ["gcd"]).proven).lines
    assert not Content(Snapshot(store), ["mont"]).proven
    assert verdicts["time"].by_nature and not any(verdict.stale for verdict in verdicts.values())
    assert line.cells[0].text == "gcd"
    assert "within 260 cycles" in found["protocol"]["how"]  # gcd(1, 255)


@regress
def test_state_between_requests_is_no_matter():
    """The responses of a CRC depend on earlier requests, but its handshakes do not."""
    design = modexlab.accelerator(EXAMPLES / "crc")
    assert [proof.outcome.verdict for proof in proved(design, "protocol", "time")] == [PROVED, PROVED]


@regress
def test_a_promise_of_constant_time(edited):
    """It is proved for an adder, and disproved once a request of zeros takes another path."""
    design = edited("gcd", 'name = "gcd"', 'name = "gcd"\n    steady = ("a", "b")')
    (proof,) = proved(design, "time")
    assert proof.outcome.verdict == PROVED and design.at(8).constant_time
    assert proof.check.says == "as many cycles for all a, b"
    design = edited("gcd", "elif s.state == CALC:\n                s.state", CALC_WAITS, "rtl.py")
    (proof,) = proved(design, "time")
    assert proof.outcome.verdict == REFUTED
    verdict = proof.of(Subject.of(design.at(8)))
    assert not verdict.by_nature and not verdict.stale


CALC_WAITS = """elif (s.state == CALC) & (s.a == 77) & (s.total != s.a + s.b):
                s.state <<= CALC
            elif s.state == CALC:
                s.state"""


@regress
def test_a_promise_beside_the_secret(edited):
    """Inverse makes no promise about `a`, and its promise about the modulus is false."""
    design = edited("inverse", 'secret = ("a",)', 'secret = ("a",)\n    steady = ("m",)')
    both = proved(design, "time")
    verdicts = [proof.of(Subject.of(design.at(8))) for proof in both]
    assert [(verdict.name, verdict.verdict, verdict.by_nature) for verdict in verdicts] == [
        ("time", REFUTED, True),
        ("time of m", REFUTED, False),
    ]
    one, other = both[1].outcome.counterexample
    assert one["a"] == other["a"] and one["m"] != other["m"]


@regress
@parametrize("nbits", [8, 32])
def test_two_requests_with_the_same_modulus(nbits):
    """A proof finds them, or, among 2^64 requests, simulation."""
    (check,) = checks(modexlab.accelerator(INVERSE).at(nbits), ["time"])
    outcome = check.run(SECONDS)
    one, other = outcome.counterexample
    assert outcome.verdict == REFUTED and one["m"] == other["m"]
    assert one["a"] != other["a"] and one["cycles"] != other["cycles"]


BROKEN = {
    "no answer": ("s.state <<= DONE", "s.state <<= CALC"),
    "an answer that is not held": (
        "elif s.ostream.rdy:\n                s.state <<= IDLE",
        "else:\n                s.state <<= IDLE",
    ),
    "an answer that changes": (
        "            elif s.state == CALC:\n                s.total <<=",
        "            else:\n                s.total <<= s.total +",
    ),
}


@parametrize("mistake", one_now(BROKEN, "no answer"))
def test_broken_protocols_are_refuted(edited, mistake):
    (proof,) = proved(edited("gcd", *BROKEN[mistake], "rtl.py"), "protocol")
    assert proof.outcome.verdict == REFUTED


def test_a_secret_that_is_no_field(edited):
    design = edited("inverse", 'secret = ("a",)', 'secret = ("key",)')
    with pytest.raises(modexlab.BadInput, match="secret or steady has 'key', which is no field of a request"):
        design.at(8)


OF_RSA = {
    option: f"{option} is for RSA machines, and gcd is not one" for option in ("--crt", "--blind", "--verify")
}
test_options_of_rsa = refusals(f"prove --accelerator {GCD}", OF_RSA)


# ---- leakage


def test_leak(cli, tmp_path):
    """The latency of inverse reveals its operand for a fixed modulus; so do its registers."""
    picture = tmp_path / "curve.svg"
    leakage = f"{LEAKAGE} {INVERSE} --nbits 8 --traces 400"
    words = (
        "time depends on field a, and so does power",
        "m drawn for each operation",
        "no: nothing is promised for a",
    )
    cli.shows(f"{leakage} -o {picture}", *words, code=1)
    assert "field a fixed against random" in picture.read_text()
    compared = compared_fields(modexlab.accelerator(INVERSE).at(8))
    drawn = list(itertools.islice(compared.operations(), 400))
    moduli = [{modulus for (_, modulus), _, which in drawn if which == kind} for kind in (FIXED, RANDOM)]
    assert min(map(len, moduli)) > 20
    assert len({number for (number, _), _, which in drawn if which == FIXED}) == 1
    assert not any(compared.machine.check(*operation.request) for operation in drawn)
    told = cli.json(leakage)["time"]
    cycles = [compared.machine.cycles(*request.values()) for (request,) in told["counterexample"]["streams"]]
    assert cycles == told["counterexample"]["cycles"] and cycles[0] != cycles[1]


def test_a_held_field(cli):
    report = cli.finds(f"{LEAKAGE} {INVERSE} --nbits 8 --traces 400 --public m=0xfb --json").json()
    assert report["public"] == {"drawn": [], "held": {"m": 251}, "held_for_power": {}}
    for (request,) in report["time"]["counterexample"]["streams"]:
        assert request["m"] == 251


@parametrize(
    "command, message",
    {
        "faults tests/foreign/gcd.toml --samples 10": "`attack faults --netlist` finds those of a core",
        "leakage tests/foreign/start_done.toml --traces 400": "found only in the Verilog that modexlab",
        "leakage tests/foreign/gcd.toml": "a manifest cannot name any; give an accelerator in Python",
    }.items(),
)
def test_a_core_of_a_manifest_is_refused_at_rtl(cli, command, message):
    kind, path, *more = command.split()
    assert message in cli.fails(f"attack {kind} --accelerator {ROOT / path} --nbits 16 {' '.join(more)}")


@regress
def test_a_leak_by_power_alone(edited):
    """An adder takes the same cycles for all numbers, but its registers reveal a secret one."""
    design = edited("gcd", 'name = "gcd"', 'name = "gcd"\n    secret = steady = ("a",)')
    found = assess(compared_fields(design.at(8)), 400)
    assert found.power_leaks and not found.time_leaks and found.timing.leak is None
    assert found.compared.promise == "yes: the same number of cycles for all a"
    assert "total" in {register for register, _ in found.blame()}
    blind = edited("gcd", "s.total <<= s.a + s.b", "s.total <<= s.b", "rtl.py")
    with pytest.raises(NoMeasurement, match="gcd answered"):
        assess(compared_fields(blind.at(8)), 400)


@regress
def test_state_between_operations(edited):
    """Answers are those of a run without a reset in between."""
    design = edited(
        "crc", "usual_nbits = 32", 'usual_nbits = 32\n    secret = ("data",)\n    steady = ("first", "data")'
    )
    found = {}
    for first in range(2):
        found[first] = assess(compared_fields(design.at(32), 1, {"first": first}), 400)
    assert found[1].power_leaks and not found[1].time_leaks  # every byte starts a message
    assert not found[0].leaks  # earlier bytes mask it
    assert assess(compared_fields(design.at(32)), 400).power_leaks


def test_nothing_secret(cli, edited):
    error = cli.fails(LEAKAGE, GCD)
    assert "gcd has no secret fields" in error and 'secret = ("a",)' in error
    assert "--fixed is for RSA machines" in cli.fails(f"{LEAKAGE} {INVERSE} --fixed message")
    refusing = edited("inverse", "m = generator.getrandbits(self.nbits) | 1", "m = 2")
    with pytest.raises(modexlab.BadInput, match=r"refuses 10,000 requests that drawn\(\) makes"):
        next(compared_fields(refusing.at(8)).operations())


# ---- faults


def test_faults(cli):
    """Flips in gcd cause a wrong divisor or a hang; without a status no fault is caught."""
    found = cli.finds(f"attack faults --accelerator {GCD} --nbits 8 --json").json()
    assert found["exhaustive"] and "checked" not in found and found["bellcore"] is None
    assert found["flip_flops"] == 18 and found["possible"] == found["injected"] == 18 * found["cycles"]
    assert found["caught"] == 0 < found["hang"] and found["wrong_result"] > found["injected"] // 10
    assert {row["register"]: row["nbits"] for row in found["registers"]} == {"a": 8, "b": 8, "state": 2}
    gcd = modexlab.accelerator(GCD).at(8)
    assert found["cycles"] == max(
        gcd.cycles(*operation.request) for operation in FaultCampaign(gcd).operations
    )


@regress
def test_each_effect_by_its_response():
    """A status catches a fault unless a wrong number comes with it."""
    campaign = FaultCampaign(modexlab.accelerator(INVERSE).at(8), count=2)
    campaign.run(campaign.faults(None, False))
    assert all(campaign.counts[effect] for effect in Effect)
    for place, (_, effect, response) in enumerate(campaign.outcomes):
        golden = campaign.operations[place % 2].golden
        assert golden[0] == 0
        if response is None:
            assert effect is Effect.HANG
        elif response == golden:
            assert effect is Effect.NONE
        else:
            status, x = response
            assert (effect is Effect.CAUGHT) == (status != 0 and x in (0, golden[1]))


@regress
def test_faults_of_an_accelerator_with_state():
    """Operations start from reset or from the state that earlier ones leave; flips in that state count."""
    campaign = FaultCampaign(modexlab.accelerator(EXAMPLES / "crc").at(32), count=12)
    assert {len(operation.before) for operation in campaign.operations} == {0, 1, 2}
    for request, golden, before in campaign.operations:
        message = bytearray()
        for first, data in (*before, request):
            message = bytearray([data]) if first else message + bytes([data])
        assert golden == (zlib.crc32(message),)
    campaign.run(campaign.faults(100, False))
    assert campaign.counts[Effect.WRONG] > 0 == campaign.counts[Effect.CAUGHT]


def test_a_wrong_accelerator_has_no_campaign(edited):
    design = edited("gcd", "total = a + b", "total = a + b + 1")
    with pytest.raises(NoMeasurement, match="without a fault gcd answers"):
        FaultCampaign(design.at(8))
    with pytest.raises(modexlab.BadInput, match="--operations 0"):
        FaultCampaign(design.at(8), 0)


test_bellcore_is_for_rsa = refusals(
    f"attack faults --accelerator {GCD}", {"--bellcore": "--bellcore is for RSA machines"}
)
