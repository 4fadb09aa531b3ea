"""Files of one module each, from the text of a whole design."""

import re

from ...verilog.assertions import MACRO, USE
from .source_text import line_pattern

_MODULE = line_pattern(r"(?:^//[^\n]*\n)*^module (\w+)\b.*?^endmodule\n", re.DOTALL)
_NETTYPE = line_pattern(r"^`default_nettype \w+\n")


def module_files(text: str) -> dict[str, str]:
    """The types in one file, then each module in a file of its name, to be read in this order.

    The head of the text goes to its first module, the line of the licence to all files.
    """
    head, nettype, body = text.partition("`default_nettype none\n")
    if not nettype:
        head, body = "", text
    found = {match[1]: match[0] for match in _MODULE.finditer(body)}
    top = next(iter(found), "design")
    licence = "".join(line_pattern(r"^// SPDX.*\n").findall(head))
    first = f"// Part of {top}.\n{licence}"
    types = _NETTYPE.sub("", _MODULE.sub("", body)).replace(MACRO, "").strip()
    parts = {f"{top}_types": f"{types}\n"} if types else {}
    found = {name: f"{MACRO}\n{part}" if USE in part else part for name, part in found.items()}
    files = {
        f"{name}.sv": f"{head.rstrip() if name == top else first.rstrip()}\n\n`default_nettype none\n\n{part}"
        "\n`default_nettype wire\n"
        for name, part in (parts | found).items()
    }
    return {name: re.sub(r"\n{3,}", "\n\n", file).lstrip() for name, file in files.items()}
