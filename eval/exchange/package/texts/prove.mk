
# PyPI's Yosys (pyosys) is a package of Python and has no program
PYTHON    ?= python3
YOSYS     ?= $(if $(shell command -v yosys),yosys,$(PYTHON) -c '$(RUN_PYOSYS)')
YOSYS_ABC ?= $(or $(shell command -v yosys-abc),$(shell $(PYTHON) -c 'import pyosys; print(pyosys.__path__[0])')/yosys-abc)
RUN_PYOSYS = import sys; from pyosys import libyosys; libyosys.run_pass("script " + sys.argv[-1])

# prove that the slave keeps the rules of AXI4-Lite at all times
prove:
	mkdir -p build
	cd build && $(YOSYS) -q -s ../properties/prove.ys
	cd build && $(YOSYS_ABC) -c "read_aiger proof.aig; fold; strash; pdr -T 600" > proof.log
	cat build/proof.log
	grep -q "Property proved" build/proof.log
