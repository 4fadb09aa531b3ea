"""Runs the command line by `python -m modexlab.eval.cli`, for use when the script `modexlab` is not on the
path.
"""

import sys

if not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]  # drop the current directory, so that nothing is imported from it

from .entry import main

sys.exit(main())
