"""RTL step: writes the design by its source (flow/source.py), or under mflowgen by the product's public
command.
"""

from __future__ import annotations

import importlib.metadata


def version() -> str:
    """The version of the tool."""
    return importlib.metadata.version("pymtl3")
