"""Helpers that synthesise and prove designs, in directories with a design and its netlist."""

import functools
import json

from modexlab.eval.designs.catalogue import find
from modexlab.flow.kit import kit
from modexlab.flow.netlist import netlist
from modexlab.flow.prove.equivalence import check_equivalence
from modexlab.flow.synth import optimised
from modexlab.flow.synth.synthesis import synthesize
from modexlab.flow.timing import nldm, wire_table
from modexlab.rtl.sim.translation.translate import translate
from pytest import approx

TOP = "dut"


@functools.cache
def unit_text(**settings):
    """The Verilog of paper 001's MontMulRem at 8 bits."""
    return translate(find("mont-001").at(8, **settings).multiplier(), TOP)


def synthesized(directory, text, style=optimised.STYLE, **options):
    """Write a design and its netlist to a directory."""
    (directory / "design.sv").write_text(text)
    synthesize(directory / "design.sv", TOP, directory, style=style, **options)


def loaded(directory, name):
    return json.loads((directory / name).read_text())


def top_of(directory):
    """The module in netlist.json."""
    return loaded(directory, "netlist.json")["modules"][TOP]


def write_top(directory, module):
    """Write a module as netlist.json."""
    (directory / "netlist.json").write_text(json.dumps({"modules": {TOP: module}}))


def netlist_of(directory):
    return netlist.read(directory / "netlist.json", kit.find().library, TOP)


def consistent(directory):
    """The netlist in a directory, which agrees with its hierarchy and area, and lacks no driver."""
    read, owners = netlist_of(directory), loaded(directory, "hierarchy.json")
    assert owners["cells"].keys() == read.cells.keys()
    assert set(owners["cells"].values()) <= owners["modules"].keys()
    areas = [kit.find().library.cells[cell.kind].area for cell in read.cells.values()]
    assert loaded(directory, "area.json")["area_um2"] == approx(sum(areas))
    assert all(driver for driver, sinks in zip(read.driver, read.sinks, strict=True) if sinks)
    return read


def proof(design, directory=None, **options):
    """Compare the netlist in a directory with the design in another one, or in the same."""
    directory = directory or design
    return check_equivalence(design / "design.sv", directory / "netlist.json", TOP, directory, **options)


def refutation(design, directory, module):
    """Compare a design with a netlist that differs from it; the proof must find the difference."""
    write_top(directory, module)
    report = proof(design, directory)
    assert report.refuted and not report.equivalent
    return report


def sizing_slack(directory, clock_ns):
    """The worst slack with the wires that sizing assumes, by an independent timing analysis."""
    library, read = kit.find().library, netlist_of(directory)
    wires = {
        read.nets[net]: wire_table.NetWire(kit.find().data.constraints.wire_ff * len(sinks))
        for net, sinks in enumerate(read.sinks)
    }
    return nldm.analyze(read, library, library.constraints(clock_ns), wires=wires).wns_ns
