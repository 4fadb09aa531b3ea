"""The five published works as data, one TOML file each; published.py reads and checks them. Imports fl
alone.
"""
