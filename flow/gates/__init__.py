"""Simulation of netlists: gates.py is a stage of simulation, engine.py and gates.cpp the engine, activity.py the step, glitches.py the
simulation with delays. Imports flow up to flow.synth, and the native simulation of rtl and proc.
"""
