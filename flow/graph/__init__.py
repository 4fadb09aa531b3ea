"""The steps as an mflowgen graph: graph.py declares it, step.py runs one step, runner.py all, fmax.py all at
one clock after the other.

figures.py says what a run measured, summary.py gathers it, summary_text.py shows it. The uppermost room of
the flow. A step is one folder: steps/NAME/configure.yml declares its files, tool and parameters, and step.py
there has version() and run(job); graph.py finds the folders and puts them in order.
"""
