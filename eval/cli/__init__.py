"""The command line: main.py finds the command, commands/ holds one file per form, options.py the shared
options, render.py prints results. Nothing imports this room.
"""
