"""Plans of adder trees: columns, heaps of rows, prefixes."""
