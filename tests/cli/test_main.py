"""The command line as a whole: help, start-up, exit codes, interruption, pipes, completion, options."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from modexlab.eval.cli.main import MOST_EXAMPLES
from modexlab.eval.cli.options import PRIVATE, SHARED, flat
from modexlab.eval.cli.routes import GROUPS, ROUTES, SUMMARIES, form_of, forms, words
from modexlab.eval.designs.catalogue import designs
from modexlab.eval.designs.session import Session
from modexlab.eval.folders import write_file
from modexlab.flow.files import replacing
from modexlab.flow.kit import kit
from modexlab.rtl.sim import SimulationTimeout

from tests.harness import expect, finished, parametrize, refused
from tests.paths import ROOT

from ..command_line import ENCRYPT, refusals

FOREIGN = ROOT / "tests" / "foreign"
GCD = ROOT / "eval" / "examples" / "gcd"
LONG = "x" * 5000
MODEXLAB = [sys.executable, "-m", "modexlab.eval.cli.main"]
FORMULA = "run --level formula mont --nbits 64"
FUNCTIONAL = f"run mont {ENCRYPT} --level fl"
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def program(command, **pipes):
    """Run a command in a separate process."""
    return subprocess.run([*MODEXLAB, *command.split()], text=True, **pipes)


def test_help(cli):
    result = cli.passes("--help")
    assert re.findall(r"^    (\w+) ", result.out, re.M) == [
        name for names in GROUPS.values() for name in names
    ]
    assert len(SUMMARIES) == 14
    assert all(f"\n{title}:\n" in result.out for title in GROUPS)
    assert len(re.findall(r"^  modexlab ", result.out.partition("five things to try:")[2], re.M)) == 5
    assert cli.passes("").out == result.out
    assert len(result.out.splitlines()) <= 50


@parametrize("form", ROUTES)
def test_help_of_commands_has_examples(cli, form):
    result = cli(f"{form} --help")
    expect(result, code=0, err="")
    assert len(result.out.splitlines()) <= 100
    assert f"usage: modexlab {form} " in " ".join(result.out.split())
    name, *selector = form.split()
    examples = result.out.partition("examples:\n")[2].splitlines()
    assert 1 <= len(examples) <= MOST_EXAMPLES and any(
        line.startswith(f"  modexlab {name} ") and " ".join(selector) in line for line in examples
    )
    _, use, page = ROUTES[form]
    assert f"Use it to {use}. Page: docs/{page}.md" in result.out
    assert (ROOT / "docs" / f"{page}.md").exists()


@parametrize("command", ["new", "attack"])
def test_command_with_forms_alone(cli, command):
    """Its help lists the forms, and running it without one is an error that names them."""
    result = cli.passes(f"{command} --help")
    assert all(f"\n  {form} " in result.out for form in forms(command))
    assert f"give one of {', '.join(words(command))}" in cli.fails(command).lower()


def test_unknown_form(cli):
    assert cli.fails("attack leaks") == (
        "unknown form of attack 'leaks': did you mean 'leakage'? there are leakage, faults, all"
    )


def test_place_of_an_option_that_names_a_form(cli):
    for argv in ("run mont --nbits 64 --level formula", "run --level=formula mont --nbits 64"):
        assert cli(argv) == cli(FORMULA)


test_refused = refusals(
    "show",
    {
        "mout": "did you mean 'mont'?",
        "designs mont": "unrecognized arguments: mont; see `modexlab show designs --help`",
        "-- --tree": "unknown design '--tree'",  # behind two hyphens, a form is an operand
    },
)


def test_env(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path))
    (tmp_path / "entry").write_bytes(bytes(5))
    assert cli.json("env cache") == {"cache": [{"cache": str(tmp_path), "files": 1, "bytes": 5}]}
    assert [row["kit"] for row in cli.json("env")["kits"]] == [*kit.NAMES]
    monkeypatch.setenv("CXX", "no-such-compiler")
    cli.shows("env tools", "no-such-compiler", "not found")


@parametrize("argv", ["asic nosuch --help", "asic --accelerator nosuch -h", "run --help"])
def test_help_comes_before_any_mistake(cli, argv):
    assert cli.passes(argv).out.startswith(f"usage: modexlab {argv.split()[0]}")


def test_help_is_quick():
    """`--help` imports no slow package: PyMTL3 alone takes longer than everything else."""
    code = "import sys; from modexlab.eval.cli.main import main; main(['--help']); print(*sys.modules)"
    done = finished([sys.executable, "-c", code], check=True)
    assert not {"pymtl3", "numpy", "rsa", "yaml"} & {*done.stdout.splitlines()[-1].split()}


def test_unknown_command(cli):
    message = cli.fails("runn mont")
    assert message.startswith("unknown command 'runn': did you mean 'run'? there are show, new, run, ")
    assert message.endswith("; see `modexlab --help`")


@parametrize(
    "argv, message",
    {
        "--colour run": "--colour; see `modexlab --help`",
        "run mont --colour": "--colour; see `modexlab run --help`",
        "run mont --bits=32": "--bits=32 (did you mean --nbits?); see `modexlab run --help`",
        "show --costs --nbits 32 --crt": "--crt; see `modexlab show --costs --help`",
        "compare cores --nbits 32 64": "64 (repeat the option: --nbits 32 --nbits 64); "
        "see `modexlab compare --help`",
    }.items(),
)
def test_unknown_option(cli, argv, message):
    """The error names the help of the command."""
    assert cli.fails(argv) == f"unrecognized arguments: {message}"


def test_exit_codes_of_the_program():
    expect(program(FORMULA, capture_output=True), returncode=0, stderr="")
    bad = program(FORMULA.replace("mont", "mnt"), capture_output=True)
    assert bad.returncode == 2
    assert bad.stderr.startswith("modexlab: error: unknown design 'mnt': did you mean 'mont'?")
    assert "Traceback" not in bad.stderr


@parametrize("argv", ["show designs --json", "--help"])
def test_broken_pipe_is_quiet(argv):
    """The reader closes its end before anything is written."""
    reader, writer = os.pipe()
    os.close(reader)
    done = program(argv, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    expect(done, returncode=141, stderr="")


@needs_full
@parametrize("argv", ["show designs --json", FORMULA, "--help"])
def test_a_full_device_is_one_line(argv):
    """Whether print fails or the final flush."""
    with Path("/dev/full").open("w") as full:
        done = program(argv, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.startswith("modexlab: error: the output cannot be written: No space left on device")
    assert done.stderr.count("\n") == 1


@needs_full
def test_a_full_stderr_leaves_the_exit_code():
    with Path("/dev/full").open("w") as full:
        assert program(FORMULA.replace("mont", "mnt"), stdout=full, stderr=full).returncode == 2


@pytest.fixture
def operation(monkeypatch):
    """Replace the operation of a machine by a mock, which may raise an error."""
    mock = Mock()
    monkeypatch.setattr(Session, "operate", mock)
    return mock


def test_a_system_that_refuses_is_one_line(cli, operation):
    operation.side_effect = PermissionError(13, "Permission denied", "/cache/of/others")
    assert cli.fails(FUNCTIONAL).startswith("/cache/of/others: Permission denied; ")


# ---- numbers and settings


@parametrize("text", ["1_0", "+5", "\u0663", "0x", "0x1_0", "0b11", "1e3", "", "seven"])
def test_what_is_no_number(cli, text):
    assert "is not a whole number; write it in decimal, or as 0x..." in cli.fails(
        f"run mont --base '{text}' --exp 3 --mod 7"
    )


@parametrize(
    "message, text",
    {
        "7777777777777777...7777777777777777 has 5000 digits, and no machine takes more than 1234": "7"
        * 5000,
        "is negative; give a number from 0 up": "-" + "7" * 5000,
        "is not a whole number": "z" * 5000,
        "(19999 bits) does not fit in 32 bits; no machine is wider than 4096": "0x" + "7" * 5000,
    }.items(),
)
def test_long_numbers_are_not_echoed(cli, text, message):
    said = cli.fails(f"run mont --base={text} --exp 3 --mod 7")
    assert message in said
    assert len(said) < 250


@parametrize(
    "settings, message",
    {
        "--set nstages=1 --set nstages=1": "--set nstages is given twice; give it once",
        "--set nstages=1_0": "nstages = 1_0 is not possible: '1_0' is not a whole number",
        "--set nstages=0": "nstages = 0 is not possible; give 1 or more",
        "--set nstages": "--set nstages: write PARAM=VALUE",
        f"--set forward={LONG}": "give one of false, true",
        f"--set {LONG}=1": "unknown parameter of mont",
        f"--nbits {10**23}": "a width of 0x152d02c7...f6800000 bits is out of range; give 8 to 4096",
    }.items(),
)
def test_bad_settings(cli, settings, message):
    said = cli.fails(f"run --level formula mont {settings}")
    assert message in said
    assert len(said) < 300


@parametrize("nbits", [-8, 0, 4, 5000])
@parametrize(
    "command",
    [
        "run mont --level formula",
        "verilog mont",
        f"run mont {ENCRYPT}",
        "asic mont --crosscheck",
        "show mont-keyed --costs",
    ],
)
def test_one_range_of_widths(cli, command, nbits):
    said = cli.fails(f"{command} --nbits {nbits}")
    assert said == f"a width of {nbits} bits is out of range; give 8 to 4096"


@parametrize(
    "argv",
    [
        "run mont --encrypt 5 --key",
        "show --multiples --key",
        "check",
        "sweep",
        "asic --crosscheck --space",
        "check --manifest",
        "run --level formula --accelerator",
    ],
)
def test_input_without_an_end_is_refused(cli, argv):
    assert "/dev/zero" in cli.fails(f"{argv} /dev/zero")


def test_interrupt_is_quiet(cli, operation):
    operation.side_effect = KeyboardInterrupt
    expect(cli(FUNCTIONAL), code=130, out="", err="")


def test_interrupt_by_signal():
    """In the middle of a simulation that would take minutes."""
    command = f"run naive-001 --base 1119317562 --exp {2**255 - 1} --mod {2**256 - 189} --backend python"
    process = subprocess.Popen([*MODEXLAB, *command.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr.readline()  # the first sign of progress
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


def test_an_error_of_ours_in_the_middle_is_exit_1(cli, operation):
    operation.side_effect = SimulationTimeout("transaction 0 of 1 accepted, but not answered")
    assert cli.finds(FUNCTIONAL).err == "modexlab: error: transaction 0 of 1 accepted, but not answered\n"


def test_a_bug_is_not_hidden(cli, operation):
    operation.side_effect = RuntimeError("a bug")
    with pytest.raises(RuntimeError, match="a bug"):
        cli(FUNCTIONAL)


# ---- completion


@parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_has_commands_options_and_designs(cli, shell):
    script = cli(f"--completion {shell}").out
    for word in (*SUMMARIES, "native", "nbits"):
        assert word in script
    for design in designs():
        assert design.name in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@parametrize(
    "begun, expected",
    {
        "re": "report",
        "attack le": "leakage",
        "run mont-c": "mont-ct",
        "run mont --level c": "cl",
        "check tests/data/bn_s": "tests/data/bn_small.txt",
        "show mmmul": "mmmul-004",
        "verilog naive-0": "naive-001",
        "run --accelerator eval/rep": "eval/report",
        "asic --export fl/e": "",
        "show --function s": "square",
        "asic mont --f": "--flow --fmax --fpga",
        "run mont --interface x": "xcel",
        "proc a.elf --xcel mont-0": "mont-001",
        "proc systems proc-n": "proc-naive",
        "verilog pr": "proc",
        "show pap": "papers",
        "compare co": "cores",
        "run mont --level fo": "formula",
    }.items(),
)
def test_bash_completes(cli, tmp_path, begun, expected):
    script = tmp_path / "completion.bash"
    script.write_text(cli("--completion bash").out)
    *_, before, last = words = ["modexlab", *begun.split()]
    program = f"""
        source {script} || exit
        COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}
        _shtab_modexlab modexlab {last} {before}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = finished(["bash", "-c", program], cwd=ROOT)
    assert {*done.stdout.split()} == {*expected.split()}


