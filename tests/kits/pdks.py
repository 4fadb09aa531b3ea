"""The folder with the PDKs of real libraries; tests that need a missing PDK are skipped."""

import os
from pathlib import Path

import pytest
from modexlab.flow.kit import kit

from tests.paths import ROOT

INSTALLED = sorted(set(kit.NAMES) - {kit.DEFAULT.stem})


def root():
    """PDK_ROOT, or `shared/kits` next to the repository or to the folder of worktrees."""
    named = os.environ.get(kit.PDK_ROOT)
    folders = [Path(named)] if named else [folder / "shared" / "kits" for folder in ROOT.parents[:2]]
    return next((folder for folder in folders if folder.is_dir()), None)


def require(monkeypatch, name):
    """The path of a kit by name, with PDK_ROOT set; skips the test if the PDK is missing."""
    folder = root()
    if folder is None or not (folder / kit.described(name).files.pdk).is_dir():
        pytest.skip(f"no PDK of {name}: set {kit.PDK_ROOT}")
    monkeypatch.setenv(kit.PDK_ROOT, str(folder))
    return kit.named(name)
