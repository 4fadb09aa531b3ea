"""Test memory behind an accelerator's memory ports, in Python and in C++.

Both versions give the same answers in the same cycles. A port accepts a request if fewer than CAPACITY of its
answers wait. The access takes effect in that cycle, in the order of the ports if several access at once. The
answer is offered 1 + delay cycles later and stays until it is accepted. Each port answers in the order of its
requests.
"""
