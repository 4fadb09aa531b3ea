"""Errors of a measurement that are not the user's mistake."""


class NoMeasurement(RuntimeError):
    """A program or a machine that is measured failed, so that its figures would mean nothing."""
