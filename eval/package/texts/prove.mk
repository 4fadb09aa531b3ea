
# that the slave keeps the rules of AXI4-Lite, over all times: yosys, and the abc that comes with it
prove:
	mkdir -p build
	cd build && yosys -q -s ../properties/prove.ys
	cd build && yosys-abc -c "read_aiger proof.aig; fold; strash; pdr -T 600" > proof.log
	cat build/proof.log
	grep -q "Property proved" build/proof.log
