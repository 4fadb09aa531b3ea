"""Proofs (proof/), leakage and fault attacks (attacks/), and crosschecks of figures with other tools
(crosscheck.py).
"""
