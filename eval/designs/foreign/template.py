"""Templates: manifests to begin with, one for each protocol, with a comment beside what has to be looked at."""

from __future__ import annotations

from .manifest import PROTOCOLS

HEAD = """\
# A manifest: a core as a design of modexlab. `modexlab design check design.toml` says what is wrong in it, and runs the table of
# corners; `modexlab design --help` has all keys.
name = "mine"                       # what tables call it
title = "a core of mine"
origin = ""                         # release, author, licence
files = ["rtl/modexp.v"]            # relative to this file; patterns (rtl/*.v) are possible
top = "modexp"                      # the module
protocol = "{protocol}"
# nbits = [512, 1024]               # widths that it exists at; left out: any
# timeout = 10000000                # cycles after which an operation is given up
{words}
[parameters]                        # of the module, as expressions of nbits
WIDTH = "nbits"

[clock]
port = "clk"                        # edge = "falling" where it works on that

[reset]                             # drop the table if there is none
port = "rst_n"
active = "low"
kind = "asynchronous"

[limits]                            # what it takes; nothing else is asked of it
odd_modulus = true
reduced_base = true
least_exponent = 0

# [prepare]                         # numbers that software makes for it
# r2 = "2 ** (2 * nbits) % mod"
# m_prime = {{value = "-inverse(mod, 2 ** w) % 2 ** w", nbits = "w"}}

"""

WORDS = """\
word_nbits = 32                     # of a word (w in expressions)
order = "least"                     # which word comes first, least or most significant
"""

BODY = {
    "start-done": """\
[ports]                             # inputs that are held during an operation: operands, lengths, constants
base = "base"
exponent = "exp"
modulus = "mod"
# exponent_length = "bits(exp)"
# test_mode = 0

[start_done]
start = "start"                     # a pulse of 1 ("!start_n": of 0); level = true: it stays until done
done = "done"                       # or "!busy"; done_falls = true where it is high until a start takes it away
result = "result"                   # read when done holds
# before = "ready"                  # holds before a start
""",
    "stream": """\
[[stream.send]]                     # several of these are offered side by side
valid = "in_valid"
ready = "in_ready"
ports = {in_base = "base", in_exp = "exp", in_mod = "mod"}   # or {in_data = ["base", "exp", "mod"]}: side by side
# each = "base"                     # word by word: ports = {tdata = "word", tlast = "last"}

[stream.receive]
valid = "out_valid"
ready = "out_ready"
take = "out_data"                   # or some bits of it: "out_data[31:0]"
""",
    "words": """\
[words]                             # ports of the bus, those that there are ("!cs_n" is active low)
select = "cs"
write_enable = "we"
address = "address"
write_data = "write_data"
read_data = "read_data"
read_latency = 0                    # cycles until read_data follows the address

[[step]]
write = 0x10                        # the words of the modulus to 0x10, 0x11, ...; stride = 0: all to one address
each = "mod"
stride = 1
[[step]]
write = 0x30
each = "exp"
stride = 1
[[step]]
write = 0x50
each = "base"
stride = 1
[[step]]
write = 0x08
value = 1
mark = "start"
[[step]]
poll = 0x09
mask = 1
equals = 1
mark = "done"
[[step]]
read = 0x70
each = "result"
stride = 1
""",
    "axi4lite": """\
[axi4lite]
prefix = "s_axi_"                   # of the ports: s_axi_awaddr, ...; capitals do not matter

[[step]]
write = 0x100                       # addresses are of bytes
each = "mod"
stride = 4
[[step]]
write = 0x200
each = "exp"
stride = 4
[[step]]
write = 0x300
each = "base"
stride = 4
[[step]]
write = 0x00
value = 1
mark = "start"
[[step]]
poll = 0x04
mask = 1
equals = 1
mark = "done"
[[step]]
read = 0x400
each = "result"
stride = 4
""",
    "steps": """\
[[step]]                            # word by word, with a strobe and the number of the word
each = "mod"
pulse = {load_modulus = 1, index = "index", data_in = "word"}
[[step]]
each = "exp"
pulse = {load_exponent = 1, index = "index", data_in = "word"}
[[step]]
each = "base"
pulse = {load_base = 1, index = "index", data_in = "word"}
[[step]]
pulse = "start"
mark = "start"
[[step]]
wait = "done"
mark = "done"
[[step]]                            # a memory that answers a cycle after its address
each = "result"
step = [{set = {read_index = "index"}}, {take = "data_out"}]
""",
}


def template(protocol: str) -> str:
    """A manifest for a protocol."""
    assert protocol in PROTOCOLS
    words = WORDS if protocol in ("words", "axi4lite", "steps") else ""
    return HEAD.format(protocol=protocol, words=words) + BODY[protocol]
