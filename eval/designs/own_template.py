"""The files that `modexlab new accelerator` writes: a small accelerator at three levels with a table and a
test.
"""

import keyword
import re
from pathlib import Path

from pymtl3.passes.backends.verilog.util.utility import verilog_reserved

from ...fl.accelerator import MAX_NBITS, STATUS, WORD_NBITS, Fields, Shape
from ...fl.errors import BadInput
from ...fl.xcel import words_of
from ...proc.software.call_header import identifier, in_c, returns_result
from .own import FILE, NAME

MEMORY_EXAMPLE = Path(__file__).parents[1] / "examples" / "vvadd"
ENTRY = '''\
"""{label}: replace this line with a description."""

from modexlab import Accelerator, Row, Shape

from .rtl import {kind}RTL


class {kind}(Accelerator):
    name = "{name}"
    summary = "the sum of all fields, until you replace it"
    usual_nbits = {nbits}

    @property
    def shape(self):
        """The fields of a request and of its response, with their bits."""
        return Shape({request}, {response})

    def fl(self, {fields}):
        """The function."""
        total = {total}
        return {results}

    def cycles(self, {fields}):
        """Cycles from request to response; the cycle-level model uses this number."""
        return 2

    def rtl(self):
        return {kind}RTL(self.nbits)

    def rows(self):
        """The table: named requests, with delays of source and sink in cycles."""
        return [
            Row("small numbers", ({small},)),
            Row("slow source", ({small},), source_delay=3),
            Row("slow sink", ({small},), sink_delay=4),
            *super().rows(),  # zeros, ones and random numbers
        ]

    def workloads(self):
        """Lists of requests by name; each list is measured as one operation."""
        return {{"typical": [({small},)]}}
'''

RTL = '''\
"""{kind}RTL: registers for the fields, and a state machine.

Ports: istream {{{fields}}} -> ostream {{{outputs}}}. Cycles: 2.
"""

from modexlab.rtl.messages import mk_message
from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


class {kind}RTL(Component):
    def construct(s, nbits):
        s.istream = RecvIfcRTL(mk_message(f"{kind}Request_{{nbits}}", {request}))
        s.ostream = SendIfcRTL(mk_message(f"{kind}Response_{{nbits}}", {response}))
        IDLE, CALC, DONE = (b2(i) for i in range(3))

        s.state = Wire(2)
        s.total = Wire(nbits)
{registers}
{outputs_connected}

        @update
        def handshakes():
            s.istream.rdy @= s.state == IDLE
            s.ostream.val @= s.state == DONE

        @update_ff
        def control():
            if s.reset:
                s.state <<= IDLE
            elif s.state == IDLE:
                if s.istream.val:
                    s.state <<= CALC
            elif s.state == CALC:
                s.state <<= DONE
            elif s.ostream.rdy:
                s.state <<= IDLE

        @update_ff
        def datapath():
            if s.state == IDLE:
{loads}
            elif s.state == CALC:
                s.total <<= {sum}

    def line_trace(s):
        return f"{{s.istream}}({{s.state}}){{s.ostream}}"
'''

TEST = '''\
"""The table at all levels: `pytest` in this folder."""

from pathlib import Path

import modexlab
import pytest

ACCELERATOR = modexlab.accelerator(Path(__file__).parent)


@pytest.mark.parametrize("nbits", [{nbits}])
def test_levels(nbits):
    assert modexlab.check_levels(ACCELERATOR.at(nbits))
'''


PROGRAM = """\
// {label} called by a program on the processor: modexlab proc {identifier}.c --accelerator .

#include "{identifier}.h"

int main(void) {{
{body}
}}
"""


