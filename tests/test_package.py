"""The package: what it needs is declared, the wheel has all that is in the rooms, and works where there is no
checkout.
"""

import contextlib
import importlib.metadata
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import msgspec
import pytest
from modexlab.eval.cli import main as command
from modexlab.rtl.sim import cache, install, simulate

from tests.harness import finished, module_fixture, parametrize, regress
from tests.paths import ROOT
from tests.rtl.sim.examples import Pass
from tests.test_house import BELOW, imported_packages

PROJECT = msgspec.toml.decode((ROOT / "pyproject.toml").read_text())["project"]
ROOMS = tuple(BELOW)
OURS = {"modexlab"}
DISTRIBUTIONS = install.DISTRIBUTIONS | {"elftools": "pyelftools"}
RSA = ("--nbits", "16", "--base", "5", "--exp", "3", "--mod", "63001")


def name_of(requirement):
    return re.split(r"[<>=!~;\[ ]", requirement)[0].lower().replace("_", "-")


def test_all_that_is_imported_is_declared():
    core = {name_of(dependency) for dependency in PROJECT["dependencies"]}
    optional = PROJECT["optional-dependencies"]
    extras = {name_of(item) for extra in install.EXTRAS for item in optional[extra]}
    for room in ROOMS:
        for file in (ROOT / room).rglob("*.py"):
            # with tests of their own; the benches of packages run where the user has cocotb
            if "examples" in file.parts or file.name in ("cocotb_bench.py", "shuttle_bench.py"):
                continue
            for module in imported_packages(file) - OURS - BELOW.keys() - sys.stdlib_module_names:
                name = DISTRIBUTIONS.get(module, module).lower().replace("_", "-")
                assert name in core | extras, (
                    f"{file} imports {module}, which pyproject.toml does not declare"
                )


def locked():
    """The packages of requirements.txt by name, each with its lines."""
    found = {}
    for entry in re.split(r"\n(?=\S)", (ROOT / "requirements.txt").read_text()):
        if not entry.startswith("#"):
            found.setdefault(name_of(entry), []).append(entry)
    return found


def test_the_lock_has_all_that_is_declared():
    extras = PROJECT["optional-dependencies"]
    wanted = {*PROJECT["dependencies"]}
    wanted |= {item for name, items in extras.items() if name != "notebook" for item in items}
    assert {name_of(item) for item in wanted} - OURS - locked().keys() == set(), "run `make lock`"


def test_the_lock_pins_by_hash_and_names_no_host():
    for entries in locked().values():
        for entry in entries:
            assert re.match(r"[\w.-]+==[\w.]+( ;[^\n]+)? \\\n +--hash=sha256:[0-9a-f]{64}", entry), entry
    assert "://" not in (ROOT / "requirements.txt").read_text()


def test_the_environment_has_the_locked_versions():
    """uv installs the packages of pyproject.toml; requirements.txt constrains their versions."""
    for name, entries in locked().items():
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            version = importlib.metadata.version(name)
            assert any(entry.split()[0].endswith(f"=={version}") for entry in entries), name


def test_version(cli):
    assert cli.passes("--version").out == f"modexlab {PROJECT['version']}\n"
    assert f"version: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()


@parametrize(
    "module, remedy",
    {
        "pyosys": ("pyosys", "flow"),
        "yaml": ("PyYAML", "flow"),
        "klayout": ("klayout", "layout"),
        "pythondata_cpu_vexriscv": ("pythondata-cpu-vexriscv", "soc"),
        "dask_jobqueue": ("dask-jobqueue", "sweep"),
    }.items(),
)
def test_a_missing_extra_is_named(module, remedy, monkeypatch, cli):
    distribution, extra = remedy
    without(module, monkeypatch)
    monkeypatch.chdir(ROOT)
    assert cli.fails("show designs") == f"{distribution} is not installed: run `make setup`"
    monkeypatch.chdir("/")
    assert cli.fails("show designs") == f"{distribution} is not installed: run `make setup` in {ROOT}"
    monkeypatch.setattr(install, "_clone", lambda: None)  # as of a wheel
    pip = f"run `{sys.executable} -m pip install 'modexlab[{extra}]'`"
    assert cli.fails("show designs") == f"{distribution} is not installed: {pip}"


def without(module, monkeypatch):
    """A command that needs a module that is missing."""

    def execute(args):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("modexlab.eval.cli.commands.show.designs.execute", execute)


def test_a_missing_module_of_ours_is_a_bug(monkeypatch):
    without("modexlab.rtl.nix", monkeypatch)
    with pytest.raises(ModuleNotFoundError):
        command.main(["show", "designs"])


# ---- the wheel


