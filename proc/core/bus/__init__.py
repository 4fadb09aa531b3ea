"""The parts of a processor with a bus: the port, the interrupt and its CSRs, and a slave of AXI4-Lite."""
