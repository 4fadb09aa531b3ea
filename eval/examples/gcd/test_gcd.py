"""Compares all levels of the GCD accelerator on its table of operations; `pytest` in this folder runs the
test.
"""

from pathlib import Path

import modexlab
import pytest

GCD = modexlab.accelerator(Path(__file__).parent)


@pytest.mark.parametrize("nbits", [4, 16])
def test_levels(nbits):
    assert modexlab.check_levels(GCD.at(nbits))
