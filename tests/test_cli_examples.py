"""The examples in the help texts work as they stand."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from modexlab.eval import cli as command_line
from modexlab.eval.commands import (
    check,
    completion,
    cycles,
    designs,
    draw,
    proc,
    pseudo,
    report,
    run,
    systems,
    verilog,
)

from .cli import Cli

DATA = Path(__file__).parent / "data"
FILES = {  # what the examples call it -> a small file of that kind
    "key.pem": "rsa512.pem",
    "rsa_signature_2048_sha256_test.json": "wycheproof_signature_512.json",
    "bn_tests.txt": "bn_small.txt",
    "SigVer15_186-3.rsp": "sigver_512.rsp",
    "modexp.json": "eip198_small.json",
    "program.c": "gcd.c",
    "power.c": "power.c",
}
TEXTS = [
    command_line.EXAMPLES,
    *(module.EXAMPLES for module in (check, completion, cycles, designs, draw, proc)),
    *(module.EXAMPLES for module in (pseudo, report, run, systems, verilog)),
]
EXAMPLES = {
    line.strip() for text in TEXTS for line in text.splitlines() if line.strip().startswith("modexlab ")
}


def marked(example: str) -> object:
    """All machines in one table take a while: `make test` has one, for the README's sake."""
    whole = re.fullmatch(r"modexlab (report|systems)( --json|  .*)?", example) or "2048 --output" in example
    return pytest.param(example, marks=[pytest.mark.regress] if whole else [])


@pytest.mark.parametrize("example", [marked(example) for example in sorted(EXAMPLES)])
def test_example(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, source in FILES.items():
        shutil.copy(DATA / source, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    command = example.split("  ", 1)[0].partition(" > ")[0]
    assert Cli(capsys)(*shlex.split(command)[1:]).code == 0
