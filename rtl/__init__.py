"""RTL components in PyMTL3's translatable subset, and the machinery that simulates them."""

from . import new_python, slices, wide  # noqa: F401  (adapt PyMTL3 before any component is made)
