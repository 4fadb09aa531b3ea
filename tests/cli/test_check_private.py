"""`modexlab check --crt --blind --verify`: private operations, run by programs that use the key."""

import json

import pytest
from modexlab.eval.designs.machine import Machine
from modexlab.eval.designs.session import Answer, Session
from modexlab.eval.exchange.vectors import answers
from modexlab.fl.status import Status
from modexlab.proc.software.seeded_keys import seeded_key

from tests.command_line import picked, refusals
from tests.harness import one_now, parametrize, regress
from tests.paths import DATA
from tests.vectors import nist

NBITS = 32
ALL = ("n", "e", "d", "p", "q")


FIELDS = dict(zip(ALL, ("modulus", "publicExponent", "privateExponent", "prime1", "prime2"), strict=True))


def private_group(key, *tests):
    """A group of decryptions with the numbers of a key, by name."""
    private = {FIELDS[name]: f"{value:x}" for name, value in key.items()}
    return {"type": "RsaesPkcs1Decrypt", "privateKey": private, "tests": tests}


def powers(key, *bases, result="invalid"):
    """Private operations; no base is the encryption of a padded message, so "valid" is wrong."""
    size = 2 * ((key["n"].bit_length() + 7) // 8)
    tests = [{"ct": f"{base:0{size}x}", "msg": "", "result": result} for base in bases]
    return private_group(key, *tests)


def public(n, e, signature):
    """A public operation: the verification of a signature."""
    test = {"sig": signature, "msg": "", "result": "invalid"}
    return {"type": "RsassaPkcs1Verify", "sha": "SHA-1", "n": f"{n:x}", "e": f"{e:x}", "tests": [test]}


def numbers(key, *names):
    return {name: getattr(key, name) for name in names or ALL}


def vectors(directory, *groups):
    """A file with these groups."""
    path = directory / "vectors.json"
    path.write_text(json.dumps({"algorithm": "RSAES-PKCS1-v1_5", "testGroups": groups}))
    return path


@pytest.fixture(name="two_keys")
def make_two_keys(tmp_path):
    """Five private operations with two keys, one of which has no primes, and two public operations."""
    first, second = seeded_key(NBITS), seeded_key(NBITS, seed=2)
    return vectors(
        tmp_path,
        powers(numbers(first), 1, 2, first.n - 1),
        powers(numbers(second, "n", "e", "d"), 0, 12345),
        public(first.n, first.e, "00000005"),
        public(7, 5, "03"),
    )


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
        backend="native",
        protected_by=words.split(", "),
        reasons={"no private key: the vector has none, or asks for the public exponent": 2},
    )


@parametrize("design", one_now(("heap", "mont-keyed"), "heap"))
@parametrize("how", ["--crt --blind", "--blind", "--crt --set schedule=always"])
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
        "on mont-keyed (fl, CRT, result checked)\n  passed 5, failed 0, not applicable 2\n",
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
    good, wrong = encoded(key, b"all"), encoded(key, b"all", b"\0\3")
    tests = [
        {"msg": b"all".hex(), "ct": good, "result": "valid"},
        {"msg": b"one".hex(), "ct": good, "result": "invalid"},
        {"msg": "", "ct": wrong, "result": "invalid"},
        {"msg": "", "ct": f"{key.n + 1:x}", "result": "invalid"},
    ]
    change(tests)
    return vectors(directory, private_group(numbers(key, *names), *tests))


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
    """The check of the result would not accept such a base."""
    cli.reports(
        f"check heap {wycheproof(tmp_path)} --verify --level fl",
        passed=3,
        reasons={"the base is not below the modulus": 1},
    )


def test_a_wrong_verdict_fails(cli, tmp_path):
    path = wycheproof(tmp_path, change=lambda tests: tests[0].update(msg="00"))
    result = cli.finds(f"check {path} --crt --level fl")
    assert "tcId testGroups" not in result.out
    assert "the encoding is invalid (PKCS#1 v1.5 decryption: valid)" in result.out


@parametrize("how", ["--level fl --limit 3", pytest.param("--limit 10", marks=regress)])
def test_private_operations_of_nist(cli, tmp_path, how):
    """1,024 bits."""
    path = tmp_path / "nist.json"
    path.write_text(json.dumps(nist.document("SigGen15_186-2.txt")))
    cli.reports(f"check {path} --crt --blind {how}", passed=int(how.split()[-1]), failed=0)


# ---- judged


def test_a_wrong_result_of_the_file_is_exit_1(cli, tmp_path):
    key = seeded_key(NBITS)
    path = vectors(tmp_path, powers(numbers(key), 2), powers(numbers(key), 3, result="valid"))
    report = cli.finds(f"check {path} --crt --blind --json").json()
    assert picked(report, "passed failed") == (1, 1)
    (failure,) = report["failures"]
    assert "the encoding is invalid (PKCS#1 v1.5 decryption: valid)" in failure["reason"]
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
    path = vectors(tmp_path, powers(key, 2))
    cli.reports(
        f"check {path} {how} --level fl --allow-empty",
        passed=0 if reason else 1,
        failed=0,
        reasons={reason: 1} if reason else {},
    )


def test_a_machine_is_as_wide_as_primes_ask_for(cli):
    """A 512-bit key with a 272-bit prime."""
    path = DATA / "wycheproof_decrypt_512.json"
    report = cli.reports(f"check {path} --crt --nbits 512 --level fl --allow-empty", passed=0)
    assert report["reasons"]["a number of the key is too long for 512 bits, or a prime for half of them"] == 3
    cli.reports(f"check {path} --crt --nbits 544 --level fl", passed=3)


# ---- limit, jobs, interrupts


def test_jobs(cli, two_keys, monkeypatch):
    monkeypatch.setattr(answers, "LONG", 0)
    monkeypatch.setattr(answers, "STEP", 2 * NBITS * NBITS)
    cli.reports(f"check {two_keys} --crt --blind --jobs 2 --level fl", passed=5, failed=0)


def test_an_interrupted_check_goes_on(cli, two_keys, store, monkeypatch):
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
    f"check {DATA}/wycheproof_decrypt_512.json",
    {
        "--crt --accelerator mont-001": "mont-001 has a controller of its own and no program",
        "--verify --accelerator systolic": "systolic has a controller of its own and no program",
        "--crt --set schedule=sliding-window": "shows the exponent; give fixed-window or always",
        "--blind half": "argument --blind",
    },
)
