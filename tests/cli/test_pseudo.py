"""`modexlab show --multiples`: the table of multiples, and the warning."""

from __future__ import annotations

from math import prod
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from ..command_line import Cli


def value(number: int | str) -> int:
    return int(number, 16) if isinstance(number, str) else number


def test_worked_example(cli: Cli) -> None:
    result = cli("show --multiples 0xb5c3 --w 4")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "N = 46531, 16 bits, digits of 4 bits"
    assert any(line.split() == ["low", "end", "5", "2", "7", "60"] for line in lines)
    assert "Warning: N is fully factored: 19 * 31 * 79." in result.out


def test_family(cli: Cli) -> None:
    """(2^32 - 1) / 3: the table has c = 3 and t = 32, the warning names family and factors."""
    out = " ".join(cli("show --multiples", (2**32 - 1) // 3).out.split())
    assert "t = 32" in out
    assert "the family of paper 000" in out
    assert "5 * 17 * 257 * 65537" in out


def test_json(cli: Cli) -> None:
    n = (2**128 - 1) // 3
    report = cli("show --multiples", hex(n), "--w", 8, "--json").json()
    assert (value(report["n"]), report["nbits"], report["w"]) == (n, 127, 8)
    shapes = {row["shape"]: row for row in report["shapes"]}
    assert list(shapes) == ["2^t - 1", "2^t + 1", "low end", "high end", "both ends"]
    for row in shapes.values():
        if row["found"]:
            assert value(row["c"]) * n == value(row["pseudo_modulus"])
            assert row["nbits"] == value(row["pseudo_modulus"]).bit_length() == 127 + row["extra_nbits"]
            assert row["saves"]
            assert row["costs"]
        else:
            assert row["why"]
    assert value(shapes["2^t - 1"]["c"]) == 3
    assert prod(value(factor["value"]) for factor in report["factors"]) == n
    assert report["complete"] is True
    assert all(factor["prime"] for factor in report["factors"])
    assert "Fermat" in report["warning"]


def test_key(cli: Cli, tmp_path: Path) -> None:
    """A real key: no warning, and the search does not claim to prove anything."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    file = tmp_path / "key.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    result = cli("show --multiples --key", file)
    assert result.code == 0
    assert "Warning" not in result.out
    assert "does not prove" in result.out
    assert "hopeless" in result.out
    report = cli("show --multiples --key", file, "--json").json()
    assert value(report["n"]) == key.public_key().public_numbers().n
    assert report["warning"] == ""


def test_mistakes(cli: Cli, tmp_path: Path) -> None:
    assert "give a modulus" in cli.fails("show --multiples")
    assert "one of N and --key FILE" in cli.fails("show --multiples 15 --key key.pem")
    assert "is even" in cli.fails("show --multiples 24")
    assert "modulus 0" in cli.fails("show --multiples 0")
    assert "all numbers are 0 modulo 1" in cli.fails("show --multiples 1")
    assert "give 4 to 130" in cli.fails("show --multiples 15 --w 140")
    assert "is not a number" in cli.fails("show --multiples fifteen")
    assert "no machine takes more" in cli.fails("show --multiples", (1 << 5000) + 1)
    assert "is longer than any machine" in cli.fails("show --multiples", hex((1 << 5000) + 1))
    assert "key file" in cli.fails("show --multiples --key", tmp_path / "none.pem")
