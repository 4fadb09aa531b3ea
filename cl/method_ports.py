"""MethodPortsCL: a unit with PyMTL3's method interfaces in the place of streams.

`request` may be called when it is ready, and begins the work, a generator that yields once for each cycle;
`response` is ready when the work has ended. Both are called at most once in a cycle, the response first, so
that the unit accepts its next request in the cycle in which a response leaves.
"""

from pymtl3 import *


class MethodPortsCL(Component):
    def construct(s, work):
        s.begin, s.running, s.answer = work, None, None

        @update_once
        def step():
            s.advance()

        s.add_constraints(U(step) < M(s.response), M(s.response) < M(s.request))

    def advance(s):
        """Work for one cycle."""
        if s.running is not None:
            try:
                next(s.running)
            except StopIteration as end:
                s.running, s.answer = None, end.value

    @non_blocking(lambda s: s.running is None and s.answer is None)
    def request(s, *operands):
        s.running = s.begin(*operands)
        s.advance()

    @non_blocking(lambda s: s.answer is not None)
    def response(s):
        answer, s.answer = s.answer, None
        return answer