# ---- files that commands write


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "made.txt"
    with refused("cannot be written: No such file"):
        write_file(str(path / "deeper"), "text")
    with refused("/dev/full: cannot be written: No space"):
        write_file("/dev/full", "text")
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    for text in ("first\n" * 10_000, "second\n"):
        write_file(str(link), text)
        assert path.read_text() == text
    assert link.is_symlink() and {*tmp_path.iterdir()} == {path, link}


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    path = tmp_path / "made.txt"
    with replacing(path) as first:
        with replacing(path) as second:
            first.write_text("of the first\n" * 10_000)
            second.write_text("of the second\n")
        assert path.read_text() == "of the second\n"
    assert path.read_text() == "of the first\n" * 10_000
    assert list(tmp_path.iterdir()) == [path]


def test_text_of_any_language_is_written_in_any_locale(tmp_path):
    code = (
        "import pathlib, sys\n"
        "from modexlab.eval.folders import write_file, write_folder\n"
        "write_file(sys.argv[1] + '/file', '\\u03c4 \\u2264 5 \\xb5m')\n"
        "write_folder(pathlib.Path(sys.argv[1]), {'folder/file': '\\u03c4 \\u2264 5 \\xb5m'})\n"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    subprocess.run([sys.executable, "-c", code, tmp_path], env=environment, check=True)
    for name in ("file", "folder/file"):
        assert (tmp_path / name).read_text(encoding="utf-8") == "\u03c4 \u2264 5 \xb5m"


# ---- options

# forms in which an option may be repeated
SEVERAL = {"--nbits": ("show --costs", "proc systems", "compare", "store"), "--operation": ("store",)}


def test_one_arity_one_metavar_and_one_meaning():
    kinds = {}
    for form in ROUTES:
        for option in flat(*form_of(form).module.OPTIONS):
            settings = option.settings
            for name in option.names:
                if option.is_operand:
                    continue
                repeatable = option.repeatable
                if form in SEVERAL.get(name, ()):
                    assert repeatable
                    repeatable = False
                is_flag = settings.get("action") == "store_true"
                kind = (
                    repeatable,
                    is_flag,
                    settings.get("nargs"),
                    settings.get("metavar"),
                    settings["help"].split(" (")[0],
                )
                kinds.setdefault(name, {}).setdefault(kind, []).append(form)
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}


# forms that show or build only hardware without a key, or all protections at once, or designs of a user
WITHOUT_KEYS = ("show --costs", "show --tree", "show --wave", "show --schedule", "proc soc")
OF_USERS = ("new wrapper", "check --manifest")


@parametrize("form", ROUTES)
def test_protections_are_options_wherever_hardware_is_chosen(form):
    """Each command with the settings of a design has --crt, --blind and --verify, with one meaning."""
    options = [*flat(*form_of(form).module.OPTIONS)]
    names = {name for item in options for name in item.names}
    chooses = "--set" in names and form not in WITHOUT_KEYS + OF_USERS
    assert names.issuperset(PRIVATE) == (chooses or form in ("sweep", "sweep --dry-run", "compare", "report"))
    own = {item.names[0]: item.settings["help"] for item in options if item.names[0] in PRIVATE}
    assert all(text.startswith(SHARED[name].settings["help"]) for name, text in own.items())
