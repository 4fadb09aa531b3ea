"""The cost of a bit product in cells of a library, for multipliers whose rows take two bits of a factor.

Such a row chooses between 0, X, 2X and 3X by one gate for each of its bits, and adds the choice by one full
adder: two bit products.
"""

from .liberty import Library


def bit_product_um2(library: Library) -> float | None:
    """The area for one bit product: half a selecting gate and half a full adder; None for a library without
    such cells.
    """
    adder, selector = library.roles.full_adder, library.roles.selector
    if adder is None or not selector:
        return None
    return (library.cells[selector].area + library.cells[adder.cell].area) / 2
