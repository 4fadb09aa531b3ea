"""Templates: a manifest, and a Verilog wrapper around a core without modexlab's streams."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ....fl.accelerator import STATUS
from .core import CORE, Core
from .ports import modules

TEMPLATE = """\
# A manifest: a core as a design of modexlab. `modexlab new keys` prints all keys;
# `modexlab check --manifest design.toml` checks it and runs the table of corners.
name = "mine"                       # in tables
title = "a core of mine"
origin = ""                         # release, author, licence
files = ["rtl/modexp.v"]            # relative to this file; patterns (rtl/*.v) are possible
top = "modexp"                      # the module; `modexlab new wrapper` writes one with modexlab's streams
# nbits = [512, 1024]               # widths that it exists at; left out: any
# timeout = 10000000                # cycles after which a request counts as hung

[parameters]                        # of the module, as expressions of nbits
WIDTH = "nbits"

[limits]                            # what it accepts; nothing else is sent to it
odd_modulus = true
reduced_base = true
least_exponent = 0

# [prepare]                         # numbers that software computes for each request, after the operands
# r2 = "2 ** (2 * nbits) % mod"
# m_prime = {value = "-inverse(mod, 2 ** 32) % 2 ** 32", nbits = 32}
"""

# usual names of inputs, and the signals that the skeleton connects to them
INPUTS = {
    r"(i_|ap_)?a?(clk|clock|ck)(_i)?": "clk",
    r"(i_|ap_)?a?(rst|reset)(_i)?": "reset",
    r"(i_|ap_)?a?(rst|reset)_?n(_i)?": "!reset",
    r"(i_|ap_)?(start|go|begin|ld|enable|en)(_i)?": "state == START",
}
DONE = r"(o_|ap_)?(done|ready|finished|valid|rdy)(_o)?"
RESULT = r"(o_)?(result|res|out|q|p)(_o)?"

SKELETON = """\
// {core} behind the streams of modexlab: registers hold the request while it works, and then the response.
// Complete every TODO. In the manifest: this file among `files`, and top = "{name}".
module {name}{parameters} (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy,
  input wire [{request_nbits}-1:0] istream__msg,  // {{{request}}}
  output wire ostream__val, input wire ostream__rdy,
  output wire [{response_nbits}-1:0] ostream__msg  // {{{response}}}
);
  localparam IDLE = 0, START = 1, WORK = 2, ANSWER = 3;
  reg [1:0] state;
{registers}
{wires}

{instance}

  wire finished = {finished};
  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  assign ostream__msg = {{{answer}}};
  always @(posedge clk)
    if (reset) state <= IDLE;
    else case (state)
      IDLE: if (istream__val) begin {{{request}}} <= istream__msg; state <= START; end
      START: state <= WORK;
      WORK: if (finished) begin {results} state <= ANSWER; end
      default: if (ostream__rdy) state <= IDLE;
    endcase
endmodule
"""


def wrapper(machine: Core) -> str:
    """A wrapper for the top module of a manifest, with its ports at the width of this machine."""
    manifest, of = machine.manifest, machine.manifest.of
    parameters = {name: machine.known[name] for name in of.parameters}
    module, _ = modules(manifest.verilog, of.top, parameters, CORE)
    request, response = machine.messages
    names = {value: name for name, value in parameters.items()}

    def bits(nbits):
        """The name of the parameter with this value, or the number."""
        return str(names.get(nbits, nbits))

    outputs = [name for name, port in module.ports.items() if port.direction == "OUTPUT"]
    joined = {
        name: f"c_{name}" if name in outputs else _driver(name, machine.manifest.fields)
        for name in module.ports
    }
    results = [(name, nbits) for name, nbits in response if name != STATUS]
    values = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    return SKELETON.format(
        core=of.top,
        name=f"{of.top}_wrapper",
        parameters=f" #(parameter {values})" if values else "",
        request=", ".join(name for name, _ in request),
        response=", ".join(name for name, _ in response),
        request_nbits=" + ".join(bits(nbits) for _, nbits in request),
        response_nbits=" + ".join(bits(nbits) for _, nbits in response),
        registers="\n".join(f"  reg [{bits(nbits)}-1:0] {name};" for name, nbits in (*request, *results)),
        wires="\n".join(f"  wire [{module.ports[name].nbits - 1}:0] c_{name};" for name in outputs),
        instance=replace(module, parameters={name: name for name in parameters}).instance(CORE, joined),
        finished=_output(outputs, DONE, "1 when the core has its result"),
        answer=", ".join("4'd0" if name == STATUS else name for name, _ in response),
        results=" ".join(
            f"{name} <= {_output(outputs, f'.*{name}.*|{RESULT}', name)};" for name, _ in results
        ),
    )


def _driver(port: str, fields: Sequence[str]) -> str:
    """The signal for an input, guessed from its name."""
    usual = next((signal for pattern, signal in INPUTS.items() if re.fullmatch(pattern, port.lower())), None)
    return usual or next((field for field in fields if field in port.lower()), f"0 /* TODO: {port} */")


def _output(outputs: Sequence[str], pattern: str, what: str) -> str:
    """The output whose name matches, or a TODO."""
    found = next((name for name in outputs if re.fullmatch(pattern, name.lower())), None)
    return f"c_{found}" if found else f"0 /* TODO: {what} */"
