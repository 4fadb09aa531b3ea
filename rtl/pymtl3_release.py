"""The release of PyMTL3 that this laboratory adapts (wide.py, new_python.py).

Both modules reach into PyMTL3, so they pin the sources that they change. Any other release raises an error at
import.
"""

import hashlib
from pathlib import Path
from types import ModuleType

from pymtl3.version import __version__ as installed

VERSION = "3.1.17"


def check(module: ModuleType, sha256: str) -> None:
    """Raise RuntimeError unless a module of PyMTL3 has this source, of the pinned release."""
    remedy = f"install pymtl3=={VERSION}, or revise modexlab's rtl/wide.py and rtl/new_python.py"
    if installed != VERSION:
        raise RuntimeError(f"modexlab adapts PyMTL3 {VERSION}, but found {installed}: {remedy}")
    file = Path(str(module.__file__))
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != sha256:
        raise RuntimeError(
            f"PyMTL3's {file.name} is not that of the {VERSION} release "
            f"(sha256 {found[:12]}, expected {sha256[:12]}): {remedy}"
        )
