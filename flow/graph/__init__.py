"""The steps as an mflowgen graph: graph.py declares it, step.py runs one step, runner.py all, summary.py gathers the figures.

The uppermost room of the flow; one folder in steps/ for each step.
"""
