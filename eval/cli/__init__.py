"""The command line: main.py finds the command, commands/ has one file for each, arguments.py what they share.
The uppermost room.
"""
