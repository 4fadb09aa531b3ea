"""The five published papers as data, one TOML file each; published.py reads and checks them."""
