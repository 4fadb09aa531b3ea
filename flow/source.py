"""Sources of designs for the flow. A Source writes design.sv, design.json (description.py) and workload.json
(workload.py), and has a cache key; the flow itself knows no designs.

VerilogFiles is the source for the user's Verilog files, preprocessed for synthesis and joined into one text
(`one_text`), with optional vectors.
"""

import functools
import importlib.metadata
import re
import shutil
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ..fl.errors import BadInput
from ..rtl.sim import cache, toolchain
from . import workload
from .description import Description
from .files import replace_json, replace_text, scratch
from .product import StepRun
from .progress import stopwatch

PACKAGE = "modexlab"
STEP = "rtl"  # the step that a source performs
DESIGN, WORKLOAD = "design.sv", "workload.json"  # outputs besides the description
DEFINE = re.compile(r"[A-Za-z_]\w*(=[^\n]*)?")
# messages and output of Verilator's preprocessor
ERROR = re.compile(
    r"^%Error[\w-]*: (?:(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? )?(?P<text>.+)$", re.MULTILINE
)
MARKER = re.compile(r'^`line (?P<line>\d+) "(?P<path>[^"\n]*)" (?P<level>\d)$', re.MULTILINE)
MODULE = re.compile(
    r'^`line \d+ "(?P<path>[^"\n]*)" \d$|"(?:\\.|[^"\\])*"|\bextern\s+module\b|/\*.*?\*/'
    r"|(?<![\w$\\.`])(?:macro)?module\s+(?:(?:automatic|static)\s+)?(?P<module>\\\S+|[A-Za-z_][\w$]*)",
    re.MULTILINE,
)
READ_MEMORY = re.compile(r'\$readmem[bh]\s*\(\s*"([^"\n]+)"')
PRAGMA = re.compile(r"(?://|/\*)\s*(?:synopsys|synthesis|pragma|xilinx|cadence)\s+(.*)")
TRANSLATE = re.compile(r"^(?:translate|synthesis)_(off|on)\b")
VERILATOR = re.compile(r"/\*verilator\b")
TOKEN = re.compile(
    r'^`line [^\n]*$|"(?:\\.|[^"\\\n])*"|\\\S+|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<end>\n)',
    re.MULTILINE | re.DOTALL,
)
CASE_COMMENTS = re.compile(r"(?:/\*verilator (?:full|parallel)_case\*/[ \t]*)+")
CASE_KEYWORD = re.compile(r"\b(?:(?:unique0?|priority)\s+)?case[xz]?\s*$")


class Source(ABC):
    """A design as input of the flow."""

    _entry: Path | None = None  # what `entry` has written

    @property
    @abstractmethod
    def tool(self) -> tuple[str, str]:
        """Name and version of the tool that writes the Verilog."""

    @property
    @abstractmethod
    def has_vectors(self) -> bool:
        """Whether there are requests with expected responses."""

    @abstractmethod
    def write(self, directory: Path) -> None:
        """Write the three files."""

    def export(self, directory: Path) -> tuple[str, ...]:
        """Write the outputs of the step rtl, three files and the report of the run; return their names."""
        elapsed = stopwatch()
        self.write(directory)
        run = StepRun.of(STEP, self.tool, elapsed())
        run.write(directory, run.file)
        return DESIGN, Description.FILE, WORKLOAD, run.file

    def entry(self) -> Path:
        """The directory in the cache with the outputs, which are written anew for each source.

        It is named after the contents of the three files, and after nothing else.
        """
        if self._entry is not None and cache.intact_tree(self._entry.name):
            return self._entry
        with scratch() as directory:
            self.export(directory)
            digests = [cache.file_digest(directory / file) for file in (DESIGN, Description.FILE, WORKLOAD)]
            name = cache.tree_name(STEP, cache.key(*digests))
            entry = cache.cached_tree(name, partial(shutil.copytree, directory, dirs_exist_ok=True))
        object.__setattr__(self, "_entry", entry)  # sources are frozen
        return entry


@dataclass(frozen=True)
class VerilogFiles(Source):
    """Verilog files from elsewhere, with their top module, clock, and optional workload.json."""

    files: tuple[Path, ...]
    top: str
    clock_port: str | None = "clk"
    vectors: Path | None = None
    include: tuple[Path, ...] = ()  # directories for `include, besides those of the files
    define: tuple[str, ...] = ()  # macros, NAME or NAME=VALUE

    @property
    def tool(self) -> tuple[str, str]:
        return PACKAGE, importlib.metadata.version(PACKAGE)

    @property
    def has_vectors(self) -> bool:
        return self.vectors is not None

    @functools.cached_property
    def _text(self) -> str:
        return one_text(self.files, self.include, self.define)

    def write(self, directory: Path) -> None:
        replace_text(directory / DESIGN, self._text)
        files = tuple(path.name for path in self.files)
        Description(self.top, self.top, self.clock_port or None, files=files).write(directory)
        if self.vectors is None:
            replace_json(directory / WORKLOAD, {})
        else:
            workload.check_names(workload.load(self.vectors), self.top, self._text)
            replace_text(directory / WORKLOAD, workload.text(self.vectors))


