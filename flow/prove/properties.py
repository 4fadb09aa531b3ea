"""The Yosys script that makes one circuit of SystemVerilog assertions.

The circuit begins in any state in which its `initial` values hold, its inputs are what `assume` allows.
"""

from collections.abc import Sequence

READ = """\
read_verilog -sv -formal -DFORMAL {files}
prep -top {top} -flatten
"""
# an output of TOP.aig is an assertion, or one of the assumptions behind them
CIRCUIT = """\
async2sync
chformal -lower
select -assert-min 1 t:$assert
formalff -clk2ff -ff2anyinit
setundef -anyseq
opt -keepdc -fast
opt_clean
dffunmap
simplemap
techmap
setundef -anyseq
aigmap
opt_clean
write_aiger -I -B -zinit -no-startoffset -map {top}.aim {top}.aig
stat
"""


def script(files: Sequence[str], top: str) -> str:
    """For yosys: files of SystemVerilog to TOP.aig, in which outputs are assertions and then assumptions."""
    return (READ + CIRCUIT).format(files=" ".join(files), top=top)
