"""The ports of a module, read from its Verilog text."""

import re


def port_lines(text, top):
    """The declarations of the ports of a module, without comments."""
    match = re.search(rf"^module {top}\b\s*\(?(.*?)\);", text, re.MULTILINE | re.DOTALL)
    code = (line.partition("//")[0] for line in match[1].splitlines())
    lines = (" ".join(line.strip(" ,(").split()) for line in code)
    return [line for line in lines if line]


def port_row(declaration):
    """Name, direction and bits of a port of bits, as a data sheet has them."""
    direction, *_, name = declaration.split()
    width = re.search(r"\[(\d+):0\]", declaration)
    return f"`{name}`", direction, str(int(width[1]) + 1) if width else "1"
