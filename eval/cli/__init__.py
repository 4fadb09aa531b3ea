"""The command line: main.py finds the command, commands/ has one file per form, options.py the shared
options, and render.py prints results. Nothing imports this room.
"""
