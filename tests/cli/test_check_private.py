"""`modexlab check --crt --blind --verify`: private operations of every format, run by programs that use the
key.
"""

import json
from pathlib import Path

import cryptography_vectors
import pytest
from modexlab.eval.designs.machine import Machine
from modexlab.eval.designs.session import Answer, Session
from modexlab.eval.exchange.vectors import answers
from modexlab.fl.status import Status
from modexlab.proc.software.seeded_keys import seeded_key

from tests.command_line import picked, refusals
from tests.harness import one_now, parametrize, regress
from tests.paths import DATA

RSA = Path(cryptography_vectors.__file__).parent / "asymmetric" / "RSA"
NBITS = 32
ALL = ("n", "e", "d", "p", "q")


def numbers(key, *names):
    return {name: f"{getattr(key, name):x}" for name in names}


def powers(key, *bases, wrong=0):
    """Private operations; their expected results are wrong if `wrong` is set."""
    return [{"base": base, "expected": pow(base, key.d, key.n) ^ wrong} for base in bases]


@pytest.fixture(name="two_keys")
def make_two_keys(tmp_path):
    """Five private operations with two keys, one of which has no primes; a public one; a power without
    a key.
    """
    first, second = seeded_key(NBITS), seeded_key(NBITS, seed=2)
    own = [{**power, "key": numbers(second, "n", "e", "d")} for power in powers(second, 0, 12345)]
    public = {"base": 5, "exponent": first.e, "expected": pow(5, first.e, first.n)}
    other = {"base": 3, "exponent": 5, "modulus": 7, "expected": 5}
    return vectors(tmp_path, first, *powers(first, 1, 2, first.n - 1), *own, public, other)


def vectors(directory, key, *tests):
    """A file of vectors, with a key for those that lack one."""
    path = directory / "vectors.json"
    path.write_text(json.dumps({"key": numbers(key, *ALL), "tests": tests}))
    return path


# ---- all ways to protect


@parametrize(
    "how, words",
    [
        ("--crt --blind", "CRT, message and exponent blinded, result checked"),
        pytest.param("--verify", "result checked", marks=regress),
        ("--blind exponent --set verify=false", "exponent blinded"),
        pytest.param("--set crt=true --blind message", "CRT, message blinded, result checked", marks=regress),
    ],
)
def test_on_native_rtl(cli, two_keys, how, words):
    cli.reports(
        f"check {two_keys} {how}",
        passed=5,
        failed=0,
        skipped=2,
        stage="native",
        protected_by=words.split(", "),
        reasons={"no private key: the vector has none, or asks for the public exponent": 2},
    )


@parametrize("design", one_now(("naive", "ssmm", "mont-ct", "ssmm-ct"), "ssmm"))
@parametrize("how", ["--crt --blind", "--blind", "--crt --set schedule=ladder"])
def test_other_designs_at_the_cycle_level(cli, two_keys, design, how):
    cli.reports(f"check {design} {two_keys} {how} --level cl", passed=5, failed=0, skipped=2)


def test_one_simulation_for_all_keys_of_a_width(cli, two_keys, monkeypatch):
    made = []
    real = Machine.simulation
    monkeypatch.setattr(
        Machine,
        "simulation",
        lambda self, *more, **options: made.append(self.nbits) or real(self, *more, **options),
    )
    cli.passes(f"check {two_keys} --crt")
    assert made == [NBITS]


def test_without_options_all_powers_are_run(cli, two_keys):
    cli.reports(f"check {two_keys} --level fl", passed=7, skipped=0, protected_by=[])


def test_text(cli, two_keys):
    cli.shows(
        f"check {two_keys} --crt --level fl",
        "on mont (fl, CRT, result checked)\n  passed 5, failed 0, not applicable 2\n",
    )


# ---- what third parties have


