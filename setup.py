"""Where the rooms are: each at the top level is the package modexlab.<room>. All else stands in pyproject.toml."""

from pathlib import Path

from setuptools import setup

TOP = ("fl", "rtl", "cl", "proc", "flow", "eval")
HERE = Path(__file__).parent
ROOMS = sorted(
    str(file.parent.relative_to(HERE)).replace("/", ".")
    for top in TOP
    for file in (HERE / top).rglob("__init__.py")
)
PACKAGES = [f"modexlab.{room}" for room in ROOMS]

setup(
    packages=PACKAGES,
    package_dir={package: room.replace(".", "/") for package, room in zip(PACKAGES, ROOMS, strict=True)},
    # what is no Python: sources of other languages, data, steps of the flow, pages of the report
    package_data={
        "": ["*.cpp", "*.toml", "*.svg", "*.c", "*.h", "*.S", "*.ld", "*.md", "py.typed"],
        "modexlab.flow.synth": ["styles/*", "mapping/*"],
        "modexlab.flow": ["construct.py"],
        "modexlab.flow.graph": ["steps/**"],
        "modexlab.eval.lab": ["spaces/*"],
        "modexlab.eval.report": ["page/*"],
    },
)
