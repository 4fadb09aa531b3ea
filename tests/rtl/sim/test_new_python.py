"""PyMTL3 on Python 3.14 (rtl/new_python.py), the patch of its page, and the pin on PyMTL3's release."""

import ast
import copy
import re
import shutil
import sys
from pathlib import Path

import pymtl3
import pytest
from modexlab.rtl import new_python, pymtl3_release, wide
from pymtl3.datatypes import PythonBits, bitstructs
from pymtl3.dsl import AstHelper

from tests.harness import finished, parametrize
from tests.paths import ROOT

PAGE = ROOT / "docs" / "explanation" / "new-python.md"
PINNED = {**new_python.PINNED, PythonBits: wide.PINNED_SHA256}
# needs everything that Python 3.14 removed: constant slices and indices, a lambda, a bitstruct
PROGRAM = """
from pymtl3 import *
from pymtl3.passes.backends.verilog import VerilogTranslationPass

@bitstruct
class Pair:
    a: Bits4
    b: Bits4

class Swap(Component):
    def construct(s):
        s.in_ = InPort(Pair)
        s.out = OutPort(8)
        s.words = [Wire(4) for _ in range(2)]
        s.low = Wire(2)
        s.low //= lambda: s.words[1][0:2] + 1
        @update
        def swap():
            s.words[0] @= s.in_.b
            s.words[1] @= s.in_.a
            s.out @= concat(s.words[1][2:4], s.low, s.words[0])

    def line_trace(s):
        return "".join(["swap"])

swap = Swap()
swap.elaborate()
swap.apply(DefaultPassGroup())
swap.in_ @= Pair(6, 5)
swap.sim_eval_combinational()
print(swap.out)
swap = Swap()
swap.elaborate()
swap.set_metadata(VerilogTranslationPass.enable, True)
swap.apply(VerilogTranslationPass())
"""


def run_program(directory, *imports):
    """Run the program in an empty directory, after these imports; return its output and lines of Verilog."""
    file = directory / "program.py"
    file.write_text("\n".join([*imports, PROGRAM]))
    run = finished([sys.executable, file.name], cwd=directory)
    assert run.returncode == 0, run.stderr
    verilog = next(directory.glob("*.v")).read_text()
    return run.stdout, [line for line in verilog.splitlines() if "//" not in line]


def test_a_program_that_imports_the_laboratory(tmp_path):
    shown, verilog = run_program(tmp_path, "import modexlab.rtl")
    assert shown == "75\n"
    assert "    out = { words[1'd1][2'd3:2'd2], low, words[1'd0] };" in verilog


@pytest.mark.regress
def test_the_patch_of_the_page(tmp_path):
    """A patched PyMTL3 runs the program without the laboratory."""
    patched = tmp_path / "patched"
    shutil.copytree(
        Path(pymtl3.__file__).parent, patched / "pymtl3", ignore=shutil.ignore_patterns("__pycache__")
    )
    patch = re.search("```diff\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    applied = finished(["git", "apply", "-"], input=patch, cwd=patched)
    assert applied.returncode == 0, applied.stderr
    path = f"import sys; sys.path.insert(0, {str(patched)!r})"
    unchanged = f"import pymtl3, ast; assert pymtl3.__file__.startswith({str(patched)!r})"
    directory = tmp_path / "run"
    directory.mkdir()
    assert run_program(directory, path, unchanged) == run_program(tmp_path, "import modexlab.rtl")


def test_the_module_ast_of_others_stays():
    stand_in = AstHelper.ast
    assert stand_in is not ast and not isinstance(ast.parse("1").body[0].value, new_python.Num)
    number, text, flag = (stand_in.parse(source).body[0].value for source in ("1", "'a'", "True"))
    assert isinstance(number, stand_in.Num) and number.n == number.value == 1
    assert isinstance(text, stand_in.Str) and text.value == "a"
    assert type(flag) is ast.Constant
    assert copy.deepcopy(number).n == 1
    assert (number.lineno, text.end_col_offset) == (1, 3)
    assert eval(compile(stand_in.parse("1 + 2", mode="eval"), "sum", "eval")) == 3
    new_python.adapt()  # nothing to do: already applied
    assert AstHelper.ast is stand_in


def test_annotations_of_a_base_are_no_fields():
    class Base:
        field: bitstructs.Bits8

    class Empty(Base):
        pass

    with pytest.raises(AttributeError, match="No field is declared"):
        pymtl3.bitstruct(Empty)


@parametrize("module", PINNED)
def test_another_pymtl3_is_refused(module, monkeypatch, tmp_path):
    pymtl3_release.check(module, PINNED[module])
    with monkeypatch.context() as patch:
        patch.setattr(pymtl3_release, "installed", "3.2.0")
        with pytest.raises(
            RuntimeError, match=r"adapts PyMTL3 3.1.17, but found 3.2.0: install pymtl3==3.1.17"
        ):
            pymtl3_release.check(module, PINNED[module])
    file = tmp_path / Path(module.__file__).name
    file.write_bytes(Path(module.__file__).read_bytes() + b"\n")
    monkeypatch.setattr(module, "__file__", str(file))
    with pytest.raises(
        RuntimeError, match=rf"{file.name} is not that of the 3.1.17 release .sha256 .*: install"
    ):
        pymtl3_release.check(module, PINNED[module])
