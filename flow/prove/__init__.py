"""Proofs that a netlist is its design: equivalence.py (the step) by parts, word_proof.py for sums by algebra, placed.py for what
placement changes.

Imports flow up to flow.synth.
"""
