"""Simulation of netlists: gates.py is a stage of simulation, engine.py and gates.cpp the engine,
glitches.cpp the simulation with delays, activity.py the step. Imports flow up to flow.synth, and the native
simulation of rtl and proc.
"""
