"""The README: commands that it shows are run, tables and the protocol that it quotes are the ones of the code.

`python -m tests.test_readme` writes the quoted parts anew.
"""

import re
import shlex
from pathlib import Path

import pytest
from modexlab.eval.cli import main
from modexlab.fl import xcel

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
QUOTED = re.compile(r"<!-- (executed|from): (.+?) -->\n```\n(.*?)```\n", re.DOTALL)
COMMAND = re.compile(r"^\$ modexlab (.+)$", re.MULTILINE)


def protocol() -> str:
    """The protocol, as the header of its model has it."""
    text = xcel.__doc__ or ""
    return text[text.index("Each access") :].strip() + "\n"


def report_table(output: str) -> str:
    """The table of a report, without what stands around it."""
    lines = output.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("design "))
    end = next(i for i, line in enumerate(lines) if i > start and not line.strip())
    return "\n".join(line.rstrip() for line in lines[start:end]) + "\n"


def run(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(shlex.split(command)) == 0, command
    return capsys.readouterr().out


def quotations() -> dict[str, str]:
    return {source: text for _, source, text in QUOTED.findall(README.read_text())}


def test_protocol() -> None:
    assert quotations()["fl/xcel.py"] == protocol()


def test_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert quotations()["modexlab report"] == report_table(run("report", capsys))


@pytest.mark.parametrize("command", COMMAND.findall(README.read_text()))
def test_commands(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(command, capsys)


def test_files_that_are_named_exist() -> None:
    """Every path in the README that is not an example of one's own."""
    text = README.read_text().replace("rtl/blakley.py", "").replace("cl/blakley.py", "")
    for name in set(re.findall(r"`((?:fl|rtl|cl|eval|tests)/[\w/.]*)`", text)):
        assert (ROOT / name).exists(), name


def rewrite() -> None:
    """Put the present texts into the README."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as output:
        main(["report"])
    present = {"fl/xcel.py": protocol(), "modexlab report": report_table(output.getvalue())}
    text = QUOTED.sub(
        lambda found: f"<!-- {found[1]}: {found[2]} -->\n```\n{present[found[2]]}```\n", README.read_text()
    )
    README.write_text(text)


if __name__ == "__main__":
    rewrite()
