"""Proofs (proof/), leakage and fault attacks (attacks/), and figures crosschecked by other tools
(crosscheck.py).
"""
