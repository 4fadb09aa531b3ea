"""The kinds of entries of a store: measurement, failure, verdict, and result of a task.

An entry of a user's store has a date and a key, which is a digest of all that determines its figures. A
reference result has neither: it keeps what two runs of the same hardware share, and the digests of the
hardware and of the kit. Empty fields are left out of a line.
"""

from typing import Any

import msgspec

from ...json_values import canonical

NO_OBJECT, NO_LIST = msgspec.Raw(b"{}"), msgspec.Raw(b"[]")
MEASUREMENT, FAILURE, VERDICT = "measurement", "failure", "verdict"
RESULT = "result"  # the field that is never left out
EMPTY: tuple[object, ...] = ("", None, {}, [], ())
Values = list[tuple[str, str, float | int | str, str]]  # operation, metric, value and unit


class Entry(msgspec.Struct, tag_field="entry", kw_only=True, gc=False):
    """The fields of every kind. A field of type Raw is text of JSON: it may have integers of any length."""

    at: str = ""  # ISO 8601, UTC; empty for a reference result
    seconds: float = 0.0
    key: str = ""


class PointEntry(Entry, kw_only=True):
    """The fields of a point; its key is Point.version. A reference result has the last three."""

    point: msgspec.Raw
    command: list[str] = []
    content: str = ""  # digest of the hardware, without comments, or of the model
    kit: str = ""  # digest of the files of the cell library
    unverified: dict[str, str] = {}  # reasons to measure again, by metric; "": all figures


class MeasurementEntry(PointEntry, tag=MEASUREMENT, kw_only=True):
    """A measured point."""

    figures: Values = []  # integers beyond 53 bits are hexadecimal text
    tests: str = ""
    family: str = ""
    parameters: msgspec.Raw = NO_OBJECT
    tools: dict[str, str] = {}
    verilog_hash: str = ""
    marks: list[str] = []
    details: msgspec.Raw = NO_OBJECT
    artifacts: dict[str, str] = {}  # files in the folder of pictures, by name of the artifact


class FailureEntry(PointEntry, tag=FAILURE, kw_only=True):
    """A point that could not be measured."""

    message: str = ""


class VerdictEntry(Entry, tag=VERDICT, kw_only=True):
    """A verdict of `modexlab prove` or `modexlab attack all`; see verdicts.py."""

    subject: str
    nbits: int
    name: str
    kind: str
    verdict: str
    family: str = ""
    settings: msgspec.Raw = NO_OBJECT
    how: str = ""
    command: list[str] = []
    commit: str = ""
    content: str = ""
    tools: dict[str, str] = {}
    unverified: str = ""

    @property
    def about(self) -> tuple[str, int, bytes, str]:
        """The check that was made, on which the newest verdict counts."""
        return self.subject, self.nbits, bytes(self.settings), self.name


class ResultEntry(Entry, tag=RESULT):
    """The result of a task, a JSON value; forgotten: its command has ended, and it counts no more."""

    result: msgspec.Raw = NO_OBJECT
    forgotten: bool = False


AnyEntry = MeasurementEntry | FailureEntry | VerdictEntry | ResultEntry
decode = msgspec.json.Decoder(AnyEntry).decode


def kind_of(entry: Entry) -> str:
    """The name of an entry's kind."""
    return str(type(entry).__struct_config__.tag)


def text_of(kind: str, /, **values: Any) -> bytes:
    """The text of an entry of a kind, with sorted fields."""
    there = {name: value for name, value in values.items() if name == RESULT or value not in EMPTY}
    return (f'{{"entry": "{kind}", ' + canonical(there)[1:]).encode()
