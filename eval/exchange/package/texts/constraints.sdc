# {title}: one clock. Periods and delays are to be set by whoever has the surroundings.
set period {clock}
create_clock -name clk -period $period [get_ports clk]
foreach port {{{inputs}}} {{
  set_input_delay [expr 0.2 * $period] -clock clk [get_ports $port]
}}
foreach port {{{outputs}}} {{
  set_output_delay [expr 0.2 * $period] -clock clk [get_ports $port]
}}
