# @title@
# One clock. Set its period, in ns, and the delays of your environment.
set period @period@
create_clock -name @clock@ -period $period [get_ports @clock@]
foreach port {@inputs@} {
  set_input_delay [expr 0.2 * $period] -clock @clock@ [get_ports $port]
}
foreach port {@outputs@} {
  set_output_delay [expr 0.2 * $period] -clock @clock@ [get_ports $port]
}
