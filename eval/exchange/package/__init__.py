"""IP packages: a machine behind an interface as a folder that another team uses without modexlab. Begin with
package.py; template/ has the files of the folder, vectors.py the rows of its testbench, datasheet.py its data
sheet, with the diagrams of block_diagram.py and timing.py. shuttle.py makes a project of Tiny Tapeout.
"""
