"""Streams of units, and the message types of their ports, one cached factory per kind.

Fields are named for what they mean, not for the unit that sends them; the first field is the most
significant one in the packed port.
"""

from functools import cache
from itertools import pairwise

from pymtl3 import InPort, clog2, mk_bits, mk_bitstruct
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..fl.mod_exp import is_exponentiation
from ..fl.pkcs1 import nbytes_of
from ..fl.status import STATUS_NBITS


def declare_streams(s, Request, Response):
    """The two streams of a unit: istream takes requests, ostream sends responses."""
    s.istream = RecvIfcRTL(Request)
    s.ostream = SendIfcRTL(Response)


def connect_in_series(s, *units):
    """The streams of a machine whose units hand operations on, and their answers out."""
    s.istream //= units[0].istream
    for unit, following in pairwise(units):
        unit.ostream //= following.istream
    s.ostream //= units[-1].ostream


@cache
def mk_product_req(nbits):
    """{a, b}: the factors of one modular product."""
    word = mk_bits(nbits)
    return mk_bitstruct(f"ProductReq_{nbits}", {"a": word, "b": word})


def declare_product_ports(s, nbits):
    """The ports of a product unit: {a, b} at istream, the product at ostream, and the static modulus."""
    declare_streams(s, mk_product_req(nbits), mk_bits(nbits))
    s.modulus = InPort(nbits)


@cache
def mk_div_req(nbits, dbits):
    """{dividend, divisor}."""
    return mk_bitstruct(f"DivReq_{nbits}_{dbits}", {"dividend": mk_bits(nbits), "divisor": mk_bits(dbits)})


@cache
def mk_div_resp(nbits, dbits):
    """{quotient, remainder}."""
    return mk_bitstruct(f"DivResp_{nbits}_{dbits}", {"quotient": mk_bits(nbits), "remainder": mk_bits(dbits)})


@cache
def mk_modexp_req(nbits):
    """{base, exp, mod}: one modular exponentiation."""
    word = mk_bits(nbits)
    return mk_bitstruct(f"ModExpReq_{nbits}", {"base": word, "exp": word, "mod": word})


@cache
def mk_keyed_req(nbits, given):
    """{base, exp, mod, ...}: an exponentiation that comes with numbers made from the modulus once; `given`:
    their names and bits.
    """
    word = mk_bits(nbits)
    fields = {"base": word, "exp": word, "mod": word, **{name: mk_bits(wide) for name, wide in given}}
    return mk_bitstruct(f"KeyedReq_{nbits}", fields)


@cache
def mk_modexp_resp(nbits):
    """{status, result}: `modexlab.fl.status` names the codes."""
    return mk_bitstruct(f"ModExpResp_{nbits}", {"status": mk_bits(STATUS_NBITS), "result": mk_bits(nbits)})


@cache
def mk_entered_req(nbits):
    """{status, one, base, exp, mod}: an exponentiation whose 1 and base are in the domain of the
    multiplier.
    """
    word = mk_bits(nbits)
    fields = {"status": mk_bits(STATUS_NBITS), "one": word, "base": word, "exp": word, "mod": word}
    return mk_bitstruct(f"EnteredReq_{nbits}", fields)


@cache
def mk_entered_resp(nbits):
    """{status, result, mod}: a result still in the domain, with the modulus that takes it out."""
    word = mk_bits(nbits)
    return mk_bitstruct(
        f"EnteredResp_{nbits}", {"status": mk_bits(STATUS_NBITS), "result": word, "mod": word}
    )


@cache
def mk_xcel_req():
    """{write, addr, data}: one access of the processor to an accelerator register."""
    return mk_bitstruct("XcelReq", {"write": mk_bits(1), "addr": mk_bits(5), "data": mk_bits(32)})


@cache
def mk_xcel_resp():
    """{write, data}: the answer to one access; data is 0 for a write."""
    return mk_bitstruct("XcelResp", {"write": mk_bits(1), "data": mk_bits(32)})


@cache
def mk_bus_req(address_nbits=12):
    """{write, wait_for_irq, address, data, strobes}: one access to the registers of a bus, or a wait for the
    interrupt.
    """
    fields = {"write": 1, "wait_for_irq": 1, "address": address_nbits, "data": 32, "strobes": 4}
    name = "BusReq" if address_nbits == 12 else f"BusReq_{address_nbits}"
    return mk_bitstruct(name, {name: mk_bits(nbits) for name, nbits in fields.items()})


@cache
def mk_bus_resp():
    """{write, data, fault}: the answer; data is 0 for a write, fault says that it was refused."""
    return mk_bitstruct("BusResp", {"write": mk_bits(1), "data": mk_bits(32), "fault": mk_bits(1)})


def _byte_count(nbits):
    """The type of a number of bytes of an encoding."""
    return mk_bits(clog2(nbytes_of(nbits)))


@cache
def mk_pad_req(nbits):
    """{sign, length, message}: a message of so many bytes, to be padded for a signature or for encryption."""
    fields = {"sign": mk_bits(1), "length": _byte_count(nbits), "message": mk_bits(nbits)}
    return mk_bitstruct(f"PadReq_{nbits}", fields)


@cache
def mk_pad_resp(nbits):
    """{status, em}: `modexlab.fl.pkcs1.Padded` names the codes; em is the encoding."""
    return mk_bitstruct(f"PadResp_{nbits}", {"status": mk_bits(2), "em": mk_bits(nbits)})


@cache
def mk_unpad_req(nbits, implicit=False):
    """{sign, em}: an encoding; implicit: {sign, length, fallback, em}, with what takes the place of a wrong
    one.
    """
    more = {"length": _byte_count(nbits), "fallback": mk_bits(nbits)} if implicit else {}
    name = f"Unpad{'Implicit' if implicit else ''}Req_{nbits}"
    return mk_bitstruct(name, {"sign": mk_bits(1), **more, "em": mk_bits(nbits)})


@cache
def mk_unpad_resp(nbits):
    """{good, length, message}: the message of so many bytes, if the encoding is good."""
    fields = {"good": mk_bits(1), "length": _byte_count(nbits), "message": mk_bits(nbits)}
    return mk_bitstruct(f"UnpadResp_{nbits}", fields)


def mk_request(shape):
    """The request of an accelerator; that of an exponentiation keeps its name."""
    if not is_exponentiation(shape):
        return mk_message(f"Request_{sum(nbits for _, nbits in shape.request)}", shape.request)
    given = shape.request[3:]
    return mk_keyed_req(shape.widest, given) if given else mk_modexp_req(shape.widest)


@cache
def mk_message(name, fields):
    """A message of any fields, ((name, nbits), ...), the most significant first."""
    return mk_bitstruct(name, {field: mk_bits(nbits) for field, nbits in fields})
