"""The package with the types of a design: shared types alone, and several designs in one project."""

import re

from modexlab.eval.designs.catalogue import find
from modexlab.flow.netlist import yosys
from modexlab.rtl.sim import lint, translate
from modexlab.rtl.sim.translation.module_files import module_files

from tests.harness import parametrize
from tests.rtl.sim.examples import Add
from tests.rtl.sim.test_readers import icarus

TOPS = {"one": "mont", "two": "naive"}
BENCH = """
module bench;
  logic clk, reset, val, rdy;
  one_pkg::status_e status;
  logic [23:0] msg;
{instances}
endmodule
"""
INSTANCE = """\
  logic {top}_irdy, {top}_val;
  logic [11:0] {top}_msg;
  {top} {top}_unit (.clk(clk), .reset(reset), .istream__msg(msg), .istream__val(val),
    .istream__rdy({top}_irdy), .ostream__msg({top}_msg), .ostream__val({top}_val), .ostream__rdy(rdy));
"""


def text_of(name, top):
    return translate(find(name).at(8).rtl(), top, unique=True)


@parametrize("name, top", [(name, top) for top, name in TOPS.items()])
def test_shared_types_are_in_a_package(name, top):
    """Before the modules, without the name of the design; modules name the package."""
    text = text_of(name, top)
    package, _, modules = text.partition("\nendpackage\n")
    assert re.findall(r"^package (\w+);$", text, re.MULTILINE) == [f"{top}_pkg"]
    types = re.findall(r"^  \} (\w+);$", package, re.MULTILINE)
    labels = re.findall(r"^    (\w+) = \d", package, re.MULTILINE)
    assert {"mod_exp_req_8_t", "status_e"} <= set(types) and "STATUS_OK" in labels
    assert not re.findall(r"^(typedef|module)", package, re.MULTILINE)
    imported = re.findall(rf"^  import {top}_pkg::(\w+);$", text, re.MULTILINE)
    assert imported and set(imported) <= set(types)
    plain = re.sub(r"^  import .*\n", "", modules, flags=re.MULTILINE)
    for word in (*types, *labels):
        assert re.search(rf"\b{top}_pkg::{word}\b", plain) or word not in imported
        assert not re.search(rf"(?<!::)\b{word}\b", plain), word


def test_no_package_without_shared_types():
    text = translate(Add(8, 1), "top")
    assert "package" not in text and "import" not in text and "::" not in text
    assert [*module_files(text)] == ["top.sv"]


def test_designs_with_types_of_the_same_names_are_read_together(tmp_path):
    """By all tools, with a bench that uses a type itself."""
    texts = [text_of(name, top) for top, name in TOPS.items()]
    assert all("  } status_e;" in text for text in texts)
    lint("".join(texts), "-Wno-MULTITOP")
    instances = "".join(INSTANCE.format(top=top) for top in TOPS)
    bench = BENCH.format(instances=instances)
    (tmp_path / "both.sv").write_text("".join(texts) + bench)
    script = "{} both.sv\nhierarchy -check -top bench\nproc\n"
    for reader in ("read_verilog -sv", "read_slang --ignore-timing --top bench"):
        yosys.run("read", script.format(reader), tmp_path)
    # Icarus 11 needs an import in each module that is above the types
    own = bench.replace("module bench;\n", "module bench;\n  import one_pkg::status_e;\n")
    (tmp_path / "both.sv").write_text("".join(texts) + own)
    icarus(tmp_path / "both.sv", "bench", tmp_path / "both.vvp")


def test_a_package_has_a_file_of_its_name():
    files = module_files(text_of("mont", "top"))
    first, second, *_ = files
    assert (first, second) == ("top_pkg.sv", "top.sv")
    assert "package top_pkg;" in files[first] and "module" not in files[first].replace("modules", "")
    assert not any("package" in text for name, text in files.items() if name != first)
