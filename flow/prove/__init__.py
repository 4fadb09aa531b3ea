"""Formal proofs. equivalence.py (a step of the flow) proves that a netlist implements its design, part by
part; word_proof.py proves rewritten sums by algebra; placed.py proves the changes that placement makes.

assertions.py decides the assertions of any SystemVerilog text by SAT or induction; registers.py finds the
registers in an output's cone of influence; mutants.py makes faulty texts that a proof must reject. Imports
flow up to flow.synth.
"""
