"""Digests of sources follow imports, so no list has to be maintained."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from modexlab.rtl.sim import sources

from tests.harness import parametrize

FILES = {
    "low/__init__.py": "",
    "low/plain.py": "X = 1\n",
    "low/table.dat": "1 2 3\n",
    "high/__init__.py": "from ..low import plain\n",
    "high/top.py": "def f():\n    from .late import Y\n    return Y\n",
    "high/late.py": 'NAME = "styles"\nWORKER = ("-m", "modexlab.high.worker")\nY = 2\n',
    "high/worker.py": "Z = 3\n",
    "high/hint.py": "",
    "high/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import hint\n",
    "high/styles/a.txt": "a\n",
    "high/unnamed/b.txt": "b\n",
    "high/other.py": "",
}


@pytest.fixture
def house(tmp_path, monkeypatch):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    forget()
    yield tmp_path
    forget()


def forget():
    sources.imports.cache_clear()
    sources._files_of_one.cache_clear()
    sources._files_of_one.cache_clear()
    sources._name.cache_clear()
    sources.digest.cache_clear()


@parametrize(
    "changed, counts",
    [
        ("high/top.py", True),
        ("high/late.py", True),  # imported inside a function
        ("high/worker.py", True),  # run by name
        ("high/__init__.py", True),
        ("low/plain.py", True),  # imported by the package
        ("low/table.dat", True),  # next to it
        ("high/styles/a.txt", True),  # in a folder that the text names
        ("high/unnamed/b.txt", False),
        ("high/other.py", False),
        ("high/hint.py", False),
    ],
)
def test_what_counts(house, changed, counts):
    before = sources.digest("high.top")
    (house / changed).write_text(FILES[changed] + "# changed\n")
    forget()
    assert (sources.digest("high.top") != before) == counts


def test_type_checkers_imports_do_not_count_and_rooms_can_be_left_out(house):
    assert "high.hint" not in sources.closure("high.typed")
    assert sources.closure("high.top", without=("low",)) == {"high", "high.top", "high.late", "high.worker"}
    with pytest.raises(ValueError, match=r"no module high\.tip"):
        sources.closure("high.tip")


@parametrize(
    "file", ["carry_save.py", "sharing.py", "estimate.py", "scripts/plain.ys", "scripts/full_adders.v"]
)
def test_gates_depend_on_all_of_synthesis(file):
    """A manual list would miss these files, and tests of gates would use outdated netlists."""
    assert sources.ROOT / "flow" / "synth" / file in sources.files_of("flow.synth.synthesis")


def test_threads_may_ask_at_once():
    """Python 3.11 raises SystemError if two threads parse at once, as happens when the collector runs in
    between.
    """

    def let_others_go(*_):
        time.sleep(0)

    asked = ("flow.layout.place", "flow.synth.synthesis", "flow.power.power", "flow.timing.timing")
    usual = gc.get_threshold()
    gc.callbacks.append(let_others_go)
    gc.set_threshold(200, 5, 5)
    try:
        forget()
        with ThreadPoolExecutor(len(asked)) as pool:
            found = list(pool.map(sources.digest, asked))
    finally:
        gc.set_threshold(*usual)
        gc.callbacks.remove(let_others_go)
    assert found == [sources.digest(name) for name in asked]


@parametrize(
    "one, other, same",
    [
        ("def f():\n    '''a'''\n    return 1\n", "def f():\n    '''b'''\n\n    return 1  # c\n", True),
        ("'doc'; W = 5\n", "'doc'; W = 6\n", False),
        ("X = '''a\n\nb'''\n", "X = '''a\nb'''\n", False),
        ("A = '\u2028'  # c\nB = 1\n", "A = '\u2028'  # c\nB = 2\n", False),
        ("class A:\n    '''d'''\n\nprint(A.__doc__)\n", "class A:\n    '''e'''\n\nprint(A.__doc__)\n", False),
    ],
)
def test_code_is_the_text_without_comments(one, other, same, tmp_path):
    digests = set()
    for name, text in (("one.py", one), ("other.py", other)):
        (tmp_path / name).write_text(text)
        digests.add(sources._code_digest(tmp_path / name))
    assert (len(digests) == 1) == same
