"""Self-contained SystemVerilog files, each with a header that documents parameters, ports and protocol.

machine.py    accelerators of any kind, RSA machines, and their multipliers alone
padding.py    units of PKCS#1 v1.5
processor.py  the processor, with an accelerator or without
"""
