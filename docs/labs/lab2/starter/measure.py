"""Lab 2: a stream of products through a Montgomery unit of 8 bits, cycle by cycle.

python lab2/measure.py --count 5 --wait 0 --steps 2 --stages 4 --pipelined
"""

from argparse import ArgumentParser

from modexlab.rtl.sim import simulate
from modexlab.rtl.units.mont_mul_rem import MontMulRem

parser = ArgumentParser(description=__doc__)
parser.add_argument("--count", type=int, default=5, help="products")
parser.add_argument("--wait", type=int, default=0, help="cycles for which the sink lets each response wait")
parser.add_argument("--steps", type=int, default=2, help="AddRed steps in a stage")
parser.add_argument("--stages", type=int, default=4, help="pipeline stages")
parser.add_argument("--pipelined", action="store_true", help="a product in each stage, not one in all")
args = parser.parse_args()

unit = MontMulRem(8, args.steps, args.stages, pipelined=args.pipelined)
requests = [(index + 2, 5) for index in range(args.count)]
with simulate(unit, "python", trace=lambda cycle, line: print(f"{cycle:6}: {line}")) as simulation:
    run = simulation.run(requests, statics={"modulus": 201}, sink_delays=[args.wait] * args.count)
print("requests accepted in cycles ", run.accepted)
print("responses accepted in cycles", run.done)
