"""The tests; failed assertions of the modules that they share show their values, too."""

import pytest

pytest.register_assert_rewrite(
    "tests.command_line",
    "tests.designs.author_mistakes",
    "tests.drivers",
    "tests.flow.designs",
    "tests.harness",
    "tests.proc.costs",
    "tests.proc.programs",
    "tests.programs",
)
