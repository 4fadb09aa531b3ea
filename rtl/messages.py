"""Streams of units, and the message types of their ports, one cached factory per kind.

Fields are named for what they mean, not for the unit that sends them; the first field is the most
significant one in the packed port.
"""

from functools import cache
from itertools import pairwise

from pymtl3 import InPort, Interface, clog2, connect, mk_bits, mk_bitstruct
from pymtl3.stdlib.mem import mk_mem_req_msg, mk_mem_resp_msg
from pymtl3.stdlib.stream.ifcs import MasterIfcRTL, RecvIfcRTL, SendIfcRTL

from ..fl.memory import ADDRESS_NBITS, OPAQUE_NBITS
from ..fl.mod_exp import is_exponentiation
from ..fl.pkcs1 import nbytes_of
from ..fl.status import STATUS_NBITS


def declare_streams(s, Request, Response):
    """The two streams of a unit: istream takes requests, ostream sends responses."""
    s.istream = RecvIfcRTL(Request)
    s.ostream = SendIfcRTL(Response)


@cache
def mk_memory_request(nbits):
    """PyMTL3's memory request {type_, opaque, addr, len, data} for words of `nbits`; len 0: a whole word."""
    return mk_mem_req_msg(OPAQUE_NBITS, ADDRESS_NBITS, nbits)


@cache
def mk_memory_response(nbits):
    """PyMTL3's answer {type_, opaque, test, len, data}."""
    return mk_mem_resp_msg(OPAQUE_NBITS, nbits)


def declare_memory(s, memory):
    """The memory ports (fl/memory.py) of a component, by their names; returns them."""
    messages = [(mk_memory_request(port.nbits), mk_memory_response(port.nbits)) for port in memory]
    return declare(s, {port.name: MasterIfcRTL(*pair) for port, pair in zip(memory, messages, strict=True)})


def memory_ports(s, memory):
    """The memory ports (fl/memory.py) of a component that has them."""
    return [*fields_of(s, [(port.name, port.nbits) for port in memory]).values()]


def pass_memory(s, inner, memory):
    """Memory ports of a wrapper, connected to those of the accelerator in it."""
    within = memory_ports(inner, memory)
    outer = {
        port.name: MasterIfcRTL(own.ReqType, own.RespType) for port, own in zip(memory, within, strict=True)
    }
    for one, other in zip(declare(s, outer), within, strict=True):
        connect(one, other)


def answer_stays(s, modulus=""):
    """Assert that an answer stays as it is until it is taken, and that a result is below the modulus."""
    s.assertions = {"AnswerStays": ("ostream__val && !ostream__rdy", "{ostream__val, ostream__msg}")}
    if modulus:
        valid = "ostream__val && ostream__msg.status == 0"
        s.assertions |= {"ResultBelowModulus": f"!({valid}) || ostream__msg.result < {modulus}"}


def connect_in_series(s, *units):
    """The streams of a machine whose units hand operations on, and their answers out."""
    s.istream //= units[0].istream
    for unit, following in pairwise(units):
        unit.ostream //= following.istream
    s.ostream //= units[-1].ostream


def trace_conversions(s):
    """The line trace of a machine between two converters."""
    return "  ".join(part.line_trace() for part in (s.convert_in, s.mod_exp, s.convert_out))


class HandshakeIfc(Interface):
    """val and rdy of a stream whose message goes another way."""

    def construct(s, Val, Rdy):
        s.val = Val()
        s.rdy = Rdy()


def connect_handshake(one, other):
    """Two ends of a stream whose messages differ."""
    one.val //= other.val
    one.rdy //= other.rdy


def fields_of(bundle, fields):
    """The fields ((name, nbits), ...) of a message or an interface, by name, where a design chooses them."""
    return {name: getattr(bundle, name) for name, _ in fields}


def declare(s, ports):
    """Ports by names that a design chooses; returns them."""
    for name, port in ports.items():
        setattr(s, name, port)
    return [*ports.values()]


def connect_fields(one, other, *names):
    """Connect fields, or ports, of the same names."""
    for name in names:
        connect(getattr(one, name), getattr(other, name))


@cache
def mk_message(name, fields):
    """A message of any fields, ((name, nbits), ...), the most significant first."""
    return mk_bitstruct(name, {field: mk_bits(nbits) for field, nbits in fields})


def _message(name, **fields):
    """The same, with the bits of each field."""
    return mk_message(name, tuple(fields.items()))


