"""The command that installs a missing Python package of modexlab."""

import re
import shlex
import sys
from importlib.metadata import requires
from pathlib import Path

PACKAGE = "modexlab"
# extras whose packages a command imports, in the order in which a message names them
EXTRAS = ("flow", "layout", "report", "sweep", "soc", "notebook")
# distributions whose name differs from that of their module
DISTRIBUTIONS = {
    "yaml": "PyYAML",
    "PIL": "pillow",
    "vl_convert": "vl-convert-python",
    "systemrdl": "systemrdl-compiler",
}


def distribution_of(module: str) -> str:
    """The name of the distribution that contains a module."""
    return DISTRIBUTIONS.get(module, module.replace("_", "-"))


def extra_of(name: str) -> str | None:
    """The first extra of modexlab that requires a distribution, or None."""
    wanted = re.compile(rf"{re.escape(name)}(?![\w.\[-]).*extra == ['\"](\w+)['\"]", re.IGNORECASE)
    found = {match[1] for line in requires(PACKAGE) or () if (match := wanted.match(line))}
    return next((extra for extra in EXTRAS if extra in found), None)


def remedy(name: str) -> str:
    """The command that installs a distribution: `make setup` in a clone, else pip of this interpreter."""
    extra = extra_of(name)
    folder = _clone()
    if folder:
        where = "" if folder == Path.cwd() else f" in {folder}"
        return f"run `make setup`{where}"
    extras = f"[{extra}]" if extra else ""
    wanted = ["-e", f"{folder}{extras}"] if folder else [f"{PACKAGE}{extras}"]
    return f"run `{shlex.join([sys.executable, '-m', 'pip', 'install', *wanted])}`"


def _clone() -> Path | None:
    """The clone that this file is in; None in an installed wheel."""
    folder = Path(__file__).resolve().parents[2]
    return folder if (folder / ".ci" / "setup").is_file() else None
