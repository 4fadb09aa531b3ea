"""The program `yosys -s SCRIPT [-l LOG]` by the package pyosys, for nodes of mflowgen that call it."""

import argparse


def main() -> int:
    """Run a script of Yosys; an error of the script ends the process with exit code 1."""
    from pyosys import libyosys

    parser = argparse.ArgumentParser(prog="yosys", description=__doc__)
    parser.add_argument("-s", dest="script", metavar="SCRIPT", required=True)
    parser.add_argument("-l", dest="log", metavar="LOG")
    args = parser.parse_args()
    log = f"tee -o {args.log} " if args.log else ""
    libyosys.run_pass(f"{log}script {args.script}", libyosys.Design())
    return 0
