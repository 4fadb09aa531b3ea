"""Exit codes of the command line."""

FAILED = 1  # a wrong result
BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as in shells
BROKEN_PIPE = 141  # 128 + SIGPIPE
