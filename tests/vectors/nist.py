"""Signature tests of NIST (`cryptography_vectors`) as Wycheproof documents, which `modexlab check` reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cryptography_vectors

FOLDER = Path(cryptography_vectors.__file__).parent / "asymmetric" / "RSA" / "FIPS_186-2"
# of a file: the algorithm and the type of its groups, and the number of its tests
FILES = {
    "SigVer15_186-3.rsp": ("RSASSA-PKCS1-v1_5", "RsassaPkcs1Verify", 450),
    "SigVerPSS_186-3.rsp": ("RSASSA-PSS", "RsassaPssVerify", 450),
    "SigGen15_186-2.txt": ("RSASSA-PKCS1-v1_5", "RsassaPkcs1Generate", 250),  # with private keys
}


def document(name: str) -> dict[str, Any]:
    """The tests of a file, one in each group."""
    algorithm, kind, _ = FILES[name]
    groups: list[dict[str, Any]] = []
    for values in _tests((FOLDER / name).read_text()):
        result = "invalid" if values.get("Result", "P").startswith("F") else "valid"
        nbytes = (int(values["n"], 16).bit_length() + 7) // 8
        signature = int(values["S"], 16).to_bytes(nbytes, "big").hex()
        test = {"tcId": len(groups) + 1, "msg": values["Msg"], "sig": signature, "result": result}
        key = {field: values[field] for field in ("n", "e", "d") if field in values}
        groups.append({"type": kind, "sha": values["SHAAlg"], **key, "tests": [test]})
    return {"algorithm": algorithm, "numberOfTests": len(groups), "testGroups": groups}


def _tests(text: str) -> Iterator[dict[str, str]]:
    """The values of each test; n, e and d hold until they are given again."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = map(str.strip, line.partition("="))
        if equals and name.isalnum():
            values[name] = value
        elif not line.strip() and {"Msg", "S"} <= values.keys():
            yield dict(values)
            del values["Msg"], values["S"]
    if {"Msg", "S"} <= values.keys():
        yield values
