"""`modexlab check`: files of every format through native RTL, counts, reasons, failures and exit codes."""

import json
import shutil
import time

from modexlab.eval import progress
from modexlab.eval.cli.commands import check as command
from modexlab.eval.designs.session import Answer, Session
from modexlab.eval.exchange.vectors import load
from modexlab.fl.status import Status

from tests.command_line import picked, refusals
from tests.harness import expect, one_now, parametrize, regress
from tests.paths import DATA, ROOT
from tests.vectors import nist

FOREIGN = ROOT / "tests" / "foreign"


@parametrize("level", one_now(("fl", "rtl"), "fl"))  # natively in `make test`: test_text
@parametrize(
    "name, passed, skipped",
    [
        ("bn_small.txt", 16, 8),
        ("wycheproof_signature_512.json", 5, 1),
        ("wycheproof_decrypt_512.json", 3, 0),
    ],
)
def test_every_format(cli, name, passed, skipped, level):
    result = cli(f"check {DATA / name} --level {level} --json")
    report = result.json()
    expect(result, code=0, err="")
    assert picked(report, "passed failed skipped") == (passed, 0, skipped)
    assert sum(report["reasons"].values()) == skipped
    assert picked(report, "design failures") == ("mont", [])
    assert report["backend"] == ("native" if level == "rtl" else None)


def test_text(cli):
    cli.shows(
        f"check {DATA}/wycheproof_signature_512.json {DATA}/bn_small.txt",
        "wycheproof_signature_512.json: Project Wycheproof JSON, on mont (native)\n",
        "  passed 5, failed 0, not applicable 1\n",
        "    not applicable, 1: the base is not below the modulus\n",
        "    passed, 1: the file accepts either verdict; the power itself is right\n",
        "total: passed 21, failed 0, not applicable 9\n",
    )


def test_products_on_a_machine_without_a_multiplier_apart(cli):
    cli.shows(
        f"check tiny {DATA}/bn_small.txt --nbits 32 --level cl",
        "there is no multiplier apart from its machine",
        "failed 0",
    )


@parametrize("how, passed", {"--nbits 1024 --level fl": 5, "--nbits 64 --backend native": 9}.items())
def test_the_smallest_machine(cli, how, passed):
    files = f"{DATA}/wycheproof_signature_512.json" if passed == 5 else f"{DATA}/bn_small.txt"
    cli.reports(f"check tiny {files} {how}", passed=passed)


@parametrize("backend", ["python", "verilog"])
def test_backends(cli, backend):
    cli.reports(f"check {DATA}/bn_small.txt --limit 2 --backend {backend}", passed=2, backend=backend)


def test_other_design_and_reduction(cli):
    """The naive machine accepts even moduli and large bases; --reduce makes negative ones positive."""
    run = f"check naive {DATA}/bn_small.txt --level fl --json"
    assert cli(run).json()["passed"] == 19
    assert picked(cli(f"{run} --reduce").json(), "passed skipped") == (20, 4)
    assert cli(run.replace("check", "check --accelerator", 1)).json()["passed"] == 19


def test_a_signature_above_the_modulus_is_invalid_even_where_it_can_be_computed(cli):
    """The naive machine accepts it, but RFC 8017 requires the verifier to reject it."""
    cli.reports(f"check naive {DATA}/wycheproof_signature_512.json", passed=6, failed=0, skipped=0)


def test_counts_by_file(cli):
    report = cli.json(f"check {DATA}/bn_small.txt {DATA}/wycheproof_decrypt_512.json --level fl")
    assert [part["passed"] for part in report["files"]] == [16, 3]
    assert report["passed"] == 19


def test_failures_are_shown_and_exit_1(cli, tmp_path):
    path = tmp_path / "wrong.txt"
    wrong = ("ModExp = 6\nA = 3\nE", "ModMul = 1\nA = 3\nB", "ModMul = 2\nA = 3\nB")
    path.write_text("\n".join(f"{operation} = 5\nM = 7\n" for operation in wrong))
    report = cli.finds(f"check {path} --json").json()
    assert picked(report, "passed failed") == (1, 2)
    failure = report["failures"][0]
    assert failure["name"] == "line 1 ModExp"
    assert failure["operands"] == {"base": 3, "exp": 5, "mod": 7}
    assert picked(failure, "result golden") == (5, 5)
    result = cli.finds(f"check {path}")
    said = "the result equals the golden value, but the file has"
    assert f"FAILED {path}: line 1 ModExp: {said} 6\n  base    3\n  exp     5\n  mod     7\n" in result.out
    assert f"FAILED {path}: line 11 ModMul: {said} 2\n" in result.out


def test_many_failures_are_cut_short_in_text_only(cli, tmp_path):
    path = tmp_path / "wrong.txt"
    path.write_text("\n".join(f"ModExp = 6\nA = 3\nE = {exp}\nM = 65521\n" for exp in range(23)))
    assert len(cli.json(f"check {path}")["failures"]) == 23
    out = cli(f"check {path}").out
    assert out.count("FAILED") == 20
    assert "... and 3 more failures; --json has them all\n" in out


def test_a_wrong_machine_is_exit_1(cli, monkeypatch):
    monkeypatch.setattr(Session, "run", lambda _, operands, *__: [Answer(Status.OK, 1, 9)] * len(operands))
    assert cli.finds(f"check {DATA}/wycheproof_signature_512.json --json").json()["failed"] == 5


