"""RTL components in PyMTL3's translatable subset, and the machinery that simulates them."""

from . import wide  # noqa: F401  (lifts PyMTL3's width limit before any component is made)
