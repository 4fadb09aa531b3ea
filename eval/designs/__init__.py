"""The catalogue (catalogue.py, where to begin) and what is made of its entries: machines, systems, chips for
the flow, workloads.

Imports every room below eval, and eval.papers for the figures that a twin answers to.
"""
