"""`modexlab run`: results, cycles and JSON at every level, keys, traces, waveforms, and rejected options."""

import pytest
from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.interfaces import XCEL
from modexlab.eval.designs.session import Operated, Session
from modexlab.eval.designs.widths import width_for
from modexlab.eval.designs.workload_names import WORKLOADS
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.rsa_keys import RSAKey
from modexlab.fl.status import Status

from tests.command_line import ENCRYPT, picked, refusals
from tests.harness import FIRST, one_now, parametrize, regress_if
from tests.paths import DATA

KEY, PUBLIC, VECTORS = (DATA / name for name in ("rsa512.pem", "rsa512_public.pem", "bn_small.txt"))
TINY = "run mont --base 3 --exp 5 --mod 7"


# one design per multiplier, three of them in `make test`; test_machines.py has all designs
@parametrize(
    "design", one_now((design.name for design in FIRST.values()), "naive-001", "mont-001", "serial-003")
)
@parametrize(
    "workload",
    [
        pytest.param(workload, id=workload.name, marks=regress_if(workload.name != "decrypt"))
        for workload in WORKLOADS
    ],
)
def test_levels_agree(cli, design, workload):
    base, exp, mod = workload.on(find(design).at(32).modulus).operands
    operands = f"--base {base} --exp {exp} --mod {mod}"
    fl, cl, rtl = (cli.json(f"run {design} {operands} --level {level}") for level in ("fl", "cl", "rtl"))
    golden = pow(base, exp, mod)
    for report in (fl, cl, rtl):
        expected = {"design": design, "nbits": 32, "result": golden, "golden": golden, "ok": True}
        assert report | expected == report
    assert picked(fl, "level backend cycles") == ("fl", None, None)
    assert picked(cl, "level backend") == ("cl", "python")
    assert picked(rtl, "level backend") == ("rtl", "native")
    assert cl["cycles"] == rtl["cycles"] == cli.json(f"run --level formula {design} {operands}")["cycles"]


@parametrize("backend", ["python", "verilog", "native"])
def test_backends_agree(cli, backend):
    report = cli.json(f"{TINY} --backend {backend}")
    formula = cli.json(f"{TINY} --level formula")
    assert picked(report, "backend result") == (backend, 5)
    assert report["cycles"] == formula["cycles"]


def test_text(cli):
    result = cli("run mont --base 0x42b7bf7a --exp 0x10001 --mod 2603398711 --level fl")
    golden = pow(0x42B7BF7A, 65537, 2603398711)
    assert result.code == 0
    assert f"result          {golden} (0x{golden:x})\n" in result.out
    assert f"golden          {golden} (0x{golden:x})  ok\n" in result.out
    assert "cycles          none" in result.out


@parametrize("mod, nbits", [(7, 32), (2**32 - 5, 32), (2**32 + 15, 64), (2**63 + 29, 64)])
def test_default_width(cli, mod, nbits):
    assert width_for(mod) == nbits
    cli.reports(f"run mont --base 2 --exp 3 --mod {mod} --level fl", nbits=nbits)


def test_large_numbers_are_hexadecimal_text(cli):
    """Readers that store numbers as doubles are exact up to 2^53 - 1."""
    below, above = 2**53 - 1, 2**53
    for base, shown in ((below, below), (above, hex(above))):
        report = cli.json(f"run naive --base {base} --exp 1 --mod {2**54} --level fl")
        assert report["result"] == report["golden"] == shown


def test_settings(cli):
    report = cli.json(f"run mont-001 {ENCRYPT} --set nstages=2 --set steps_per_stage=16")
    assert report["ok"]
    assert report["params"]["nstages"] == 2
    assert report["cycles"] < 162


def test_a_wrong_result_is_exit_1(cli, monkeypatch):
    monkeypatch.setattr(Session, "operate", lambda *_, **__: [Operated([(Status.OK, 4)], 99)])
    result = cli.finds(f"{TINY} --level fl --json")
    assert result.json() | {"result": 4, "golden": 5, "ok": False} == result.json()
    cli.shows(f"{TINY} --level fl", "DIFFERS", code=1)


