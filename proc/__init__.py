"""The processor: RV32IM at FL and RTL, its simulator, the accelerator behind it, and the software that runs
on both.
"""
