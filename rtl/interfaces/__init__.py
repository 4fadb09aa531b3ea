"""How a machine is attached: one file an interface. Imports fl, rtl's machines and messages;
`xcel_adapter.py` has registers.
"""
