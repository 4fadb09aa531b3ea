"""A row of processing elements of a systolic array: a first, general ones and a last, each with a word of the
operands.
"""

from itertools import pairwise

from pymtl3 import *


def declare_element(s, k, place):
    """Ports of an element: its words, and its step, from the element before and, a cycle later, to the next
    one.
    """
    s.go = InPort()
    s.first = InPort()
    s.last = InPort()
    s.x = InPort(k)
    s.y = InPort(k)
    s.m = InPort(k)
    if place != "first":
        s.carry = InPort(k + 1)
    if place != "last":
        s.a = InPort(k)
        s.next_go = OutPort()
        s.next_first = OutPort()
        s.next_last = OutPort()
        s.next_q = OutPort(k)
        s.next_x = OutPort(k)
        s.next_carry = OutPort(k + 1)


def declare_row(s, Element, k, nwords):
    """The elements of a row and its ports: x, of which one word is wanted at a time, y and m, a word an
    element, and the words of the result. An element passes its step on to the next one, which gives its low
    word back.
    """
    s.x = InPort(k)
    s.y = [InPort(k) for _ in range(nwords)]
    s.m = [InPort(k) for _ in range(nwords)]
    s.result = [OutPort(k) for _ in range(nwords)]
    s.done = [OutPort() for _ in range(nwords)]
    s.first_pe = Element(k, "first")
    s.general_pes = [Element(k, "general") for _ in range(nwords - 2)]
    s.last_pe = Element(k, "last")
    elements = elements_of(s)
    for j, element in enumerate(elements):
        element.y //= s.y[j]
        element.m //= s.m[j]
    for element, following in pairwise(elements):
        element.next_go //= following.go
        element.next_first //= following.first
        element.next_last //= following.last
        element.next_q //= following.q
        element.next_x //= following.x
        element.next_carry //= following.carry
        element.a //= following.low
    return elements


def elements_of(s):
    """The elements of a row."""
    return [s.first_pe, *s.general_pes, s.last_pe]


def row_trace(s):
    """The lines of all elements."""
    return "".join(element.line_trace() for element in elements_of(s))
