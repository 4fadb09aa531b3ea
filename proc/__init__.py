"""The processor: RV32IM at FL and RTL, its simulator, the attached accelerator, and the software that runs on
both.
"""