def one_text(
    files: Sequence[Path],
    include: Sequence[Path] = (),
    define: Sequence[str] = (),
    opened: set[Path] | None = None,
) -> str:
    """Preprocess Verilog files and join them into one text; BadInput with file and line if that fails.

    opened: receives all files that were read, also by `include.

    The text has no comments. `line directives keep the names and lines of the files for the messages of later
    tools, and comments such as `// synopsys full_case` become attributes.
    """
    for macro in define:
        if not DEFINE.fullmatch(macro):
            raise BadInput(
                f"--define {macro!r} is no macro; write NAME or NAME=VALUE, as in --define WIDTH=32"
            )
    for directory in include:
        if not directory.is_dir():
            raise BadInput(f"--include {directory}: there is no such directory")
    for path in files:
        if not path.is_file():
            raise BadInput(f"{path} cannot be read: give a Verilog file")
    listed: dict[Path, Path] = {}
    for path in files:
        listed.setdefault(path.resolve(), path.absolute())
    read = [*listed.values()]
    around = [*(path.parent for path in read), *include]
    text = _with_pragmas(
        _preprocessed(read, around, define), lambda: _preprocessed(read, around, define, "--pp-comments")
    )
    if opened is not None:
        opened.update(Path(marker["path"]) for marker in MARKER.finditer(text))
    for module, places in _modules(text).items():
        if len(places) == 1:
            continue
        first, second, *_ = places
        if first.resolve() == second.resolve() in listed and len(listed) > 1:  # another file includes it
            return one_text(
                [path for path in files if path.resolve() != first.resolve()], around, define, opened
            )
        names = (first.name, second.name) if first.name != second.name else (str(first), str(second))
        raise BadInput(
            f"module {module} is defined twice, in {names[0]} and in {names[1]}: "
            "leave one of the files out, or rename one of the modules"
        )
    return f"{_case_attributes(MARKER.sub(_short_marker, text))}{_memories(text, around, opened)}"


def _memories(text: str, folders: Sequence[Path], opened: set[Path] | None) -> str:
    """Macros with the digests of the files that $readmemh and $readmemb read, so that the text, which
    identifies the hardware, changes with them.
    """
    macros: list[str] = []
    for name in dict.fromkeys(READ_MEMORY.findall(text)):
        found = (path for folder in (Path(), *folders) if (path := folder / name).is_file())
        if (path := next(found, None)) is not None:
            if opened is not None:
                opened.add(path.absolute())
            macros.append(f'`define MEMORY_{len(macros)} "{path.name} {cache.file_digest(path)}"\n')
    return "".join(macros)


def _preprocessed(files: Sequence[Path], include: Sequence[Path], define: Sequence[str], *more: str) -> str:
    """The output of Verilator's preprocessor for synthesis; its `line directives have absolute paths.

    With comments the output is not valid Verilog: a comment in a macro hides the text after the macro's use.
    """
    arguments = ["-E", "-Wno-fatal", "--relative-includes", "-UVERILATOR", "-DSYNTHESIS=1", *more]
    arguments += [f"-D{macro}" for macro in define]
    arguments += [f"-I{directory.absolute()}" for directory in dict.fromkeys(include)]
    try:
        return toolchain.preprocess([*arguments, *map(str, files)])
    except toolchain.ToolError as error:
        raise BadInput(_refusal(str(error))) from None


def _refusal(message: str) -> str:
    """The preprocessor's first error as one line."""
    error = ERROR.search(message)
    if error is None:
        return f"the Verilog cannot be preprocessed: {message}"
    place = f"{Path(error['file']).name}:{error['line']}" if error["file"] else "the Verilog"
    if missing := re.search(r"Cannot find include file: '?([^'\n]+)'?", error["text"]):
        remedy = "put it next to that file, or give --include DIRECTORY"
        return f"{place} includes {missing[1]}, which does not exist: {remedy}"
    return f"{place}: {error['text']}"


def _modules(text: str) -> dict[str, list[Path]]:
    """The files that define each module."""
    found = defaultdict(list)
    path = Path()
    for match in MODULE.finditer(text):
        if match["path"]:
            path = Path(match["path"])
        elif match["module"]:
            found[match["module"]].append(path)
    return found


@dataclass
class _PragmaLine:
    """A line of preprocessed text with pragmas in comments."""

    path: str
    number: int
    cases: str = ""  # case pragmas, in Verilator's form
    # code without comments, split where translation is switched "on" or "off"
    pieces: list[str] = field(default_factory=lambda: [""])
    switches: list[str] = field(default_factory=list)
    whole: bool = True  # no comment continues on the next line


