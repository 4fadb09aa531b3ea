"""Topological order."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
Net = TypeVar("Net", bound=Hashable)


def in_order(reads: Mapping[T, Iterable[Net]], drivers: Mapping[Net, T]) -> list[T]:
    """The items, each after the drivers of the nets that it reads (Kahn), without items on or downstream of a
    loop.
    """
    readers = defaultdict(list)
    waiting = {}
    for item, nets in reads.items():
        sources = {drivers[net] for net in nets if net in drivers}
        waiting[item] = len(sources)
        for source in sources:
            readers[source].append(item)
    ready = [item for item, count in waiting.items() if not count]
    for item in ready:  # grows
        for reader in readers[item]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    return ready
