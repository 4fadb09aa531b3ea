"""Errors of a measurement that are not the user's mistake."""


class NoMeasurement(RuntimeError):
    """A measured program or machine failed, so its figures would be meaningless."""
