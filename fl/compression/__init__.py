"""Plans of adder trees: by columns, by rows, and prefix networks."""
