"""Path of axi4lite_properties.sv, a checker of the AXI4-Lite protocol as SystemVerilog assertions, for
simulation and proofs.
"""

from pathlib import Path

PROPERTIES = Path(__file__).with_suffix(".sv")
