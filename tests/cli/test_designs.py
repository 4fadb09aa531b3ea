"""`modexlab show`: names and JSON keys are an interface for scripts."""

from modexlab.eval.cli.routes import forms
from modexlab.eval.designs import catalogue
from modexlab.fl.param import Count

KEYS = {"name", "family", "paper", "domain", "schedule", "constant_time", "params"}


def test_json(cli):
    designs = cli.json("show designs")
    by_name = {design["name"]: design for design in designs}
    assert {"naive-001", "mont-001", "mont", "mont-ct"} <= by_name.keys()
    assert cli.json("show mont") == [by_name["mont"]]
    for design in designs:
        assert design.keys() >= KEYS
        for param in design["params"]:
            assert param.keys() >= {"name", "default", "legal"}
            assert param["default_nbits"] == 32
            if isinstance(param["legal"], list):
                names = [str(value).lower() for value in param["legal"]]
                shown = names if len(names) <= 20 else [*names[:3], "...", names[-1]]
                assert param["legal_text"] == f"{'one of ' if names[1:] else ''}{', '.join(shown)}"
                assert param["default"] in param["legal"]
            else:
                assert param["legal"].keys() == {"least"}
                assert param["legal_text"] == f"{param['legal']['least']} or more"
                assert number(param["default"]) >= number(param["legal"]["least"])
    assert by_name["mont-001"]["paper"] == "001"
    assert by_name["mont"]["paper"] == ""
    assert by_name["mont-ct"]["constant_time"] is True
    assert set(by_name["mont"]["constant_schedules"]) == {
        "right-to-left-2",
        "always",
        "ladder",
    }
    assert [
        name for name, design in by_name.items() if name.endswith("-ct") and design["constant"] != "yes"
    ] == []
    for name in ("naive-001", "ssmm-004", "ssmm"):  # the cycles of their products depend on the factors
        assert not by_name[name]["constant_time"] and by_name[name]["constant_schedules"] == []
    assert by_name["mont"]["domain"] == "montgomery"


def number(value):
    """A number in our JSON: an integer, or hexadecimal text if it is large."""
    return value if isinstance(value, int) else int(value, 16)


def test_table(cli):
    """One screen has all designs, and all parameters that can be set."""
    text = cli("show designs").out
    lines = text.splitlines()
    assert lines[0].split() == ["name", "paper", "settings"]
    assert len(lines) <= 46 and max(map(len, lines)) <= 110
    for design in catalogue.designs():
        assert any(line.split()[:1] == [design.name] for line in lines)
        for param in design.params:
            assert isinstance(param.legal, Count) or not param.legal[1:] or f" {param.name}" in text
    assert "digit_nbits=1+" in text and "window=0..8" in text and "until=spent|count" in text


def test_show_alone_lists_its_forms(cli):
    """A line for each form, which starts as its command does."""
    out, found = cli.passes("show").out, cli.json("show")
    assert [item["form"] for item in found] == ["show DESIGN", *forms("show")[1:]]
    lines = out.splitlines()[2:]
    assert [line.split("  ")[0] for line in lines] == [item["form"] for item in found]
    assert "show designs      list the designs of the catalogue with their settings" in lines


def test_detail(cli):
    cli.shows("show mont-001", "nstages = 4", "published      encrypt: 162 cycles")


def test_what_is_published_of_another_machine_is_not_shown_as_ours(cli):
    out = cli("show mont").out
    assert "paper          ours" in out and "published" not in out
    assert cli.json("show mont")[0]["published"] == {}
    assert cli.json("show mont-001")[0]["published"] == {"encrypt": 162, "decrypt": 227}
