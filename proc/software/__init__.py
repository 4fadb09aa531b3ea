"""RSA in C with its start-up code and headers, how it is compiled (compiler.py) and loaded (elf.py,
memory.py), and the kernels of the systems (kernels.py, where to begin). Imports fl and rtl.sim.
"""
