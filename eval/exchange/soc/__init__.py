"""Systems on chip: an accelerator on the bus of a RISC-V chip made with LiteX, simulated by Verilator.

Start with chip.py. board.py builds the hardware with LiteX, program.py and software/ are the C side, and
folder.py writes the folder of `modexlab proc soc -o`.
"""
