"""The processor at the functional level: iss.py runs instructions, semantics.py defines their effects, and
outcome.py the result of a run.

The package imports fl, proc.isa and proc.software.
"""
