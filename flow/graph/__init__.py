"""The steps of the flow as a graph. step.py has the class of a step, steps/ the steps, and graph.py their
order. run_step.py runs one step, runner.py all steps, fmax.py all steps at one clock after another.

mflowgen_steps.py writes mflowgen's folders from the steps, reference.py the tables of docs/reference/flow.md.
figures.py defines the figures of a run, summary.py collects them, summary_text.py prints them. The uppermost
room of the flow.
"""
