"""RTL step: the design's source (flow/source.py) writes the design; under mflowgen, the public command of
this package does.
"""

import importlib.metadata


def version() -> str:
    """The version of the tool."""
    return importlib.metadata.version("pymtl3")
