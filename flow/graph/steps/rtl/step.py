"""RTL step: writes the design by its source (flow/source.py), or under mflowgen by the product's public
command.
"""

import importlib.metadata


def version() -> str:
    """The version of the tool."""
    return importlib.metadata.version("pymtl3")