def _with_pragmas(text: str, commented: Callable[[], str]) -> str:
    """Apply the pragmas in active comments; `commented` returns the same text with its comments.

    Code between `// synopsys translate_off` and `translate_on` in the same file becomes blank. The
    preprocessor keeps full_case comments of some tools; those of other tools are converted to the same form.
    """
    paths = {Path(marker["path"]) for marker in MARKER.finditer(text)}
    if not any(PRAGMA.search(path.read_text(errors="replace")) for path in paths if path.is_file()):
        return text
    pragmas = _pragma_lines(commented())
    pragma = next(pragmas, None)
    off: dict[str, int] = {}  # the line of an open translate_off, by file
    lines, path, number = text.split("\n"), "", 0
    for index, line in enumerate(lines):
        if marker := MARKER.fullmatch(line):
            path, number = marker["path"], int(marker["line"])
            continue
        skipped = bool(off)
        if pragma is not None and (pragma.path, pragma.number) == (path, number):
            line = _switched(line, pragma, off)
            if pragma.cases and not CASE_COMMENTS.search(line) and not skipped:
                line = line.rstrip() + pragma.cases
            lines[index] = line
            pragma = next(pragmas, None)
        elif skipped:
            lines[index] = ""
        number += 1
    if pragma is not None:
        raise _misplaced(pragma.path, pragma.number)
    for path, number in off.items():
        raise BadInput(
            f"{_place(path, number)}: translate_off without translate_on: add translate_on to the same file"
        )
    return "\n".join(lines)


def _switched(line: str, pragma: _PragmaLine, off: dict[str, int]) -> str:
    """The part of a line that synthesis reads; updates `off`."""
    kept = [] if off else [pragma.pieces[0]]
    skipped = bool(off)
    for switch, piece in zip(pragma.switches, pragma.pieces[1:], strict=True):
        if switch == "off":
            off.setdefault(pragma.path, pragma.number)
        else:
            off.pop(pragma.path, None)
        skipped = skipped or (bool(off) and bool(piece.strip()))
        kept += [] if off else [piece]
    return " ".join(kept) if skipped and pragma.whole else line


def _pragma_lines(text: str) -> Iterator[_PragmaLine]:
    """The lines of preprocessed text with pragmas in their comments, in order."""
    path, number, end = "", 0, 0
    line = _PragmaLine(path, number)
    for token in TOKEN.finditer(text + "\n"):
        line.pieces[-1] += text[end : token.start()]
        end = token.end()
        if comment := token["comment"]:
            if _hides_pragma(comment, path, number):
                raise _misplaced(path, number)
            pragma = PRAGMA.match(comment)
            if pragma and (switch := TRANSLATE.search(pragma[1])):
                line.switches.append(switch[1])
                line.pieces.append("")
            elif pragma:
                names = re.findall(r"\b(?:full|parallel)_case\b", pragma[1])
                line.cases += "".join(f"/*verilator {name}*/" for name in names)
            elif VERILATOR.match(comment):
                line.pieces[-1] += comment
            else:
                line.pieces[-1] += " "
            line.whole = line.whole and "\n" not in comment
            number += comment.count("\n")
        elif token["end"]:
            if line.switches or line.cases:
                yield line
            number += 1
            line = _PragmaLine(path, number)
        elif marker := MARKER.fullmatch(token[0]):
            path, number = marker["path"], int(marker["line"]) - 1
        else:
            line.pieces[-1] += token[0]


def _hides_pragma(comment: str, path: str, number: int) -> bool:
    """Whether a comment comes from a macro and seems to contain a pragma that follows the macro's use."""
    if not comment.startswith("//") or not PRAGMA.search(comment, 2) or not Path(path).is_file():
        return False
    lines = Path(path).read_text(errors="replace").split("\n")
    return not 0 < number <= len(lines) or comment.rstrip() not in lines[number - 1]


def _misplaced(path: str, number: int) -> BadInput:
    return BadInput(
        f"{_place(path, number)}: this pragma cannot be told from a macro: move it to a line of its own"
    )


def _place(path: str, number: int) -> str:
    return f"{Path(path).name}:{number}"


def _short_marker(marker: re.Match[str]) -> str:
    """A `line directive with the file name only, so that the text does not depend on the files' folder."""
    return f'`line {marker["line"]} "{Path(marker["path"]).name}" {marker["level"]}'


def _case_attributes(text: str) -> str:
    """Turn full_case and parallel_case comments, in Verilator's form, into attributes of the case
    statement.
    """
    pieces, end = [], 0
    for comments in CASE_COMMENTS.finditer(text):
        head = text[end : comments.start()]
        place, depth = len(head.rstrip()), 0
        while place and (depth or head[place - 1] == ")"):
            place -= 1
            depth += {")": 1, "(": -1}.get(head[place], 0)
        if case := CASE_KEYWORD.search(head, 0, place):
            names = ", ".join(dict.fromkeys(re.findall(r"\w+_case", comments[0])))
            head = f"{head[: case.start()]}(* {names} *) {head[case.start() :]}"
        pieces.append(head)
        end = comments.end()
    return "".join([*pieces, text[end:]])
