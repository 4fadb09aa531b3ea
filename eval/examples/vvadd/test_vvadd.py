"""Compares all levels of the vector add on its table of operations; `pytest` in this folder runs the test."""

from pathlib import Path

import modexlab

VVADD = modexlab.accelerator(Path(__file__).parent)


def test_levels():
    assert modexlab.check_levels(VVADD.at(32))
