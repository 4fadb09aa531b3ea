"""Leaks in time that need a special public value, secret or stored state; attack and proof agree."""

import modexlab
from modexlab.eval.assurance.attacks.leakage import assess, compared_fields
from modexlab.eval.assurance.attacks.rsa_leakage import compared
from modexlab.eval.assurance.proof.registry import checks, prove
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.own_template import files
from modexlab.flow.prove.report import PROVED, REFUTED

from tests.command_line import refusals
from tests.designs.test_own import EXAMPLES
from tests.harness import NAME, one_now, parametrize, regress

SECONDS, TRACES = 20.0, 40
FIELDS = (("mode", 16), ("key", 16))
# the adder of `modexlab new accelerator` waits for a cycle in special cases
REGISTERS = """
        s.last_mode = Wire(nbits)
        s.last_key = Wire(nbits)
        s.count = Wire(4)
        s.waited = Wire(1)
        s.slow = Wire(1)

        @update
        def guard():
            s.slow @= {condition}

        @update_ff
        def history():
            s.waited <<= s.state == CALC
            if s.reset:
                s.last_mode <<= 0
                s.last_key <<= 0
                s.count <<= 0
            elif s.state == DONE:
                s.last_mode <<= s.mode
                s.last_key <<= s.key
            elif (s.state == IDLE) & s.istream.val:
                s.count <<= s.count + 1

        @update_ff
        def control():"""
CONDITIONS = {
    "a public value": "(s.mode == 7) & s.key[0]",
    "a constant": "(s.mode == 0xBEE5) & s.key[3]",
    "two constants": "(s.mode == 0xBEE5) & (s.key == 0x1234)",
    "a stored value": "(s.last_mode == 0x1234) & (s.mode == 7) & s.key[0]",
    "a repeated value": "(s.mode == s.last_mode) & s.key[2]",
    "a repeated secret": "s.last_key == s.key",
    "a stored secret": "s.last_key[0] & (s.mode == 3)",
    "a public value that is the secret": "s.mode == s.key",
    "the ninth operation": "(s.count == 9) & s.key[0]",
}
PUBLIC = "s.mode[0] & s.last_mode[1]"  # no leak


def guarded(folder, condition, promise=""):
    """The adder, slower under a condition."""
    for file, text in files("guarded", FIELDS, (("g", 16),)).items():
        text = text.replace(
            "        @update_ff\n        def control():", REGISTERS.format(condition=condition), 1
        )
        text = text.replace("            elif s.state == CALC:\n                s.state <<= DONE", WAIT)
        text = text.replace("    usual_nbits = 16", f'    usual_nbits = 16\n    secret = ("key",)\n{promise}')
        (folder / file).write_text(text)
    return modexlab.accelerator(folder).at(16)


WAIT = """\
            elif s.state == CALC:
                if s.waited | ~s.slow:
                    s.state <<= DONE"""


def time_of(accelerator):
    """The verdict of `prove --check time`."""
    check = next(item for item in checks(accelerator, ["time"]) if item.name == "time")
    return prove(check, SECONDS, {}).outcome.verdict


@parametrize("name", one_now(CONDITIONS, "a stored value"))
def test_leaks_are_found_with_every_seed(tmp_path, name):
    """The counterexample holds on the Python simulator of PyMTL3, too."""
    machine = guarded(tmp_path, CONDITIONS[name])
    for seed in range(1, 11):
        found = assess(compared_fields(machine, seed), 1500)
        assert found.time_leaks, seed
    one, other = found.time_leak.requests
    assert [mode for mode, _ in one] == [mode for mode, _ in other] and one != other
    assert len(one) <= 10
    with machine.session(backend="python") as session:
        first, second = (session.operate([requests])[0].cycles for requests in (one, other))
    assert abs(first - second) == 1


@regress
@parametrize("name", CONDITIONS)
def test_a_leak_disproves_constant_time(tmp_path, name):
    assert time_of(guarded(tmp_path, CONDITIONS[name])) == REFUTED


def test_public_values_may_change_the_time(tmp_path):
    """No leak is found, and the proof holds."""
    machine = guarded(tmp_path, PUBLIC)
    found = assess(compared_fields(machine), 1500)
    assert not found.time_leaks
    assert found.timing.pairs >= 15_000 and len(found.timing.values) > 5000 and found.timing.longest == 63
    assert time_of(machine) == PROVED


def test_output(cli, tmp_path):
    """The commands that are printed repeat the difference; held fields are printed, and a held value hides a
    leak that needs another one.
    """
    guarded(tmp_path, CONDITIONS["a repeated value"])
    attack = f"attack leakage --accelerator {tmp_path} --nbits 16 --traces 400"
    out = cli.passes(attack, code=1).out
    assert "LEAKS: time depends on field key" in out and "mode drawn for each operation" in out
    assert "operation 2     mode = " in out and " or " in out
    again = [line.partition("modexlab ")[2] for line in out.splitlines() if line.startswith("run again")]
    cycles = [cli.json(command)["cycles"] for command in again]
    assert len(cycles) == 2 and cycles[0] != cycles[1]
    report = cli.finds(f"{attack} --json").json()
    assert len(report["time"]["counterexample"]["streams"][0]) == 2
    guarded(tmp_path, CONDITIONS["a public value"])
    words = (
        "held: mode = 8",
        "pairs of operations that differ in the secret alone took equal times: 1 public value, up to 63",
        "which is no proof; `modexlab prove --check time` decides the time",
    )
    cli.shows(f"{attack.replace('400', '40')} --public mode=8", *words)


test_public_fields = refusals(
    f"attack leakage --accelerator {EXAMPLES / 'inverse'} --nbits 8",
    {
        "--public n=3": "unknown field of inverse 'n': there are m",
        "--public a=3": "--public a: this field is the secret; hold one of m",
        "--public m=256": "--public m=256 does not fit in the 8 bits of m",
        "--public m=3,5": "--public m has 2 values; give one",
        "--public m": "write NAME=VALUE, as in --public m=7",
    },
)


# ---- attack and proof


def agrees(machine, found):
    """An attack finds no leak in a machine that is proved, and a proof disproves a machine that leaks."""
    verdict = time_of(machine)
    assert not (found.time_leaks and verdict == PROVED) and not (verdict == REFUTED and not found.time_leaks)
    return verdict


@parametrize("name, secret", [("gcd", "a"), ("inverse", "a"), ("crc", "data")])
def test_examples(name, secret, monkeypatch):
    """The time of `crc` alone depends on nothing."""
    design = modexlab.accelerator(EXAMPLES / name)
    monkeypatch.setattr(design.kind, "secret", (secret,))
    machine = design.kind(32 if name == "crc" else 8)
    machine.design = design
    assert agrees(machine, assess(compared_fields(machine), TRACES)) == (PROVED if name == "crc" else REFUTED)


@parametrize("design", one_now(catalogue.designs(), catalogue.find("tiny")), ids=NAME)
def test_designs(design):
    machine = design.at(8)
    found = assess(compared(machine), TRACES)
    if machine.promises.constant_time:
        assert not found.time_leaks
    agrees(machine, found)
