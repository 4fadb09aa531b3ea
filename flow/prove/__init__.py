"""Proofs that a netlist is its design: equivalence.py (the step) by parts, word_proof.py for sums by algebra,
placed.py for what placement changes. And proofs of assertions: assertions.py (of any text, by SAT or
induction), with registers.py (which registers an output is computed from) and mutants.py (faults that must be
found).

Imports flow up to flow.synth.
"""
