"""`modexlab attack leakage` and `modexlab attack faults`: output, files and rejected options."""

import re
from dataclasses import replace

from modexlab.eval.assurance.attacks import leakage, suite
from modexlab.eval.cli.arguments import settings_of
from modexlab.eval.cli.commands.attack import everything, leak
from modexlab.eval.designs.catalogue import find
from modexlab.eval.lab.store import reference_verdicts
from modexlab.eval.lab.verdicts import ATTACKS

from tests.command_line import picked, refusals
from tests.harness import parametrize, regress
from tests.paths import DATA


def test_models_are_those_that_there_are():
    assert tuple(leak.MODELS) == leakage.MODELS


def test_leak(cli, tmp_path):
    """A leak gives exit code 1; the same seed gives the same figures."""
    found = cli.finds(f"attack leakage mont --nbits 8 --traces 2000 --json -o {tmp_path}/curve.png").json()
    assert picked(found, "design nbits traces fixed") == ("mont", 8, 2000, "exponent")
    assert found["leaks"] is True and found["max_t"] > 4.5 and 0 < found["worst_cycle"] < found["cycles"]
    assert len(found["halves"]) == 2 and not found["time"]["leaks"]
    assert any(item["name"] == "dpath.exponent.bits" for item in found["registers_alone"])
    picture = (tmp_path / "curve.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
    again = cli.json("attack leakage mont --nbits 8 --traces 2000")
    kept = [key for key in found if key not in ("seconds", "traces_per_second", "picture")]
    assert [again[key] for key in kept] == [found[key] for key in kept]
    cli.shows(
        f"attack leakage mont --nbits 8 --traces 2000 --seed 2 --model weight -o {tmp_path}/c.html",
        "verdict         LEAKS: power depends on the exponent",
        "Hamming weight",
        code=1,
    )
    assert "vega" in (tmp_path / "c.html").read_text()


def test_no_leak_is_exit_code_0(cli):
    """With as many operations, the same machine without blinding leaks."""
    attack = "attack leakage mont-keyed --nbits 16 --traces 1500 --set schedule=fixed-window"
    cli.shows(attack, "LEAKS: power depends on the exponent", code=1)
    said = "no leak found with 1,500 operations, which is no proof"
    cli.shows(f"{attack} --blind --set verify=false", said, "base drawn for each operation")


@parametrize("command", ["leakage", "faults"])
def test_help_names_the_exit_code(cli, command):
    assert "The exit code is 1 if a " in " ".join(cli(f"attack {command} --help").out.split())


def test_faults(cli):
    """Bellcore: the command ends with a prime of the key."""
    common = "attack faults mont-keyed --nbits 16 --crt --blind"
    found = cli.finds(f"{common} --set verify=false --bellcore --samples 1000 --json").json()
    assert found["injected"] == sum(found[key] for key in ("no_effect", "caught", "hang", "wrong_result"))
    assert not found["checked"] and found["wrong_result"] > 0
    bellcore = found["bellcore"]
    n, factor = bellcore["n"], bellcore["factor"]
    assert 1 < factor < n and n % factor == 0 and factor * bellcore["other_factor"] == n
    assert (pow(bellcore["faulty_signature"], bellcore["e"], n) - bellcore["message"]) % factor == 0
    assert pow(bellcore["signature"], bellcore["e"], n) == bellcore["message"]
    cli.shows(
        f"{common} --samples 400",
        "the result is checked",
        "400 of them, at random",
        "none of 0 wrong results reveals a prime",
    )


test_what_is_refused = refusals(
    "",
    {
        "attack leakage monts": "did you mean 'mont",
        "attack leakage mont-001 --blind": "give mont-keyed or heap",
        f"attack leakage mont --key {DATA}/rsa512.pem": "--key with a mont without a key",
        f"attack leakage mont-keyed --crt --nbits 64 --key {DATA}/rsa512.pem": "give --nbits 512",
        f"attack leakage mont-keyed --crt --key {DATA}/rsa512_public.pem": "is public",
        "attack leakage mont -o curve.pdf": "give a name that ends in .png",
        "attack leakage mont --nbits 8 --traces 10": "10 traces are too few",
        "attack leakage mont --model toggles": "without --netlist",
        "attack leakage mont --fixed message --message fixed": "both classes would be the same",
        "attack faults mont-keyed --nbits 8 --bellcore": "add --crt",
        "attack faults mont --samples 0": "0 is too few",
        "attack faults mont --exhaustive --samples 5": "not allowed with",
    },
)


def test_commands_of_recorded_attacks_give_their_machines():
    attacks = [item for item in reference_verdicts.reference() if item.kind in ATTACKS]
    for item in attacks:
        design = find(item.subject)
        settings = settings_of(design, dict(re.findall(r"--set (\S+)=(\S+)", item.command)))
        assert design.at(item.nbits, **settings).parameters == item.settings, item.command
    assert attacks


@regress
def test_all_attacks_are_recorded(cli, tmp_path, monkeypatch):
    """The second run reuses the verdicts in the store; a verdict has its command and its hardware."""
    mont = find("mont-keyed").at(16, schedule="fixed-window", crt=True, verify=True)
    planned = [suite.Attack(mont, kind, f"{kind}, crt, check") for kind in ATTACKS]
    monkeypatch.setattr(reference_verdicts, "FILE", tmp_path / "verdicts.jsonl")
    reference_verdicts.FILE.write_text("")
    monkeypatch.setattr(everything, "attacks", lambda: planned)
    monkeypatch.setattr(suite, "TRACES", 400)
    monkeypatch.setattr(suite, "SAMPLES", 200)
    store = f"--store {tmp_path / 'store.jsonl'}"
    leak, faults = cli.json(f"attack all --record {store}")
    assert (leak["verdict"], faults["verdict"]) == ("power leak", "no wrong result released")
    assert faults["command"].startswith("modexlab attack faults mont-keyed --nbits 16 --set ")
    recorded = [*reference_verdicts.reference()]
    assert [item.kind for item in recorded] == ["faults", "leakage"]
    assert not any(item.stale for item in recorded)
    assert all(replace(item, content="other").stale for item in recorded)
    monkeypatch.setattr(suite.Attack, "run", None)
    assert cli.json(f"attack all {store}") == [leak, faults]