@module_fixture
def wheel(tmp_path_factory):
    """Built from a copy of what git has, so that nothing of a build stays in the checkout."""
    directory = tmp_path_factory.mktemp("wheel")
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    files = (*ROOMS, "docs/labs", "*.toml", "setup.py", "README.md", "LICENSE")
    listed = finished([*command, *files], cwd=ROOT, check=True)
    for name in listed.stdout.split():
        if (ROOT / name).is_file():
            (directory / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / "source" / name).write_bytes((ROOT / name).read_bytes())
    options = ("--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q", "-w", str(directory))
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(directory / "source")], check=True)
    (built,) = directory.glob("modexlab-*.whl")
    return built


def test_wheel_has_all_of_the_rooms(wheel):
    source = wheel.parent / "source"
    wanted = {
        str(path.relative_to(source))
        for room in ROOMS
        for path in (source / room).rglob("*")
        if path.is_file()
    }
    names = {name.removeprefix("modexlab/") for name in zipfile.ZipFile(wheel).namelist()}
    wanted = {name.replace("eval/api/", "") for name in wanted}  # the package itself
    assert "py.typed" in wanted, "PEP 561: a type checker looks for it next to modexlab/__init__.py"
    assert {name for name in wanted - names if not name.endswith(".pyc")} == set()
    assert not any(name.startswith("tests/") for name in names)
    assert {"docs/labs/lab1/starter/rtl.py", "docs/labs/lab1/index.md"} <= names


@module_fixture
def installed(wheel):
    """An environment with the wheel alone, and the packages that it needs from this one (a test has no
    network).
    """
    place = wheel.parent / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / "bin" / "python"
    options = ("--no-deps", "--no-index", "--disable-pip-version-check", "-q")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(wheel)], check=True
    )
    (packages,) = (place / "lib").glob("python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


@module_fixture
def builds(installed):
    """A cache of its own, in which only Verilator's parts are compiled already: they are none of the
    wheel's.
    """
    simulate(Pass(8)).close()
    place = installed / "cache"
    place.mkdir()
    for entry in (*cache.root().glob("headers-*.gch"), *cache.root().glob("runtime-*.o")):
        shutil.copy(entry, place)
    return place


def run(installed, builds, *arguments):
    """A command of the installed package, far from the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    tools = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"  # of the packages that it needs
    done = finished(
        [installed / "bin" / "modexlab", *arguments],
        cwd=installed,
        env=environment | {"PATH": tools, "MODEXLAB_CACHE": str(builds)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_installed_wheel_runs_a_machine(installed, builds):
    where = (
        "import modexlab.fl; print(*modexlab.fl.__path__, modexlab.design('mont').at(16).cycles(5, 3, 63001))"
    )
    found = finished([installed / "bin" / "python", "-c", where], cwd=installed)
    assert found.stdout.startswith(str(installed)), found
    assert run(installed, builds, "--version") == f"modexlab {PROJECT['version']}\n"
    out = run(installed, builds, "run", "mont", *RSA, "--level", "rtl")
    assert f"result          {pow(5, 3, 63001)} " in out and "ok" in out
    assert "course" in run(installed, builds, "show", "spaces")
    assert "accelerator.py, rtl.py" in run(installed, builds, "new", "lab", "1")
    assert "12.47" in run(installed, builds, "show", "papers", "001", "--table", "3")


@regress
def test_installed_wheel_runs_the_flow(installed, builds):
    out = run(installed, builds, "asic", "mont", "--nbits", "8", "--to", "power")
    assert "tests           34 passed, 0 failed at gates" in out
    assert "exit" in run(installed, builds, "proc", str(ROOT / "tests" / "data" / "gcd.c"))


@parametrize("version", ("3, 9", "3, 15"))
def test_setup_refuses_a_python_for_which_packages_are_missing(version, tmp_path):
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "import sys; sys.version_info = ({version}); $2"\n'
    )
    user = tmp_path / "id"  # only root installs Debian packages
    user.write_text("#!/bin/sh\necho 1000\n")
    for program in (python, user):
        program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = finished(
        [ROOT / ".ci" / "setup", "flow"], cwd=tmp_path, env=os.environ | {"PATH": path, "PYTHON": "python"}
    )
    assert done.returncode == 2
    assert done.stderr == "setup: PYTHON=python is no Python from 3.10 to 3.14\n"


def test_settings_of_pip_become_those_of_uv():
    """The environment takes precedence over [install], and [install] over [global]."""
    uv_settings = runpy.run_path(str(ROOT / ".ci" / "uv_settings.py"))["settings"]
    lines = [
        ":env:.trusted-host='c'",
        "global.index-url='a'",
        "install.index-url='b'",
        "global.trusted-host='d'",
        "global.extra-index-url='\\ne\\nf'",
        "global.find-links='g h'",
        "global.timeout='5'",
        "list.format='columns'",
    ]
    assert (
        uv_settings(lines)
        == uv_settings(lines[::-1])
        == {
            "UV_DEFAULT_INDEX": "b",
            "UV_INDEX": "e f",
            "UV_FIND_LINKS": "g,h",
            "UV_INSECURE_HOST": "c",
        }
    )
