"""The pipeline at RTL: proc.py is the top, proc_ctrl.py and proc_dpath.py its two halves, proc_xcel.py the
processor with an accelerator.

Imports fl, rtl, proc.isa and, for its trace, proc.iss.
"""
