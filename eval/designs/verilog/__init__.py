"""Self-contained SystemVerilog files, each with a header that documents parameters, ports and protocol.

accelerator.py  accelerators of any kind
machine.py      RSA machines, and their multipliers alone
padding.py      units of PKCS#1 v1.5
processor.py    the processor, with an accelerator or without
"""
