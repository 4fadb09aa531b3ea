"""The design kit: the library of cells (liberty.py), its geometry (def_file.py), logic functions of cells, and constraints.

Begin with kit.py. The lowest room of the flow.
"""
