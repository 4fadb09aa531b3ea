"""What cocotb runs inside a simulator: masters that we did not write, on the slaves that we did."""
