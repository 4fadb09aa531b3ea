"""`modexlab run --crt --blind --verify`: private operations by programs, repeated runs, inconsistent keys,
and rejected options.
"""

import json
import re

import pytest
from modexlab.eval.designs.catalogue import find
from modexlab.fl.rsa_keys import RSAKey
from modexlab.fl.status import MEANING, Status
from modexlab.proc.software.seeded_keys import seeded_key

from tests.command_line import picked, refusals
from tests.harness import parametrize, regress, regress_if
from tests.paths import DATA

PEM = DATA / "rsa512.pem"
PUBLIC = DATA / "rsa512_public.pem"
NBITS = 64
KEY = seeded_key(NBITS)
CIPHER = 0x1234


@pytest.fixture(name="key")
def make_key(tmp_path):
    return written(tmp_path)


def written(folder, **changed):
    """A file with the numbers of the key, some of them changed."""
    path = folder / "key.json"
    path.write_text(json.dumps({"n": KEY.n, "e": KEY.e, "d": KEY.d, **KEY.crt()._asdict(), **changed}))
    return path


# ---- results, cycles, repetition


def test_a_key_of_openssl_natively(cli):
    """512 bits; its longer prime needs a machine of 544 bits."""
    key = RSAKey.load(PEM)
    told = cli(f"run mont-keyed --key {PEM} --decrypt {CIPHER} --crt --blind --json")
    report = told.json()
    assert report["ok"] is True and int(report["result"], 16) == pow(CIPHER, key.d, key.n)
    assert "544 bits, because CRT needs twice the length of the longer prime" in told.err
    assert picked(report, "nbits backend status status_name") == (544, "native", 0, "OK")
    assert report["cycles"] == report["formula"]
    chosen = {"schedule": "fixed-window", "crt": True, "blind": "both", "verify": True, "fit": "modulus"}
    assert report["params"].items() >= chosen.items()
    assert any("cmp" in line for line in report["program"])


WAYS = ("--verify", "--crt", "--crt --blind", "--blind exponent")
DESIGNS = ("mont-keyed", "heap")


@parametrize(
    "design, how",
    [
        # each design and each protection once, the others in `make regress`
        pytest.param(design, how, marks=regress_if(DESIGNS.index(design) != WAYS.index(how) % 2))
        for design in DESIGNS
        for how in WAYS
    ],
)
def test_levels_agree(cli, key, design, how):
    run = f"run {design} --key {key} --decrypt {CIPHER} {how} --seed 1 --json"
    fl, cl = (cli(f"{run} --level {level}").json() for level in ("fl", "cl"))
    assert fl["ok"] and cl["ok"] and fl["cycles"] is None
    rtl = cli(run).json()
    assert rtl["ok"] and rtl["cycles"] == cl["cycles"] == cl["formula"]


def test_a_seed_repeats_a_run(cli, key):
    """Other random numbers give the same result."""
    run = f"run mont-keyed --key {key} --decrypt {CIPHER} --blind --level cl --json --seed"
    first, again, other = (cli(f"{run} {seed}").json() for seed in (1, 1, 2))
    assert first == again and first["result"] == other["result"]


def test_cycles_of_a_steady_multiplier_tell_nothing(cli, key):
    run = f"run mont-keyed --key {key} --crt --blind --level cl --json"
    cycles = {
        cli(f"{run} --decrypt {cipher} --seed {seed}").json()["cycles"]
        for cipher, seed in ((0, 1), (1, 1), (CIPHER, 2), (KEY.n - 1, 3))
    }
    assert len(cycles) == 1


def test_text(cli, key):
    out = cli(f"run mont-keyed --key {key} --decrypt {CIPHER} --crt --blind --level fl").out
    first, result, golden, *_ = out.splitlines()
    assert (
        first == "mont-keyed, 64 bits (fl): fixed-window, CRT, message and exponent blinded, result checked"
    )
    value = pow(CIPHER, KEY.d, KEY.n)
    assert result == f"{'result':<16}0x{value:x}" and golden == f"{'golden':<16}0x{value:x}  ok"
    length, command = re.findall(r"program +(\d+) words; `modexlab (.*)` prints them", out)[0]
    cli.shows(command, f"\n{length} words; ")
    out = cli(f"run mont-keyed --key {key} --decrypt {CIPHER} --blind message --level fl").out
    assert out.startswith("mont-keyed, 64 bits (fl): fixed-window, message blinded, result checked\n")


