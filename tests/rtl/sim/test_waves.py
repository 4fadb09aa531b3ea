"""Waveforms and line traces at the backends that support them."""

import re
from pathlib import Path

import pytest
from modexlab.fl.errors import BadInput
from modexlab.rtl.sim import simulate, toolchain

from tests.harness import RTL_BACKENDS, one_now, parametrize, refused
from tests.rtl.sim.examples import EXPECTED, REQUESTS, STATICS, AddMod, Pass

MODELS = one_now(
    RTL_BACKENDS, "python", "native"
)  # backends verilog and native write waveforms by the same code


@parametrize("backend", MODELS)
def test_vcd(backend, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("first.vcd", "second.vcd"):
        with simulate(AddMod(8), backend, vcd=Path(name)) as sim:
            assert sim.run(REQUESTS, statics=STATICS).responses == EXPECTED
        text = Path(name).read_text()
        assert text.count("$enddefinitions") == 1
        for name in ("modulus", "sum", "adder"):
            assert name in text
        assert {251, 200 << 8 | 100, 300, 49, 2} <= {
            int(bits, 2) for bits in re.findall(r"^b([01]+) ", text, re.MULTILINE)
        }
    assert {path.name for path in tmp_path.iterdir()} == {"first.vcd", "second.vcd"}


def test_vcd_is_complete_after_each_run(tmp_path):
    path = tmp_path / "waves.vcd"
    sim = simulate(Pass(8), vcd=path)
    for message in (0xA5, 0x5A):
        sim.run([message])
        assert f"b{message:08b}" in path.read_text()


def test_fst(tmp_path):
    path = tmp_path / "waves.fst"
    if toolchain.has_headers("lz4.h", "zlib.h"):
        with simulate(AddMod(8), vcd=path) as sim:
            assert sim.run(REQUESTS, statics=STATICS).responses == EXPECTED
        assert path.stat().st_size > 100
    else:
        with refused(r"run `apt-get install liblz4-dev zlib1g-dev`, or write a .vcd"):
            simulate(AddMod(8), vcd=path)
        assert not path.exists()


def test_headers_that_are_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(toolchain, "has_headers", lambda *_: False)
    with refused("run `apt-get install liblz4-dev zlib1g-dev`"):
        simulate(AddMod(11), vcd=tmp_path / "waves.fst")  # a width that is not in the cache


def test_waveform_files_that_cannot_be(tmp_path):
    with refused(r"waves.fst: backend python writes .vcd$"):
        simulate(AddMod(8), "python", vcd=tmp_path / "waves.fst")
    with refused(r"waves: backend native writes .vcd or .fst$"):
        simulate(AddMod(8), vcd=tmp_path / "waves")
    with refused(r"nowhere/waves.vcd: there is no directory .*nowhere$"):
        simulate(AddMod(8), vcd=tmp_path / "nowhere" / "waves.vcd")


@parametrize("backend", RTL_BACKENDS)
def test_waveform_file_that_cannot_be_written(backend, tmp_path):
    directory = tmp_path / "directory.vcd"
    directory.mkdir()
    dangling = tmp_path / "dangling.vcd"
    dangling.symlink_to(tmp_path / "nowhere" / "waves.vcd")
    for path, reason in ((directory, "Is a directory"), (dangling, "No such file or directory")):
        with refused(rf"{path.name}: cannot be written \({reason}\); give another file"):
            simulate(Pass(8), backend, vcd=path)


def test_waveform_file_that_the_model_cannot_open(tmp_path, monkeypatch):
    monkeypatch.setattr("modexlab.rtl.sim.base._check_writable", lambda path: None)
    with refused(r"directory.vcd: cannot be written; give another file"):
        (tmp_path / "directory.vcd").mkdir()
        simulate(Pass(8), vcd=tmp_path / "directory.vcd")


def test_line_traces():
    lines = {"python": [], "verilog": []}
    for backend, seen in lines.items():
        sim = simulate(AddMod(8), backend, trace=lambda *line, seen=seen: seen.append(line))
        run = sim.run(REQUESTS, statics=STATICS, sink_delays=1)
        assert [cycle for cycle, _ in seen] == list(range(run.cycles))
    # the component's own line with backend python, its streams with backend verilog
    assert lines["python"] == [*enumerate(f"AddMod full={full}" for full in "0111111")]
    assert lines["verilog"][0][1].split() == ["c8:64", ">", "."]
    with refused("backend native has no line trace: use python or verilog"):
        simulate(AddMod(8), trace=print)


def test_line_trace_of_a_component_without_one():
    seen = []
    simulate(Pass(8), "python", trace=lambda _, text: seen.append(text.split())).run([0x11], sink_delays=1)
    assert seen == [["#", ">", "#"], ["11", ">", "11"]]


@parametrize("backend", MODELS)
def test_a_full_disk_ends_a_run_with_a_reason(backend, tmp_path):
    """Verilator's own handler of a failed write flushes the file again, so `native` and `verilog` must handle
    it.
    """
    path = tmp_path / "full.vcd"
    path.symlink_to("/dev/full")
    with (
        pytest.raises((BadInput, OSError), match="No space left on device"),
        simulate(Pass(8), backend, vcd=path) as sim,
    ):
        sim.run([0xA5] * 5000)
