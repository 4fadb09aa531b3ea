"""The store of results: a file of sealed lines that only grows (lines.py, entries.py), and its queries."""