# ---- wrong keys

WRONG = {
    "qinv": ({"qinv": KEY.qinv ^ 1}, Status.BAD_KEY),
    "p": ({"p": KEY.p - 2}, Status.BAD_KEY),
    "q, so that p q is not n": ({"q": KEY.q + 2}, Status.BAD_KEY),
    "n": ({"n": KEY.n - 2}, Status.BAD_KEY),
    "even p": ({"p": KEY.p - 1}, Status.BAD_KEY),
    "dp": ({"dp": KEY.dp ^ 2}, Status.FAULT),
    "dq": ({"dq": KEY.dq ^ 2}, Status.FAULT),
    "e": ({"e": KEY.e + 2}, Status.FAULT),
    "even n": ({"n": KEY.n - 1}, Status.EVEN_MODULUS),
}


@parametrize("how", ["--crt", pytest.param("--crt --blind", marks=regress)], ids=["crt", "crt and blinding"])
@parametrize("changed, status", WRONG.values(), ids=WRONG)
def test_a_wrong_key_is_found_by_the_machine(cli, tmp_path, changed, status, how):
    path = written(tmp_path, **changed)
    run = f"run mont-keyed --key {path} --decrypt {CIPHER} {how} --seed 1"
    assert f"key file {path} holds a wrong key" in cli.fails(f"{run}")
    for level in ("fl", "rtl"):
        result = cli(f"{run} --unchecked --level {level} --json")
        report = result.json()
        assert (result.code, report["ok"], report["result"]) == (1, False, None)
        assert picked(report, "status status_name") == (int(status), status.name)
        assert report["meaning"] == MEANING[status]
    result = cli.finds(f"{run} --unchecked --level fl")
    assert f"status          {int(status)} {status.name}: {MEANING[status]}\n" in result.out
    assert "result  " not in result.out


def test_a_wrong_private_exponent_is_found_without_crt(cli, tmp_path):
    path = written(tmp_path, d=KEY.d ^ 4)
    run = f"run mont-keyed --key {path} --decrypt {CIPHER} --unchecked --level fl --json"
    assert picked(cli.finds(f"{run} --verify").json(), "status_name result") == ("FAULT", None)
    # without the check the wrong result is released: it is the power by the wrong d
    assert cli(f"{run} --blind message --set verify=false").json()["result"] != pow(CIPHER, KEY.d, KEY.n)


# ---- designs without programs


def test_twins_make_two_runs_of_half_the_width(cli):
    key = RSAKey.load(PEM)
    report = cli.reports(
        f"run mont-001 --key {PEM} --decrypt {CIPHER} --crt --level cl", operation="decrypt by CRT", nbits=288
    )
    assert len(report["cycles_of_parts"]) == 2 and report["cycles"] == sum(report["cycles_of_parts"])
    assert int(report["result"], 16) == pow(CIPHER, key.d, key.n)
    assert "program" not in report and not find("mont-001").programmed


OURS = f"mont-keyed --key {PEM} --decrypt 5"
test_refusals = refusals(
    "run",
    {
        f"mont-keyed --key {PUBLIC} --decrypt 5 --crt": f"the key in {PUBLIC} is public: give",
        f"mont-keyed --key {PEM} --crt": "are for a private key; add --key FILE and --decrypt C",
        f"mont-keyed --key {PEM} --encrypt 5 --blind": "are for a private key; add --key FILE",
        "mont-keyed --decrypt 5 --verify": "are for a private key; add --key FILE and --decrypt C",
        "mont-keyed --base 3 --exp 5 --mod 7 --crt": "are for a private key",
        f"mont-001 --key {PEM} --decrypt 5 --blind": "mont-001 has a controller of its own and no program",
        f"mont-001 --key {PEM} --decrypt 5 --verify": "no program, which --blind or --verify needs",
        f"{OURS} --blind half": "argument --blind",
        f"{OURS} --crt --base 3": "--base with --key",
        f"mont-keyed --key {PEM} --decrypt {2**512} --crt": "is not in 0..n-1",
        f"{OURS} --crt --nbits 544 --set schedule=sliding-window": "shows the exponent; give fixed-window",
        f"{OURS} --verify --set schedule=always --set window=2": "window = 2 with schedule = always, which",
    },
)
