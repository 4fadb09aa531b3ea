"""Texts with @words@, and with lines that only some of them have: `@kind: line`."""

import re
from collections.abc import Collection, Mapping

ONLY = re.compile(r"^@([\w-]+): ?(.*\n)", re.MULTILINE)


def filled(text: str, kinds: Collection[str], words: Mapping[str, str]) -> str:
    """The text for something of these kinds."""
    text = ONLY.sub(lambda line: line[2] if line[1] in kinds else "", text)
    return re.sub(r"@(\w+)@", lambda word: words[word[1]], text)