def encoded(key, message, kind=b"\0\2"):
    """A PKCS#1 v1.5 ciphertext with fixed padding."""
    size = key.nbits // 8
    em = kind + b"\7" * (size - 3 - len(message)) + b"\0" + message
    return f"{pow(int.from_bytes(em, 'big'), key.e, key.n):0{2 * size}x}"


def wycheproof(directory, names=ALL, change=lambda _: None):
    """Valid and invalid 128-bit encryptions, and a ciphertext above the modulus."""
    key = seeded_key(128)
    jwk = dict(zip(ALL, ("modulus", "publicExponent", "privateExponent", "prime1", "prime2"), strict=True))
    group = {jwk[name]: value for name, value in numbers(key, *names).items()}
    good, wrong = encoded(key, b"all"), encoded(key, b"all", b"\0\3")
    tests = [
        {"msg": b"all".hex(), "ct": good, "result": "valid"},
        {"msg": b"one".hex(), "ct": good, "result": "invalid"},
        {"msg": "", "ct": wrong, "result": "invalid"},
        {"msg": "", "ct": f"{key.n + 1:x}", "result": "invalid"},
    ]
    change(tests)
    groups = [{"type": "RsaesPkcs1Decrypt", "privateKey": group, "tests": tests}]
    path = directory / "decrypt.json"
    path.write_text(json.dumps({"algorithm": "RSAES-PKCS1-v1_5", "testGroups": groups}))
    return path


@parametrize("names", [ALL, ("n", "e", "d")], ids=["with primes", "without primes"])
@parametrize("level", one_now(("fl", "rtl"), "fl"))
def test_wycheproof(cli, tmp_path, names, level):
    cli.reports(
        f"check {wycheproof(tmp_path, names)} --crt --blind --level {level}",
        passed=3,
        failed=0,
        unpadded=3,
        reasons={"the base is not below the modulus": 1},
    )


def test_a_ciphertext_above_the_modulus_is_refused_on_all_designs(cli, tmp_path):
    """The naive machine accepts such a base, but the check of its result would not."""
    cli.reports(
        f"check naive {wycheproof(tmp_path)} --verify --level fl",
        passed=3,
        reasons={"the base is not below the modulus": 1},
    )


def test_a_wrong_verdict_fails(cli, tmp_path):
    path = wycheproof(tmp_path, change=lambda tests: tests[0].update(msg="00"))
    result = cli.finds(f"check {path} --crt --level fl")
    assert "tcId testGroups" not in result.out
    assert "the encoding is invalid (PKCS#1 v1.5 decryption: valid)" in result.out


@parametrize(
    "path, passed",
    [
        (DATA / "wycheproof_decrypt_512.json", 3),
        (DATA / "rsadp_512.rsp", 2),
        (DATA / "pkcs1_sign_512.txt", 2),
        (RSA / "FIPS_186-2" / "SigGen15_186-2.txt", 3),
        (RSA / "FIPS_186-2" / "KeyGenRSA.rsp", 3),
        (RSA / "pkcs1v15crypt-vectors.txt", 3),
    ],
    ids=lambda name: name.name if isinstance(name, Path) else "",
)
def test_files_with_private_keys(cli, path, passed):
    cli.reports(f"check {path} --crt --blind --level fl --limit 3", passed=passed, failed=0)


@regress
@parametrize("name", ["SigGen15_186-2.txt", "SigGenPSS_186-2.txt", "KeyGenRSA.rsp"])
def test_private_operations_of_nist_on_native_rtl(cli, name):
    """1,024 bits."""
    cli.reports(f"check {RSA}/FIPS_186-2/{name} --crt --blind --limit 10", passed=10, failed=0)


# ---- judged


def test_a_wrong_result_of_the_file_is_exit_1(cli, tmp_path):
    key = seeded_key(NBITS)
    path = vectors(tmp_path, key, *powers(key, 2), *powers(key, 3, wrong=1))
    report = cli.finds(f"check {path} --crt --blind --json").json()
    assert picked(report, "passed failed") == (1, 1)
    (failure,) = report["failures"]
    assert failure["reason"].startswith("the result equals the golden value, but the file has")
    assert failure["operands"] == {"base": 3, "exp": key.d, "mod": key.n}


