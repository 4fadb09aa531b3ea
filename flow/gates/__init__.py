"""Gate-level simulation: gates.py is a simulation stage, engine.py and gates.cpp its engine, glitches.cpp the
simulation with delays, activity.py the step of the flow. Imports flow up to flow.synth, and the native
simulation of rtl and proc.
"""
