"""Calls the command line in this process, as the tests of all commands do."""

import contextlib
import io
import json
import re
import shlex
from dataclasses import dataclass

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from modexlab.eval.cli.main import main

from tests.harness import parametrize

ENCRYPT = "--base 1119317562 --exp 65537 --mod 2603398711"


@dataclass(frozen=True)
class Result:
    """Output and exit code of a call."""

    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


def printed(command):
    """A command whose standard output is wanted outside of a test."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(shlex.split(command))
    return Result(code, out.getvalue(), "")


class Cli:
    """`cli("show designs --json")` -> Result; the first argument is split as by a shell."""

    def __init__(self, capsys):
        self._capsys = capsys

    def __call__(self, command="", *argv):
        self._capsys.readouterr()
        code = main([*shlex.split(str(command)), *map(str, argv)])
        out, err = self._capsys.readouterr()
        return Result(code, out, err)

    def passes(self, *argv, code=0):
        """The result of a command that succeeds."""
        result = self(*argv)
        assert result.code == code, result
        return result

    def finds(self, *argv):
        """The result of a command that finds something wrong."""
        return self.passes(*argv, code=1)

    def of_page(self, command):
        """The result of a command of a page; a comment behind it has another exit code than 0."""
        expected = re.search(r"# exit code (\d)", command)
        return self.passes(command.partition(" #")[0], code=int(expected[1]) if expected else 0)

    def json(self, command):
        """The report of a command that succeeds or finds something, with --json."""
        return self(f"{command} --json").json()

    def reports(self, command, **values):
        """The report of a command, which has these values."""
        report = self.json(command)
        assert report | values == report
        return report

    def shows(self, command, *words, code=0):
        """The output of a command that succeeds, which has these words."""
        out = self.passes(command, code=code).out
        assert not [word for word in words if word not in out], out
        return out

    def fails(self, *argv):
        """The one line of a user's mistake: exit code 2, nothing on stdout, no traceback."""
        result = self.passes(*argv, code=2)
        assert result.out == ""
        *progress, error = result.err.splitlines()
        assert error.startswith("modexlab: error: ")
        assert all(re.search(r": .*\d s", line) for line in progress), "as on a busy machine"
        return error.removeprefix("modexlab: error: ")


def key_file(directory, key):
    """A file with this private key."""
    path = directory / "key.pem"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path


def picked(found, names):
    """Values of a report, or attributes of an object, by these names."""
    report = isinstance(found, dict)
    return tuple(found[name] if report else getattr(found, name) for name in names.split())


def refusals(command, messages):
    """A test: the command refuses each of these arguments with a line that has these words."""

    @parametrize("argv, message", messages.items())
    def test(cli, argv, message):
        assert message in cli.fails(f"{command} {argv}")

    return test
