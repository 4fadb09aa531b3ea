"""The steps of the flow as a graph: graph.py declares it, step.py runs one step, runner.py all steps, fmax.py
all steps at one clock after another.

figures.py defines the figures of a run, summary.py collects them, summary_text.py prints them. The uppermost
room of the flow. A step is one folder: steps/NAME/configure.yml declares its files, tool and parameters, and
step.py there defines version() and run(job). graph.py finds the folders and orders the steps.
"""
