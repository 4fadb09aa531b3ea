"""Errors of a measurement: not a user's mistake, and no figure to print."""


class NoMeasurement(RuntimeError):
    """A program or a machine that is measured failed, so that its figures would mean nothing."""
