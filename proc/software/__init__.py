"""RSA in C with its start-up code and headers, its compilation (compiler.py) and loading (elf.py, memory.py),
and the kernels of the systems (kernels.py; start there). The package imports fl and rtl.sim.
"""
