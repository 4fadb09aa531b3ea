"""The processor at the functional level: iss.py runs instructions, semantics.py says what each does,
outcome.py what a run has to say.

Imports fl, proc.isa and proc.software.
"""
