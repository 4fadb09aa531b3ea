"""The folder of PDKs with real libraries, for tests that are skipped without it."""

import os
from pathlib import Path

import pytest
from modexlab.flow.kit import kit

from tests.paths import ROOT

INSTALLED = sorted(set(kit.NAMES) - {kit.DEFAULT.stem})


def root():
    """PDK_ROOT, else `shared/kits` next to the repository or to a worktree's folder."""
    named = os.environ.get(kit.PDK_ROOT)
    folders = [Path(named)] if named else [folder / "shared" / "kits" for folder in ROOT.parents[:2]]
    return next((folder for folder in folders if folder.is_dir()), None)


def require(monkeypatch, name):
    """The path of a kit by name, with PDK_ROOT set; skip the test if its PDK is not there."""
    folder = root()
    if folder is None or not (folder / kit.described(name).files.pdk).is_dir():
        pytest.skip(f"no PDK of {name}: set {kit.PDK_ROOT}")
    monkeypatch.setenv(kit.PDK_ROOT, str(folder))
    return kit.named(name)
