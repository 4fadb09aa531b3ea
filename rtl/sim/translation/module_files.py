"""Files of one module or package each, from the text of a whole design."""

import re

from ...verilog.assertions import MACRO, USE

_PART = re.compile(r"(?:^//[^\n]*\n)*^(module|package) (\w+)\b.*?^end\1\n", re.DOTALL | re.MULTILINE)


def module_files(text: str) -> dict[str, str]:
    """Each package and module in a file of its name, to be read in this order.

    The head of the text goes to its first module, the line of the licence to all files.
    """
    head, nettype, body = text.partition("`default_nettype none\n")
    if not nettype:
        head, body = "", text
    matches = [*_PART.finditer(body)]
    found = {match[2]: match[0] for match in matches}
    top = next((match[2] for match in matches if match[1] == "module"), "design")
    licence = "".join(re.findall(r"^// SPDX.*\n", head, re.MULTILINE))
    first = f"// Part of {top}.\n{licence}"
    found = {name: f"{MACRO}\n{part}" if USE in part else part for name, part in found.items()}
    files = {
        f"{name}.sv": f"{head.rstrip() if name == top else first.rstrip()}\n\n`default_nettype none\n\n{part}"
        "\n`default_nettype wire\n"
        for name, part in found.items()
    }
    return {name: re.sub(r"\n{3,}", "\n\n", file).lstrip() for name, file in files.items()}
