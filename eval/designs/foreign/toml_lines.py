"""Lines of a TOML file: where each key and each element of a list stands, which parsers of TOML do not tell.

The text has been parsed before, so that it is right; here its keys are only walked along.
"""

from __future__ import annotations

import re

Path = tuple[str | int, ...]  # keys, and indices of lists

_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)\s*""")
_TEXT = re.compile(r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_PLAIN = re.compile(r"[^,\]}\n#]*")


class TomlLines:
    """The line of each path in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: dict[Path, int] = {}
        self._tables: dict[Path, int] = {}  # tables in a list so far
        self._at = 0
        self._walk()

    def of(self, path: Path) -> int:
        """The line of a path, or of the longest part of it that stands in the file."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def _walk(self) -> None:
        table: Path = ()
        while self._skip() < len(self._text):
            if self._text.startswith("[[", self._at):
                table = self._header(2)
                index = self._tables.get(table, 0)
                self._tables[table] = index + 1
                self._note(table)
                table = (*table, index)
                self._note(table)
            elif self._text.startswith("[", self._at):
                table = self._header(1)
                self._note(table)
            else:
                self._pair(table)

    def _header(self, brackets: int) -> Path:
        start = self._at
        self._at += brackets
        path = self._resolved(self._key())
        self._note(path, start)
        self._at += brackets
        return path

    def _resolved(self, keys: list[str]) -> Path:
        """A table of a list is that of its last element."""
        path: Path = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            if path in self._tables and number < len(keys) - 1:
                path = (*path, self._tables[path] - 1)
        return path

    def _pair(self, table: Path) -> None:
        start = self._at
        path = (*table, *self._key())
        for length in range(len(table) + 1, len(path) + 1):
            self._note(path[:length], start)
        self._at += 1  # the =
        self._value(path)

    def _key(self) -> list[str]:
        keys = []
        while match := _KEY.match(self._text, self._at):
            keys.append(match[1].strip("\"'"))
            self._at = match.end()
            if not self._text.startswith(".", self._at):
                break
            self._at += 1
        return keys

    def _value(self, path: Path) -> None:
        self._skip()
        if self._text.startswith("[", self._at):
            self._at += 1
            index = 0
            while self._more("]"):
                self._note((*path, index))
                self._value((*path, index))
                index += 1
        elif self._text.startswith("{", self._at):
            self._at += 1
            while self._more("}"):
                self._pair(path)
        elif match := _TEXT.match(self._text, self._at):
            self._at = match.end()
        else:
            match = _PLAIN.match(self._text, self._at)
            assert match is not None
            self._at = max(match.end(), self._at + (not match[0]))

    def _more(self, end: str) -> bool:
        """There is another element; the end is passed."""
        self._skip()
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip()
        if self._at >= len(self._text) or self._text.startswith(end, self._at):
            self._at += 1
            return False
        return True

    def _skip(self) -> int:
        match = _BLANK.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._at

    def _note(self, path: Path, at: int | None = None) -> None:
        line = self._text.count("\n", 0, self._at if at is None else at) + 1
        self._lines.setdefault(path, line)
