"""Paths of the checkout and of the data of the tests."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"
