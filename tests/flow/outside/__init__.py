"""Nodes, netlists and wires of other tools in the flow."""
