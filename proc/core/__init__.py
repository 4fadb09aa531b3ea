"""The pipeline at RTL: proc.py is the top, stages/ has its stages, proc_xcel.py the
processor with an accelerator.

Imports fl, rtl, proc.isa and, for its trace, proc.iss.
"""
