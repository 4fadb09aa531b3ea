"""Topological order."""

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def in_order(sources: Mapping[T, Collection[T]]) -> list[T]:
    """Return the items, each after its sources (Kahn); omit items on a loop or downstream of one."""
    waiting = {item: len(own) for item, own in sources.items()}
    readers: dict[T, list[T]] = {}
    for item, own in sources.items():
        for source in own:
            readers.setdefault(source, []).append(item)
    ready = [item for item, count in waiting.items() if not count]
    for item in ready:  # grows
        for reader in readers.get(item, ()):
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    return ready
