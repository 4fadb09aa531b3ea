"""IP packages: a machine behind an interface as a folder that another team takes without us. package.py is
where to begin; vectors.py are the rows of the testbench, bench/ its SystemVerilog, datasheet.py the data
sheet, with the diagrams of block_diagram.py and timing.py.
"""
