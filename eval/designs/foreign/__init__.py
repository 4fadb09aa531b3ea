"""Foreign designs: any Verilog as an entry beside ours, by a manifest (design.toml).

    manifest.py     the file: its tables, its checks, and the lines that errors name
    toml_lines.py   where each key of a TOML file stands
    quantities.py   numbers that a core wants, as expressions over base, exponent and modulus
    ports.py        the ports of a top module, by Verilator
    program.py      the steps of an operation, from each protocol down to states
    adapter.py      the Verilog between our streams and the core's ports
    foreign.py      the design and its machine, as everything else asks for them
    foreign_chip.py the same for the flow
    template.py     manifests to begin with

Begin with manifest.py: its text says what may stand in a manifest.
"""
