"""The examples in the help texts work as printed."""

import json
import re
import shlex
import shutil

import pytest
from modexlab.eval.cli import main as command_line
from modexlab.eval.cli.routes import ROUTES, form_of
from modexlab.eval.exchange.package import shuttle
from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.store import reference_verdicts as verdicts
from modexlab.eval.lab.store.export import export
from modexlab.eval.lab.store.store import Store
from modexlab.fl.rsa_keys import RSAKey

from tests.harness import module_fixture, parametrize, regress_if
from tests.paths import DATA, ROOT

from ..kits.pdks import require

FILES = {  # file name in the examples: a small file of that kind
    "key.pem": "rsa512.pem",
    "rsa_signature_2048_sha256_test.json": "wycheproof_signature_512.json",
    "rsa_pkcs1_2048_test.json": "wycheproof_decrypt_512.json",
    "bn_tests.txt": "bn_small.txt",
    "program.c": "gcd.c",
    "power.c": "power.c",
}
ELSEWHERE = ("new.manifest", "new.wrapper", "check_manifest", "check_lab", "sweep", "sweep_plan", "figures")
TEXTS = [
    command_line.EXAMPLES,
    *(form_of(form).examples for form, route in ROUTES.items() if route.module not in ELSEWHERE),
]
EXAMPLES = {
    line.strip() for text in TEXTS for line in text.splitlines() if line.strip().startswith("modexlab ")
}


# through the flow, but small: test_asic.py runs it too
QUICK = ("modexlab asic mont --nbits 8 --layout",)


def marked(example):
    """Tables of all machines and runs of the flow are slow: `make test` runs one, for the README."""
    whole = re.fullmatch(r"modexlab (report.*|proc soc .*|proc systems.*)", example)
    whole = (
        whole
        or re.search(r" (2048|1024) .*-o", example)
        or re.search(r"--table RTL --measure|cores .*--measure|--shuttle", example)
    )
    # other tests do this with fewer bits
    whole = whole or re.search(
        r"check .* --crt|verilog (.* 64 --set|.* 128 |proc |mont --any)|proc pow|all --check Halve( --m|$)",
        example,
    )
    flow = (
        re.match(r"modexlab (asic|attack|prove .*(protocol|netlist)|prove proc)( |$)", example)
        and example not in QUICK
    )
    return pytest.param(example, marks=regress_if(whole or flow))


def arguments(example):
    """The arguments of an example. Long operands of software take a quarter of an hour and are in
    test_systems.py.
    """
    return shlex.split(example.split("  ", 1)[0].partition(" > ")[0].replace(" 512 1024 2048", ""))[1:]


@pytest.fixture
def cores(tmp_path, monkeypatch):
    """A working directory with the folder of a manifest that examples name."""
    folder = tmp_path / "cores" / "mine"
    shutil.copytree(ROOT / "tests" / "foreign", folder)
    (folder / "start_done.toml").rename(folder / "design.toml")
    monkeypatch.chdir(tmp_path)


@parametrize("example", sorted(EXAMPLES))
def test_example_is_understood(example, cores):
    """Examples parse, also those that only run in the long regression."""
    assert callable(command_line.parsed(arguments(example)).execute)


@module_fixture
def measured(tmp_path_factory):
    """A store with one figure, in row 1001."""
    path = tmp_path_factory.mktemp("store") / "store.jsonl"
    point = Point("mmmul-004", 1024, stage="formula")
    with Store(path) as store:
        store.record(point, measure(point))
    return path


@parametrize("example", [marked(example) for example in sorted(EXAMPLES)])
def test_example(example, tmp_path, cores, measured, store, monkeypatch, cli):
    for name in ("store", "before", "after", "machine-a", "machine-b"):
        shutil.copy(measured, tmp_path / f"{name}.jsonl")
    with Store(measured) as before:
        export(before, "reference", tmp_path / "reference.jsonl")
    if (kit := re.search(r"--kit ([\w-]+)( |$)", example)) and kit[1] != "all":
        require(monkeypatch, kit[1])
    if "--shuttle" in example:
        require(monkeypatch, shuttle.KIT)
    for name, source in FILES.items():
        shutil.copy(DATA / source, tmp_path / name)
    key = RSAKey.load(DATA / FILES["key.pem"])
    (tmp_path / "key.json").write_text(json.dumps({"n": key.n, "e": key.e, "d": key.d}))
    (tmp_path / "flow").symlink_to(ROOT / "flow")
    if not example.startswith("modexlab new accelerator "):
        for name in ("gcd", "inverse"):
            shutil.copytree(ROOT / "eval" / "examples" / name, tmp_path / name)
    # `attack all --record` writes it
    monkeypatch.setattr(verdicts, "FILE", shutil.copy(verdicts.FILE, tmp_path / "verdicts.jsonl"))
    found = example.startswith("modexlab attack ")  # exit code 1 if there is a leak, or a wrong result
    assert cli(*arguments(example)).code in ((0, 1) if found else (0,))
