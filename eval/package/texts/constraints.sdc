# {title}: one clock. Periods and delays are to be set by whoever has the surroundings.
set period {clock}
create_clock -name clk -period $period [get_ports clk]
set_input_delay [expr 0.2 * $period] -clock clk [remove_from_collection [all_inputs] [get_ports clk]]
set_output_delay [expr 0.2 * $period] -clock clk [all_outputs]