def test_nothing_usable_is_said_loudly(cli, tmp_path):
    path = tmp_path / "sums.txt"
    path.write_text("Sum = 3\nA = 1\nB = 2\n\nModExp = 1\nA = 1\nE = 1\nM = 8\n")
    for how in ("", "--json"):
        result = cli(f"check {path} {how}")
        assert result.code == 2
        assert result.err.startswith("modexlab: error: NOTHING WAS CHECKED: all 2 vectors were skipped; ")
        assert "Sum is not a modular exponentiation or product" in result.out, (
            "the reasons are told all the same"
        )
    result = cli.passes(f"check {path} --allow-empty")
    assert result.err == f"modexlab: warning: {path}: NOTHING WAS CHECKED, all 2 vectors were skipped\n"
    result = cli.passes(f"check {path} {DATA}/bn_small.txt --level fl")
    assert f"warning: {path}: NOTHING WAS CHECKED" in result.err


def test_an_excerpt_is_checked_with_a_warning(cli, tmp_path):
    document = json.loads((DATA / "wycheproof_signature_512.json").read_text())
    del document["testGroups"][0]["tests"][1:]
    path = tmp_path / "excerpt.json"
    path.write_text(json.dumps(document))
    result = cli.passes(f"check {path} --json")
    assert result.json()["passed"] == 3
    assert result.err == f"modexlab: warning: {path}: it announces 6 vectors, but holds 4\n"


def test_reading_shows_progress(cli, monkeypatch):
    def slow(path):
        time.sleep(0.2)
        return load(path)

    monkeypatch.setattr(command, "load", slow)
    monkeypatch.setattr(progress, "DELAY", 0.05)
    path = DATA / "bn_small.txt"
    assert cli.passes(f"check {path} --level fl").err.startswith(f"reading {path}: 0 of 1 files, 0 s\n")


test_refusals = refusals(
    "check",
    {
        "/nowhere.json": "/nowhere.json cannot be read: No such file",
        f"{DATA}/rsa512.pem": "this text is of no known format; known formats: Project Wycheproof",
        f"mnt {DATA}/bn_small.txt": "did you mean 'mont'?",
        f"{DATA}/bn_small.txt --backend spice": "unknown backend 'spice'",
        f"{DATA}/bn_small.txt --set nstage=3": "did you mean 'nstages'?",
        f"{DATA}/bn_small.txt --nbits 9999": "out of range",
        f"{DATA}/bn_small.txt --nbits 4": "out of range; give 8 to 4096",
        f"cm-m-000 {DATA}/bn_small.txt --nbits 2048": "too large",
        f"dm-m-000 {DATA}/bn_small.txt --nbits 4096": "give at most 2048 bits",
        f"{DATA}/bn_small.txt --nbits 64 --set steps_per_stage=5": "does not divide the width of 64 bits",
        f"{DATA}/bn_small.txt --limit 0": "0 is too few; give a number from 1 up",
        "": "FILE",
    },
)


# ---- the long runs: whole files, private exponents, 1024 and 2048 bits


@regress
@parametrize("name, passed", {"SigVer15_186-3.rsp": 450, "SigVerPSS_186-3.rsp": 448}.items())
def test_public_exponents_of_nist(cli, tmp_path, name, passed):
    path = tmp_path / "nist.json"
    path.write_text(json.dumps(nist.document(name)))
    cli.reports(f"check {path}", passed=passed, failed=0)


def test_design_takes_the_folder_of_a_manifest(cli, tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("gcd.v", "oracle.py"):
        shutil.copy(FOREIGN / name, folder)
    shutil.copy(FOREIGN / "gcd.toml", folder / "design.toml")
    monkeypatch.chdir(tmp_path)
    cli.shows("check mine", "tiny-gcd: all levels agree")


@regress
@parametrize("design", ["mont", "mont-ct"])
def test_private_exponents_of_nist(cli, tmp_path, design):
    """Three signatures of 1,024 and three of 2,048 bits."""
    document = nist.document("SigGen15_186-2.txt")
    groups = [group for group in document["testGroups"] if len(group["n"]) in (256, 512)][::17]
    path = tmp_path / "private.json"
    path.write_text(json.dumps({**document, "numberOfTests": len(groups), "testGroups": groups}))
    cli.reports(f"check {design} {path}", passed=6, failed=0, skipped=0)


def test_an_unreadable_file_does_not_stop_the_others(cli, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("ModExp = 1\nA = 3\nthis is no line\n")
    result = cli(f"check {bad} {DATA}/bn_small.txt --level fl --json")
    report = result.json()
    assert (result.code, report["passed"], [part["file"] for part in report["unread"]]) == (2, 16, [str(bad)])
    assert "line 3 is neither" in report["unread"][0]["error"]
    assert result.err.startswith(f"modexlab: warning: not read: {bad}: line 3 is neither")
    alone = cli(f"check {bad}")
    assert (alone.code, alone.out) == (2, "") and "line 3 is neither" in alone.err


def test_what_is_beyond_the_limit_is_not_called_inapplicable(cli):
    cli.reports(f"check {DATA}/bn_small.txt --limit 5", passed=5, skipped=8, beyond_limit=11)
    cli.shows(
        f"check {DATA}/bn_small.txt --limit 5", "  passed 5, failed 0, not applicable 8, beyond --limit 11\n"
    )


def test_a_negative_modulus_after_reduction(cli, tmp_path):
    path = tmp_path / "negative.txt"
    path.write_text("ModExp = 5\nA = -4\nE = 5\nM = -7\n")
    cli.reports(f"check {path} --allow-empty", skipped=1)
    cli.reports(f"check {path} --reduce", passed=1)
