"""One text for all widths of a machine whose structure does not depend on its width, by a parameter NBITS."""

import itertools
import re
from collections.abc import Mapping

from .parameters import WHOLE_FIRST, template, with_expressions
from .portable import with_plain_zeros
from .source_text import line_pattern, words_in
from .verilog_format import layout

_MODULE = line_pattern(r"^module (\w+) (?:#\(\n(.*?)\n\) )?\(\n(.*?)\n\);\n(.*?)^endmodule$", re.DOTALL)
_PARAMETER = line_pattern(r"^  parameter .*$")
_ENUM = line_pattern(r"^typedef enum (logic.*) \{\n[^}]*\} (\w+);$")
_STRUCT = line_pattern(r"^typedef struct packed \{\n(.*?)^\} (\w+);\n\n?", re.DOTALL)

_LONG_COMMENT = line_pattern(r"^(?=.{101})( *)(\S.*?) +(// .*)$")
_LONG_HEAD = line_pattern(r"^(?=.{101})(// .*); (?=\w+ = )")
_WIDTH = "NBITS"
_PLAIN = line_pattern(r"(?:[;,]|\n//) nbits = NBITS$|, nbits = NBITS(?=,)|(?<=[/;] )nbits = NBITS, ")

# Icarus 11 has no $fatal outside of blocks; it stops at a module that does not exist
CHECK = """\
  if (NBITS < {least}{multiple}) begin : gen_check_width
`ifdef __ICARUS__
    NBITS_must_be_{word} stop ();
`else
    $fatal(1, "NBITS must be {rule}");
`endif
  end

"""


def of_any_width(texts: Mapping[int, str], name: str, step: int = 1, least: int = 1) -> str | None:
    """One text for those that differ by the width alone; None if they differ by more.

    texts: by width, the default first; name: of the top module; step, least: of the widths, which is checked
    at elaboration. Structs with fields of that width are declared in the modules that use them; the ports of
    these modules are vectors.
    """
    alike = [re.sub(rf"\b{_WIDTH}\b", "OWN_NBITS", _named_alike(text)) for text in texts.values()]
    if len({template(text) for text in alike}) > 1:
        return None
    defaults = itertools.cycle(_PARAMETER.findall(alike[0]))
    alike = [_PARAMETER.sub(lambda _: next(defaults), text) for text in alike]
    text = with_expressions(alike, {_WIDTH: [*texts]}, set(), WHOLE_FIRST)
    if text is None:
        return None
    structs = {kind: fields for fields, kind in _STRUCT.findall(text) if _WIDTH in fields}
    enums = {kind: nbits for nbits, kind in _ENUM.findall(text)}
    text = _STRUCT.sub(lambda struct: "" if struct[2] in structs else struct[0], text)
    words = {module[1]: words_in(re.sub("//.*", "", module[0])) for module in _MODULE.finditer(text)}
    wide = {_WIDTH, *structs}
    while more := {module for module, used in words.items() if used.keys() & wide} - wide:
        wide |= more
    if name not in wide:
        return None
    instance = line_pattern(rf"^( +)({'|'.join(wide & words.keys())}) (#\()?")
    rule = f"a multiple of {step}, and at least {least}" if step > 1 else f"at least {least}"
    multiple = f" || NBITS % {step} != 0" if step > 1 else ""
    check = CHECK.format(least=least, multiple=multiple, rule=rule, word=re.sub(r"\W+", "_", rule))

    def with_width(module: re.Match[str]) -> str:
        module_name, own, ports, body = module.groups()
        if module_name not in wide:
            return module[0]
        types = ""
        for kind in filter(words[module_name].__contains__, structs):
            types += f"  typedef struct packed {{\n{structs[kind].replace('  ', '    ')}  }} {kind};\n\n"
            for direction, port in line_pattern(rf"^  (input|output) +{kind} (\w+)").findall(ports):
                fields = f"{port}_fields"
                body = re.sub(rf"(?<![.\w]){port}\b", fields, body)
                left, right = (fields, port) if direction == "input" else (port, fields)
                types = types[:-1] + f"  {kind} {fields};\n  assign {left} = {right};\n\n"
            ports = re.sub(rf"\b{kind}\b", f"logic [{_top_bit(structs[kind], enums)}:0]", ports)
        body = instance.sub(
            lambda made: f"{made[1]}{made[2]} #(.NBITS(NBITS){', ' if made[3] else ') '}", body
        )
        parameters = ",\n".join(filter(None, [f"  parameter int NBITS = {next(iter(texts))}", own]))
        if module_name == name:
            parameters, types = f"  // {rule}\n{parameters}", check + types
        return f"module {module_name} #(\n{parameters}\n) (\n{ports}\n);\n{types}{body}endmodule"

    text = layout(with_plain_zeros(_MODULE.sub(with_width, text)))
    text = _LONG_HEAD.sub(r"\1\n// ", _PLAIN.sub("", text))
    return _LONG_COMMENT.sub(r"\1\3\n\1\2", text)


def _top_bit(fields: str, enums: Mapping[str, str]) -> str:
    """The highest index of a vector with these fields."""
    fields = re.sub(r"\w+_e\b", lambda kind: enums.get(kind[0], kind[0]), fields)
    wide, more = 0, len(re.findall(r"logic \w+;", fields)) - 1
    for factor, nbits, offset in re.findall(rf"\[(?:(\d+) \* )?({_WIDTH})?(.*?):0\]", fields):
        wide += int(factor or 1) * bool(nbits)
        more += int(offset.replace(" ", "") or 0) + 1
    return f"{f'{wide} * ' if wide > 1 else ''}NBITS {'-' if more < 0 else '+'} {abs(more)}"


def _named_alike(text: str) -> str:
    """The text with no width in the name of a type, and comments right behind their lines."""
    text = re.sub(r"(?<=\S) +(?=// )", "  ", text)
    types = line_pattern(r"^\} (\w+?)((?:_\d+)+)_t;$").findall(text)
    for name, widths in types:
        if sum(name == other for other, _ in types) == 1:
            text = re.sub(rf"\b{name}{widths}_t\b", f"{name}_t", text)
    return text