def test_a_machine_that_finds_a_fault_is_exit_1(cli, two_keys, monkeypatch):
    monkeypatch.setattr(
        Session, "run_with_keys", lambda _, operations, *__: [Answer(Status.FAULT, 0, 9)] * len(operations)
    )
    report = cli.finds(f"check {two_keys} --crt --level fl --json").json()
    assert report["failed"] == 5
    assert report["failures"][0]["reason"].startswith(f"the machine answered status {int(Status.FAULT)}")


# ---- keys that are none

THREE_PRIMES = {"n": 3 * 11 * 17, "e": 3, "d": 27}


@parametrize(
    "key, how, reason",
    [
        ({"n": 3 * 11, "d": 3}, "--crt", "no private key: the vector has no public exponent beside it"),
        ({"n": 3 * 11, "e": 5, "d": 3}, "--crt", "no private key: its numbers do not belong together"),
        ({"n": 3 * 11 + 1, "e": 7, "d": 3}, "--verify", "no private key: its numbers do not belong together"),
        (THREE_PRIMES, "--crt", "no private key of two primes"),
        (THREE_PRIMES, "--blind message", ""),  # only CRT and a blinded exponent need the primes
        ({"n": 3 * 11, "e": 7, "d": 3, "p": 11, "q": 3}, "--crt --nbits 8", ""),
        (
            {"n": 3 * 71, "e": 3, "d": 47, "p": 71, "q": 3},
            "--crt --nbits 8",
            "a number of the key is too long for 8 bits, or a prime for half of them",
        ),
    ],
)
def test_keys(cli, tmp_path, key, how, reason):
    path = tmp_path / "key.json"
    path.write_text(json.dumps([{"base": 2, "expected": pow(2, key["d"], key["n"]), "key": key}]))
    cli.reports(
        f"check {path} {how} --level fl --allow-empty",
        passed=0 if reason else 1,
        failed=0,
        reasons={reason: 1} if reason else {},
    )


def test_a_machine_is_as_wide_as_primes_ask_for(cli):
    """A 512-bit key with a 272-bit prime."""
    path = DATA / "rsadp_512.rsp"
    report = cli.reports(f"check {path} --crt --nbits 512 --level fl --allow-empty", passed=0)
    assert report["reasons"]["a number of the key is too long for 512 bits, or a prime for half of them"] == 2
    cli.reports(f"check {path} --crt --nbits 544 --level fl", passed=2)


# ---- limit, jobs, interrupts


def test_jobs(cli, two_keys, monkeypatch):
    monkeypatch.setattr(answers, "LONG", 0)
    monkeypatch.setattr(answers, "STEP", 2 * NBITS * NBITS)
    cli.reports(f"check {two_keys} --crt --blind --jobs 2 --level fl", passed=5, failed=0)


def test_an_interrupted_check_goes_on(cli, two_keys, ledger, monkeypatch):
    monkeypatch.setattr(answers, "STEP", 1)
    computed = []
    real = Session.run_with_keys

    def run(self, operations, *more):
        if len(computed) == 3:
            computed.append(0)
            raise KeyboardInterrupt
        computed.extend(base for base, _ in operations)
        return real(self, operations, *more)

    monkeypatch.setattr(Session, "run_with_keys", run)
    argv = f"check {two_keys} --crt --level fl"
    assert cli(argv).code == 130
    cli.passes(argv)
    assert len(computed) == 1 + 5, "none twice"


# ---- refused


test_refusals = refusals(
    f"check {DATA}/rsadp_512.rsp",
    {
        "--crt --accelerator mont-001": "mont-001 has a controller of its own and no program",
        "--verify --accelerator systolic": "systolic has a controller of its own and no program",
        "--crt --set schedule=left-to-right": "shows the exponent; give fixed-window, always or ladder",
        "--blind half": "argument --blind",
    },
)
