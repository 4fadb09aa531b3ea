"""Where the checker of AXI4-Lite is: assertions in SystemVerilog that stand beside any bus, in simulation and
in proofs.
"""

from pathlib import Path

PROPERTIES = Path(__file__).with_suffix(".sv")
