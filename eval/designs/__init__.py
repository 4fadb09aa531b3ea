"""The catalogue (begin with catalogue.py), and its machines, systems, chips for the flow, and workloads.

Imports every room below eval, and eval.papers for the figures that a twin answers to.
"""
