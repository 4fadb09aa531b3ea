"""Formats the Verilog text of one module that PyMTL3 wrote.

Each function takes the text of a module and returns it with the same meaning. They rely on the form in which
PyMTL3 3.1.17 writes declarations, instances and assignments, one to a line.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

_NOISE: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"^ *//.*\n", ""),  # banners and paths
    (r"(?<=[\[:])\d+'d(\d+)(?=[\]:])", r"\1"),  # x[5'd31:5'd0]
    (r"(\d')\( (\w+) \)", r"\1(\2)"),
    (r"^  (input|output) +", lambda match: f"  {match[1]:6} "),
    (r" +(?=[,\n])", ""),
    (r"\n\n+", "\n\n"),
    (r"\n\n+(?=endmodule)", "\n"),
    (r"\A\n+|\n+\Z", ""),
]


def tidy(text: str) -> str:
    """Everything that concerns the module alone."""
    for pattern, replacement in _NOISE:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return _constants(_blocks(_temporaries(_scalars(text))))


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def _scalars(text: str) -> str:
    """`logic [0:0] x` becomes `logic x`, unless x is indexed somewhere."""
    indexed = set(re.findall(r"(\w+)\[", text))
    return re.sub(
        r"logic \[0:0\] (\w+)(?=[,;\n])",
        lambda match: match[0] if match[1] in indexed else f"logic {match[1]}",
        text,
    )


def _temporaries(text: str) -> str:
    """`__tmpvar__block_name` becomes `block_name`, unless that is taken."""
    words = _words(text)
    return re.sub(r"\b__tmpvar__(\w+)", lambda match: match[0] if match[1] in words else match[1], text)


def _blocks(text: str) -> str:
    """An update block called like a signal gets another name: Python tells them apart, Verilog does not."""
    words = _words(text)
    return re.sub(
        r"begin : (\w+)$",
        lambda match: match[0] if words[match[1]] == 1 else f"{match[0]}_block",
        text,
        flags=re.MULTILINE,
    )


def _constants(text: str) -> str:
    """Constants under their Python names, declared once, and only where they are used.

    PyMTL3 calls them `__const__N`, and declares those of a closure for every block, as `__const__N_at_block`.
    """
    declaration = re.compile(r"^ *localparam (.*)\b__const__((\w+?)(?:_at_\w+)?) +(=.*;)\n", re.MULTILINE)
    declared = declaration.findall(text)
    body = declaration.sub("", text)
    words = _words(body)
    names = {}
    lines = []
    for kind, long, short, value in declared:
        meanings = {(item[0], item[3]) for item in declared if item[2] == short}
        names[long] = short if len(meanings) == 1 and short not in words else long
        line = f"  localparam {kind}{names[long]} {value}\n"
        if f"__const__{long}" in words and line not in lines:
            lines.append(line)
    body = re.sub(r"\b__const__(\w+)", lambda match: names.get(match[1], match[0]), body)
    return body.replace(");\n", ");\n" + "".join(lines), 1)  # after the list of ports


def order_ports(text: str, attributes: Sequence[str]) -> str:
    """Ports in the order of a reader: clock and reset, the streams, then as the source (`attributes`) has
    them.
    """
    ranks = {name: rank for rank, name in enumerate(attributes)}

    def key(line: str) -> tuple[int, int]:
        found = re.search(r"(\w+)(?: \[[^ ]*)?$", line)
        assert found is not None, line
        name = found[1]
        for place, start in enumerate((r"clk\b", r"reset\b", "istream", "ostream")):
            if re.match(start, name):
                return place, 0
        while name not in ranks and "__" in name:
            name = name.rpartition("__")[0]
        return 4, ranks.get(name, len(ranks))

    def ordered(match: re.Match[str]) -> str:
        return match[1] + ",\n".join(sorted(match[2].split(",\n"), key=key)) + match[3]

    return re.sub(r"(^module \w+\n\(\n)(.*?)(\n\);)", ordered, text, count=1, flags=re.DOTALL | re.MULTILINE)


def drop_unused(text: str) -> tuple[str, list[str]]:
    """Without clk and reset, if it does not use them; PyMTL3 gives them to every module. Which ones they
    were.
    """
    words = _words(text)
    dropped = [port for port in ("clk", "reset") if words[port] == 1]
    for port in dropped:
        text = re.sub(rf"^  input .* {port},?\n", "", text, flags=re.MULTILINE)
    return text.replace(",\n);", "\n);"), dropped
