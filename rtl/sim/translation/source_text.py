"""Update blocks with their place in the Python source, and modules in the text."""

import re
from types import FunctionType

MODULE = re.compile(r"^module (\w+)\b.*?^endmodule$", re.DOTALL | re.MULTILINE)


class Block(list[str]):
    """The Verilog lines of an update block."""

    def __init__(self, function: FunctionType, lines: list[str]) -> None:
        super().__init__(lines)
        code = function.__code__
        self.place = code.co_filename, code.co_firstlineno
