"""The folder with the PDKs of real libraries, and small LEF files; tests without their PDK are skipped."""

import os
from pathlib import Path

import pytest
from modexlab.flow.kit import kit, lef

from tests.paths import ROOT

INSTALLED = sorted(set(kit.NAMES) - {kit.DEFAULT.stem})


def lef_of(directory, *texts):
    """The geometry of two LEF files with these texts: the technology and the cells."""
    paths = directory / "tech.lef", directory / "cells.lef"
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return lef.read_lef(*paths)


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
