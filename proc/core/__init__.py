"""The pipeline at RTL: proc.py is the top, stages/ has its stages, and proc_xcel.py is the processor with an
accelerator.

The package imports fl, rtl, proc.isa and, for its trace, proc.iss.
"""