def mk_product_req(nbits):
    """{a, b}: the factors of one modular product."""
    return _message(f"ProductReq_{nbits}", a=nbits, b=nbits)


def declare_product_ports(s, nbits):
    """The ports of a product unit: {a, b} at istream, the product at ostream, and the static modulus."""
    declare_streams(s, mk_product_req(nbits), mk_bits(nbits))
    s.modulus = InPort(nbits)


def mk_div_req(nbits, dbits):
    """{dividend, divisor}."""
    return _message(f"DivReq_{nbits}_{dbits}", dividend=nbits, divisor=dbits)


def mk_div_resp(nbits, dbits):
    """{quotient, remainder}."""
    return _message(f"DivResp_{nbits}_{dbits}", quotient=nbits, remainder=dbits)


def mk_modexp_req(nbits):
    """{base, exp, mod}: one modular exponentiation."""
    return _message(f"ModExpReq_{nbits}", base=nbits, exp=nbits, mod=nbits)


def mk_keyed_req(nbits, given):
    """{base, exp, mod, ...}: an exponentiation that comes with numbers made from the modulus once; `given`:
    their names and bits.
    """
    return _message(f"KeyedReq_{nbits}", base=nbits, exp=nbits, mod=nbits, **dict(given))


def mk_modexp_resp(nbits):
    """{status, result}: `modexlab.fl.status` names the codes."""
    return _message(f"ModExpResp_{nbits}", status=STATUS_NBITS, result=nbits)


def mk_entered_req(nbits):
    """{status, one, base, exp, mod}: an exponentiation whose 1 and base are in the domain of the
    multiplier.
    """
    return _message(f"EnteredReq_{nbits}", status=STATUS_NBITS, one=nbits, base=nbits, exp=nbits, mod=nbits)


def mk_entered_resp(nbits):
    """{status, result, mod}: a result still in the domain, with the modulus that takes it out."""
    return _message(f"EnteredResp_{nbits}", status=STATUS_NBITS, result=nbits, mod=nbits)


def mk_xcel_req():
    """{write, addr, data}: one access of the processor to an accelerator register."""
    return _message("XcelReq", write=1, addr=5, data=32)


def mk_xcel_resp():
    """{write, data}: the answer to one access; data is 0 for a write."""
    return _message("XcelResp", write=1, data=32)


def mk_bus_req(address_nbits=12):
    """{write, wait_for_irq, address, data, strobes}: one access to the registers of a bus, or a wait for the
    interrupt.
    """
    name = "BusReq" if address_nbits == 12 else f"BusReq_{address_nbits}"
    return _message(name, write=1, wait_for_irq=1, address=address_nbits, data=32, strobes=4)


def mk_bus_resp():
    """{write, data, fault}: the answer; data is 0 for a write, fault says that it was refused."""
    return _message("BusResp", write=1, data=32, fault=1)


def _length_nbits(nbits):
    """Bits of a number of bytes of an encoding."""
    return clog2(nbytes_of(nbits))


def mk_pad_req(nbits):
    """{sign, length, message}: a message of so many bytes, to be padded for a signature or for encryption."""
    return _message(f"PadReq_{nbits}", sign=1, length=_length_nbits(nbits), message=nbits)


def mk_pad_resp(nbits):
    """{status, em}: `modexlab.fl.pkcs1.Padded` names the codes; em is the encoding."""
    return _message(f"PadResp_{nbits}", status=2, em=nbits)


def mk_unpad_req(nbits, implicit=False):
    """{sign, em}: an encoding; implicit: {sign, length, fallback, em}, with what takes the place of a wrong
    one.
    """
    if not implicit:
        return _message(f"UnpadReq_{nbits}", sign=1, em=nbits)
    return _message(
        f"UnpadImplicitReq_{nbits}", sign=1, length=_length_nbits(nbits), fallback=nbits, em=nbits
    )


def mk_unpad_resp(nbits):
    """{good, length, message}: the message of so many bytes, if the encoding is good."""
    return _message(f"UnpadResp_{nbits}", good=1, length=_length_nbits(nbits), message=nbits)


def mk_request(shape):
    """The request of an accelerator; that of an exponentiation keeps its name."""
    if not is_exponentiation(shape):
        return mk_message(f"Request_{sum(nbits for _, nbits in shape.request)}", shape.request)
    given = shape.request[3:]
    return mk_keyed_req(shape.widest, given) if given else mk_modexp_req(shape.widest)
