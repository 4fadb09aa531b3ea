"""The design. A source of it (flow/source.py) writes it by itself; mflowgen calls the product's public
command instead.
"""

from __future__ import annotations

import importlib.metadata


def version() -> str:
    """The version of the tool."""
    return importlib.metadata.version("pymtl3")