def files(name: str, request: Fields, response: Fields) -> dict[str, str]:
    """File contents by name; BadInput for names that are invalid in Python or Verilog."""
    _check_name(name)
    _check_fields(request, response)
    if response[0][0] == STATUS:
        raise BadInput(f"result {STATUS!r}: add it to the shape by hand, with the codes in `statuses`")
    nbits = max(nbits for _, nbits in (*request, *response))

    def width(field_nbits, parameter):
        return parameter if field_nbits == nbits else str(field_nbits)

    def fields(message, parameter):
        pairs = [f'("{name}", {width(wide, parameter)})' for name, wide in message]
        return f"({', '.join(pairs)},)"

    def resized(signal, wide, to):
        if wide == to:
            return signal
        return f"{'zext' if wide < to else 'trunc'}({signal}, {width(to, 'nbits')})"

    names = [field for field, _ in request]
    results = [f"total % (1 << {width(wide, 'self.nbits')})" for _, wide in response]
    values = {
        "name": name,
        "label": name.upper(),
        "kind": _kind(name),
        "nbits": nbits,
        "total": " + ".join(names),
        "results": ", ".join(results),
        "small": ", ".join("1" for _ in names),
        "fields": ", ".join(names),
        "outputs": ", ".join(field for field, _ in response),
        "registers": "\n".join(
            f"        s.{field} = Wire({width(wide, 'nbits')})" for field, wide in request
        ),
        "outputs_connected": "\n".join(
            f"        s.ostream.msg.{field} //= s.total" + ("" if wide == nbits else f"[0:{wide}]")
            for field, wide in response
        ),
        "loads": "\n".join(f"                s.{field} <<= s.istream.msg.{field}" for field in names),
        "sum": " + ".join(resized(f"s.{field}", wide, nbits) for field, wide in request),
    }
    entry, rtl = (
        template.format(**values, request=fields(request, nbits), response=fields(response, nbits))
        for template, nbits in ((ENTRY, "self.nbits"), (RTL, "nbits"))
    )
    own = identifier(name)
    body = _call(own, in_c(Shape(request, response)))
    program = PROGRAM.format(label=values["label"], identifier=own, body=body)
    return {FILE: entry, "rtl.py": rtl, f"test_{own}.py": TEST.format(**values), f"{own}.c": program}


def memory_files(name: str) -> dict[str, str]:
    """File contents by name of an accelerator with a memory port: the example vvadd under another name."""
    _check_name(name)
    own = identifier(name)
    named = {"VVAdd": _kind(name), "VVADD": own.upper(), '"vvadd"': f'"{name}"', "vvadd": own}
    texts = {}
    for file in (FILE, "rtl.py", "test_vvadd.py", "vvadd.c"):
        text = (MEMORY_EXAMPLE / file).read_text(encoding="utf-8")
        for old, new in named.items():
            text = text.replace(old, new)
        texts[file.replace("vvadd", own)] = text
    return texts


def _kind(name: str) -> str:
    """The name of the class."""
    return re.sub("(?:^|[-_]+)(.?)", lambda first: first[1].upper(), name)


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise BadInput(f"name {name!r}: give lower-case letters, digits and dashes, such as gcd")
    if keyword.iskeyword(name) or keyword.iskeyword(name.capitalize()):
        raise BadInput(f"name {name!r}: this word is reserved in Python; take another, such as gcd")


def _call(own: str, shape: Shape) -> str:
    """C statements that call the accelerator with small numbers and return 0 if all results are their sum."""
    wide = {field: words_of(nbits) for field, nbits in (*shape.request, *shape.results) if nbits > WORD_NBITS}
    arguments = [field if field in wide else "1" for field, _ in shape.request]
    lines = [f"const uint32_t {field}[{wide[field]}] = {{1}};" for field in arguments if field in wide]
    wrong = []
    sums = {field: len(shape.request) % (1 << nbits) for field, nbits in shape.results}
    if returns_result(shape):
        expected = sums.popitem()[1]
    else:
        expected = 0
        arguments += [field if field in wide else f"&{field}" for field in sums]
    for field, total in sums.items():
        lines.append(f"uint32_t {field}{f'[{wide[field]}]' if field in wide else ''};")
        wrong.append(f"{field}{'[0]' if field in wide else ''} != {total}")
    wrong.insert(0, f"{own}_call({', '.join(arguments)}) != {expected}")
    return "\n".join(f"  {line}" for line in [*lines, f"return {' || '.join(wrong)};"])


def _check_fields(request: Fields, response: Fields) -> None:
    for option, message in (("--operand", request), ("--result", response)):
        if not message:
            raise BadInput(f"no {option}; give at least one, as in {option} a:16")
        names = [name for name, _ in message]
        for name, nbits in message:
            if not name.isidentifier() or keyword.iskeyword(name) or name in (*RESERVED, *verilog_reserved):
                raise BadInput(
                    f"{option} {name}: this word is reserved in Python, SystemVerilog or the component; "
                    "take another, such as a"
                )
            if names.count(name) > 1:
                raise BadInput(f"{option} {name} is given twice; give each field its own name")
            if not 1 <= nbits <= MAX_NBITS:
                raise BadInput(f"{option} {name}:{nbits} is not possible; give a width from 1 to {MAX_NBITS}")


# names that the component itself uses
RESERVED = ("istream", "ostream", "state", "total", "reset", "clk", "s", "self", "nbits")
