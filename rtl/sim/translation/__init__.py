"""From a component to readable Verilog, which is kept."""
