"""Third-party designs: any Verilog as an entry of the catalogue, described by a manifest (design.toml).

    manifest.py       the file: its keys, its checks, and the lines that errors name
    ports.py          the ports of a module, by Verilator
    core.py           a core with our streams, in simulation
    foreign.py        the design and its machine, for RSA cores
    function_core.py  the same for other cores, with a Python function as the oracle
    foreign_chip.py   cores for the flow
    wrapper.py        templates: a manifest, and a wrapper in Verilog

Begin with manifest.py, whose docstring documents the manifest.
"""
