"""Third-party designs: any Verilog as an entry of the catalogue, by a manifest (design.toml).

    manifest.py       the file: its keys, its checks, and the lines that errors name
    ports.py          the ports of a module, by Verilator
    core.py           a core behind our streams, in simulation
    foreign.py        the design and its machine, if it is of RSA
    function_core.py  the same for a core of another kind, with a Python function as the oracle
    foreign_chip.py   cores for the flow
    wrapper.py        text to begin with: a manifest, and a wrapper in Verilog

Begin with manifest.py: its text says what may stand in a manifest.
"""
