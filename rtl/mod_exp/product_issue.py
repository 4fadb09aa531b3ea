"""ProductIssue: the scoreboard of a controller's products, those to be issued and those in progress.

Two units compute two products side by side; a single unit computes them in order.

Ports: products, those of the next state; advance, it is entered; send_now, its products are issued in this
cycle; stall (with `stalls`), none is issued; handshakes of the units -> product_val, the products that
arrive; done, with the last of them; second, the unit's request is product 1.
"""

from pymtl3 import *


class ProductIssue(Component):
    def construct(s, nproducts, nunits, stalls=False):
        s.products = InPort(nproducts)
        s.advance = InPort()
        s.send_now = InPort()
        s.stall = (InPort if stalls else Wire)()
        if not stalls:
            s.stall //= 0
        s.req_val = OutPort(nunits)
        s.req_rdy = InPort(nunits)
        s.resp_val = InPort(nunits)
        s.product_val = OutPort(nproducts)
        s.done = OutPort()

        s.unsent = Wire(nproducts)
        s.awaited = Wire(nproducts)
        s.send = Wire(nproducts)
        s.sent = Wire(nproducts)

        @update
        def products_to_send():
            s.send @= s.unsent
            if s.send_now:
                s.send @= s.products
            if s.stall:
                s.send @= 0

        if nunits < nproducts:
            s.issue_in_series()
        else:
            s.issue_side_by_side()

        @update
        def all_products():
            s.done @= (s.awaited != 0) & ((s.awaited & ~s.product_val) == 0)

        if nunits < nproducts:
            s.assertions = {"AnswerWasAwaited": "!resp_val || awaited != 0"}
        else:
            s.assertions = {
                "ProductsAreAwaited": "((resp_val | unsent) & ~awaited) == 0",
                "UnitsAreIdle": "(req_val & ~req_rdy) == 0",
            }

        @update_ff
        def scoreboard():
            if s.reset:
                s.unsent <<= 0
                s.awaited <<= 0
            elif s.advance:
                s.unsent <<= s.products & ~s.sent
                s.awaited <<= s.products
            else:
                s.unsent <<= s.unsent & ~s.sent
                s.awaited <<= s.awaited & ~s.product_val

    def issue_in_series(s):
        """One unit makes product 0 and then product 1."""
        s.second = OutPort()

        @update
        def requests_in_order():
            s.second @= ~s.send[0]
            s.req_val[0] @= s.send[0] | s.send[1]
            s.sent[0] @= s.send[0] & s.req_rdy[0]
            s.sent[1] @= s.second & s.send[1] & s.req_rdy[0]

        @update
        def arrivals_in_order():
            s.product_val[0] @= s.resp_val[0] & s.awaited[0]
            s.product_val[1] @= s.resp_val[0] & ~s.awaited[0] & s.awaited[1]

    def issue_side_by_side(s):
        # all units are ready when a microinstruction ends, so that they take all requests at once
        @update
        def requests():
            s.req_val @= s.send
            s.sent @= s.send & s.req_rdy

        @update
        def arrivals():
            s.product_val @= s.resp_val & s.awaited
