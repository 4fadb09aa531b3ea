"""Package layout: a room at the top level is the package modexlab.<room>, and modexlab itself is eval/api.
Metadata are in pyproject.toml.
"""

from pathlib import Path

from setuptools import setup

TOP = ("fl", "rtl", "cl", "proc", "flow", "eval")
API = "eval/api"
HERE = Path(__file__).parent
ROOMS = sorted(
    str(file.parent.relative_to(HERE)) for top in TOP for file in (HERE / top).rglob("__init__.py")
)
PACKAGES = {f"modexlab.{room.replace('/', '.')}": room for room in ROOMS if room != API} | {"modexlab": API}
LABS = sorted({str(file.parent.relative_to(HERE)) for file in (HERE / "docs" / "labs").glob("lab?/**/*.py")})
PACKAGES |= {f"modexlab.{folder.replace('/', '.')}": folder for folder in LABS}  # no modules to import: data

setup(
    packages=list(PACKAGES),
    package_dir=PACKAGES,
    # files that are not Python: other languages, data, pages of the report
    package_data={
        "": ["*.cpp", "*.rdl", "*.toml", "*.svg", "*.c", "*.h", "*.S", "*.ld", "*.md", "py.typed"],
        "modexlab.proc.software": ["driver/*", "freestanding/*", "mod_exp/*"],
        "modexlab.flow.synth": ["scripts/*"],
        "modexlab.flow.prove": ["*.v"],
        "modexlab.rtl.interfaces": ["*.sv"],
        "modexlab.flow": ["construct.py", "examples/**"],
        "modexlab.eval": ["examples/**", "results/**"],
        "modexlab.eval.lab": ["spaces/*"],
        "modexlab.eval.exchange.soc": ["software/*"],
        "modexlab.eval.exchange.package": ["template/**", "*.css"],
        "modexlab.eval.report": ["page/*"],
    },
)
