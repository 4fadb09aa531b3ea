"""The command line: main.py finds the command, commands/ holds one file per command, arguments.py the shared
options. Nothing imports this room.
"""
