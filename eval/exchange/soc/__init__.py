"""Chips: a machine of the catalogue on the bus of a RISC-V system on a chip made with LiteX, simulated by
Verilator. chip.py is where to begin; board.py is what LiteX makes, program.py and software/ the C, folder.py
what `modexlab proc soc -o` leaves.
"""
