"""The test rows at all levels; `pytest` in this folder runs them."""

from pathlib import Path

import modexlab
import pytest

GCD = modexlab.accelerator(Path(__file__).parent)


@pytest.mark.parametrize("nbits", [4, 16])
def test_levels(nbits):
    assert modexlab.check_levels(GCD.at(nbits))
