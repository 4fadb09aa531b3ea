"""Backend `verilog`: the translated Verilog, imported back into PyMTL3 through Verilator.

PyMTL3's import pass was written for Verilator 4. This module overrides the parts that differ for Verilator 5,
without changing PyMTL3: the prefix of the model is given explicitly (version 5 would encode a `__` in the
derived one); the run-time library is linked and not included after the model; libraries of two designs have
different names (a library of version 5 is never unloaded, so a second design with the same name would
silently run the first one); and each model has its own context. `build.library` handles the first three.
Other files of the pass go to a temporary directory, which is the working directory while it runs.
"""

import ctypes
import importlib.util
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pymtl3 import Component
from pymtl3.passes.backends.verilog import (
    VerilogTranslationImportPass,
    VerilogTranslationPass,
    VerilogVerilatorImportPass,
)
from pymtl3.passes.backends.verilog.import_.VerilogVerilatorImportConfigs import VerilogVerilatorImportConfigs

from .base import Options, check_written, elaborate
from .build import library
from .nativemodel import WAVE_FILE
from .pymodel import InPython, prepare
from .translation.translate import top_name, translate

_serial = itertools.count()

# read by VerilogStage._check_waves
WAVES_ERROR = """\
static int waves_errno;
extern "C" __attribute__((visibility("default"))) int waves_error() { return waves_errno; }
"""


class VerilogStage(InPython):
    """The imported component, with the testbench of backend `python`."""

    backend = "verilog"

    def __init__(self, component: Component, options: Options) -> None:
        self._check(options)
        elaborate(component)
        self.ports = self.read_ports(component)
        self._attach(_import_back(component, options), options)
        self._check_waves()

    def _check_waves(self) -> None:
        path, error = self._top.waves
        check_written(path, error())

    def close(self) -> None:
        if not self._top._finalization_count:
            self._top.finalize()


def _import_back(component: Component, options: Options) -> Component:
    """The component's Verilog as a component that is ready for PyMTL3's simulator and must be finalised in
    the end.
    """
    component.set_metadata(VerilogTranslationImportPass.enable, True)
    component.set_metadata(VerilogVerilatorImportPass.c_flags, options.opt)
    target = options.vcd and options.vcd.absolute()
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory, _working_directory(directory):
        if target:
            # the pass chooses the name; a link redirects it to the requested file
            Path("waves.verilator1.vcd").symlink_to(target)
            component.set_metadata(VerilogVerilatorImportPass.vl_trace, True)
            component.set_metadata(VerilogVerilatorImportPass.vl_trace_filename, "waves")
        imported = _TranslateImport()(component)
        prepare(imported)
    imported.waves = options.vcd, ctypes.CDLL(str(imported.library)).waves_error if target else int
    return imported


@contextmanager
def _working_directory(path: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


class _Configs(VerilogVerilatorImportConfigs):
    """Configuration that finds the library under its name in the cache."""

    library = "not-built-yet.so"
    built = Path(library)

    def get_shared_lib_path(self) -> str:
        return self.library


class _Translate(VerilogTranslationPass):
    """Our translation instead of PyMTL3's."""

    def __call__(self, top: Component) -> None:
        file = Path(f"{top_name(top)}.v")
        file.write_text(translate(top))
        top.set_metadata(self.translated_filename, file.name)
        top.set_metadata(self.translated_top_module, file.stem)


class _Import(VerilogVerilatorImportPass):
    """The import pass with our build."""

    @staticmethod
    def get_import_config() -> type[VerilogVerilatorImportConfigs]:
        return _Configs

    def is_cached(self, m: Component, ip_cfg: _Configs) -> tuple[bool, str, dict[str, Any]]:
        return False, "pymtl_import_config.json", {}

    def create_verilator_model(self, *_: object) -> None:
        """Nothing to do: part of create_shared_lib."""

    def create_shared_lib(self, m: Component, ph_cfg: object, ip_cfg: _Configs, cached: bool) -> None:
        wrapper = Path(ip_cfg.get_c_wrapper_path()).read_text()
        # a separate context for each model: a shared one keeps the time and the deleted models
        wrapper = wrapper.replace(
            "Verilated::randReset", "Verilated::threadContextp(new VerilatedContext);\n  Verilated::randReset"
        )
        wrapper = wrapper.replace(
            "new VerilatedVcdC()", "new VerilatedVcdC((waves_errno = 0, new WaveFile(&waves_errno)))"
        )
        built = library(
            Path(ip_cfg.translated_source_file).read_text(),
            ip_cfg.translated_top_module,
            # the pass finds the functions of the wrapper by name, so they must be visible
            f"{WAVE_FILE.read_text()}{WAVES_ERROR}#pragma GCC visibility push(default)\n{wrapper}",
            ip_cfg.c_flags,
            Path("waves.vcd") if ip_cfg.vl_trace else None,
        )
        ip_cfg.built = built
        ip_cfg.library = built.name
        Path(built.name).symlink_to(built)

    def import_component(
        self, m: Component, ph_cfg: object, ip_cfg: _Configs, symbols: dict[str, Any]
    ) -> Component:
        # a separate module for each import: PyMTL3 would reload the same one
        name = f"_modexlab_imported_{next(_serial)}"
        spec = importlib.util.spec_from_file_location(name, Path(ip_cfg.get_py_wrapper_path()).absolute())
        assert spec is not None and spec.loader is not None  # it ends in .py
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        vars(module).update(symbols)
        component = getattr(module, ip_cfg.translated_top_module)()
        component.library = ip_cfg.built
        return component


class _TranslateImport(VerilogTranslationImportPass):
    """Both passes in sequence."""

    @staticmethod
    def get_translation_pass() -> type[VerilogTranslationPass]:
        return _Translate

    @staticmethod
    def get_import_pass() -> type[VerilogVerilatorImportPass]:
        return _Import