def test_a_status_instead_of_a_result_is_exit_1(cli, monkeypatch):
    monkeypatch.setattr(Session, "operate", lambda *_, **__: [Operated([(Status.EVEN_MODULUS, 0)], 1)])
    result = cli.finds(f"{TINY} --level fl")
    assert result.err.startswith("modexlab: error: the machine answered status 2: the modulus is even")


# ---- behind accelerator registers


@parametrize("design", one_now(("mont", "naive-001"), "mont"))
@parametrize("nbits", one_now((32, 72), 72))
def test_registers(cli, design, nbits):
    """Words pushed, go, words popped, status: the same answers at all levels and, with a clock, the same
    cycles.
    """
    words = -(-nbits // 32)
    run = f"run {design} {ENCRYPT} --nbits {nbits} --json"
    stream = cli(f"{run} --level cl").json()
    fl, cl, rtl = (cli(f"{run} --interface xcel --level {level}").json() for level in ("fl", "cl", "rtl"))
    for report in (fl, cl, rtl):
        assert report["ok"] is True
        assert report["interface"] == "xcel"
        assert report["result"] == stream["result"]
        assert report["accesses"] == 4 * words + 2
    assert (stream["interface"], "accesses" in stream) == ("stream", False)
    assert fl["cycles"] is None
    assert cl["cycles"] == rtl["cycles"] > stream["cycles"] + 3 * words


def test_registers_in_text(cli):
    cli.shows(
        f"{TINY} --interface xcel --level fl", "mont, 32 bits (fl, behind registers): ", "accesses        6: "
    )


def test_the_sequence_of_accesses():
    """In the protocol's terms: least significant word first, and go last."""
    sequence = XCEL.requests(exponentiation(40), (1 << 32 | 5, 6, 7))
    writes = [(1, 1, 5), (1, 1, 1), (1, 2, 6), (1, 2, 0), (1, 3, 7), (1, 3, 0), (1, 0, 0)]
    assert sequence == [*writes, (0, 0, 0), (0, 0, 0), (0, 4, 0)]
    answers = [(1, 0)] * 7 + [(0, 9), (0, 1), (0, 0)]
    assert XCEL.outcome(exponentiation(40), answers) == (Status.OK, 1 << 32 | 9)
    assert XCEL.outcome(exponentiation(40), [*answers[:-1], (0, 2)])[0] == Status.EVEN_MODULUS


# ---- keys


def test_encrypt_and_decrypt_with_a_key(cli):
    key = RSAKey.load(KEY)
    report = cli.json(f"run mont --key {KEY} --encrypt 42 --level fl")
    cipher = report["result"]
    assert report["ok"]
    assert report["nbits"] == 512
    assert int(cipher, 16) == pow(42, key.e, key.n)
    for how in ("", "--crt"):
        report = cli.reports(f"run mont --key {KEY} --decrypt {cipher} {how} --level fl", result=42)


def test_public_key_encrypts(cli):
    cli.passes(f"run mont --key {PUBLIC} --encrypt 5 --level fl")


# ---- traces and waveforms


def test_trace(cli):
    result = cli.passes(f"{TINY} --backend python --trace")
    cycles = int(result.out.rsplit(maxsplit=1)[-1])
    lines = [line for line in result.out.splitlines() if line.partition(":")[0].strip().isdigit()]
    assert len(lines) >= cycles


def test_the_help_explains_the_trace(cli):
    """Its examples occur in the traces of the first lesson in README.md."""
    lesson = "run mont --nbits 8 --base 5 --exp 5 --mod 13 --trace"
    told = " ".join(cli("run --help").out.split())
    assert "such as (5)" in told and "1: .       (" in cli(f"{lesson} --level cl".replace("mont", "tiny")).out
    assert "such as step|* *|" in told and "3: .       |step   |* *|" in cli(f"{lesson}").out
    assert "3: .       |  1|* *|" in cli(f"{lesson} --level cl").out
    assert "`gtkwave mont.vcd`" in told


def test_trace_goes_to_stderr_beside_json(cli):
    result = cli(f"{TINY} --backend python --trace --json")
    assert result.json()["ok"]
    assert "     0: " in result.err


@parametrize("backend", ["python", "native"])
def test_vcd(cli, tmp_path, backend):
    path = tmp_path / "waves.vcd"
    cli.passes(f"{TINY} --backend {backend} --vcd {path}")
    assert "$enddefinitions" in path.read_text()


# ---- what it refuses


test_refusals = refusals(
    "run",
    {
        f"mnt {ENCRYPT}": "unknown design 'mnt': did you mean 'mont'?",
        "mont --base 3 --exp 5 --mod 8": "modulus 8 is even",
        "mont --base 3 --exp 5 --mod 0": "modulus is 0",
        "mont --base 9 --exp 5 --mod 7": "base 9 is not below the modulus 7",
        f"mont --base 3 --exp {2**40} --mod 7": "does not fit in 32 bits; give --nbits 64 or more",
        f"mont --base 3 --exp 5 --mod {2**40 + 1} --nbits 32": "does not fit in 32 bits",
        f"mont --base 3 --exp {2**99} --mod {2**40 + 1} --nbits 32": "32 bits; give --nbits 128 or more",
        f"mont-001 --key {KEY} --decrypt 5 --crt --nbits 64": "not fit in 64 bits; give --nbits 288 or more",
        f"mont-keyed --key {KEY} --decrypt 5 --crt --nbits 64": "does not fit in 64 bits; give --nbits 512",
        f"mont-keyed --key {KEY} --decrypt 5 --crt --nbits 512 --level fl": "machine of 512 bits takes 256",
        "mont --base 3 --exp 5": "no --mod; give --base, --exp and --mod",
        "mont": "no --base, --exp, --mod; give --base, --exp and --mod, or --key",
        f"mont {ENCRYPT} --set nstage=4": "did you mean 'nstages'?",
        f"mont-001 {ENCRYPT} --set nstages=3": "nstages = 3 does not divide the width of 32 bits",
        f"mont {ENCRYPT} --level gates": "argument --level",
        f"mont {ENCRYPT} --backend spice": "unknown backend 'spice': there are python",
        f"mont {ENCRYPT} --level cl --backend native": "the cycle level runs with backend python",
        f"mont {ENCRYPT} --level fl --backend native": "the functional level has no backend",
        f"mont {ENCRYPT} --level fl --trace": "the functional level has no clock to trace",
        f"mont {ENCRYPT} --vcd /nowhere/x.vcd": "--vcd /nowhere/x.vcd: there is no such directory",
        f"mont {ENCRYPT} --vcd ''": "--vcd '': this is not the name of a file",
        f"mont {ENCRYPT} --encrypt 5": "--encrypt, --decrypt and --crt need a key",
        f"mont {ENCRYPT} --key {KEY} --encrypt 5": "--base, --exp, --mod with --key",
        f"mont --key {KEY}": "a key needs one of --encrypt M and --decrypt C",
        f"mont --key {KEY} --encrypt 5 --decrypt 5": "a key needs one of",
        f"mont --key {KEY} --encrypt 5 --crt": "are for a private key; add --key FILE and --decrypt C",
        f"mont-001 --key {KEY} --encrypt 5 --crt": "are for a private key; add --key FILE",
        f"mont --key {KEY} --encrypt {2**512}": "is not in 0..n-1",
        "mont --key /nowhere.pem --encrypt 5": "/nowhere.pem cannot be read: No such file",
        f"mont --key {VECTORS} --encrypt 5": "bn_small.txt",
        f"mont-keyed --key {PUBLIC} --decrypt 5 --crt": "public",
        f"mont --key {PUBLIC} --decrypt 5": "is public",
    },
)
