"""Entry point of the script `modexlab` and of `python -m modexlab.eval.cli`. It imports little, so that
Ctrl-C is handled from the beginning.
"""

from .ctrl_c import importing, leave_at_once, repeated


def main() -> int:
    """Run the command of this process; return the exit code."""
    with importing():
        from .main import main as run
    with repeated():
        code = run()
    leave_at_once()
    return code
