"""modexlab: each room at the top level is the package modexlab.<room>."""

from pathlib import Path

from setuptools import setup

TOP = ("fl", "rtl", "cl", "proc", "flow", "eval")
HERE = Path(__file__).parent
ROOMS = sorted(
    str(file.parent.relative_to(HERE)).replace("/", ".")
    for top in TOP
    for file in (HERE / top).rglob("__init__.py")
)

setup(
    name="modexlab",
    version="0.1.0",
    description="A laboratory for modular-exponentiation hardware (RSA) at FL, CL and RTL",
    python_requires=">=3.10,<3.14",  # PyMTL3 3.1.17 uses ast.Num, which Python 3.14 removed
    packages=[f"modexlab.{room}" for room in ROOMS],
    package_dir={f"modexlab.{room}": room.replace(".", "/") for room in ROOMS},
    package_data={
        "": ["*.cpp", "*.toml", "*.svg"],
        "modexlab.proc.software": ["*.c", "*.h", "*.S", "*.ld"],
        "modexlab.flow.synth": ["styles/*", "mapping/*.v"],
        "modexlab.flow.graph": ["steps/**"],
        "modexlab.eval.lab": ["spaces/*.toml"],
        "modexlab.eval.report": ["page/*"],
    },
    install_requires=[
        "pymtl3==3.1.17",
        "rsa>=4.9",
        "cryptography>=42",
        "pyelftools>=0.31",
        "tqdm>=4.66",
        "shtab>=1.7",
        "optuna>=5",
        "distributed>=2026.8",
        "dask-jobqueue>=0.9",
        "pyarrow>=25",
        "vl-convert-python>=1.9",
        "msgspec>=0.22",
        "tomli>=2.5; python_version < '3.11'",
    ],
    entry_points={"console_scripts": ["modexlab = modexlab.eval.cli.main:main"]},
)
