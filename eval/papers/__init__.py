"""The five published works as data, one TOML file a work: published.py reads and checks them. Imports fl
alone.
"""
