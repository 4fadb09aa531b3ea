"""The benchmark of the store (store.py) in small."""

from .store import BATCH, measured


def test_all_entries_are_read(tmp_path):
    found = measured(BATCH + 1, tmp_path / "store.jsonl")
    assert found["entries"] == BATCH + 1 and found["open"] > 0
