"""What each unit computes, on Python integers: no clock, no PyMTL3. Begin with mod_exp.py; imports nothing of
the package.
"""
