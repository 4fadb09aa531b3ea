"""Self-contained SystemVerilog files, each with a header that documents parameters, ports and protocol.

accelerator.py  accelerators of any kind
axi4lite_top.py the ports of AMBA AXI4-Lite around a slave
machine.py      RSA machines, and their multipliers alone
padding.py      units of PKCS#1 v1.5
processor.py    the processor, with an accelerator or without
"""
