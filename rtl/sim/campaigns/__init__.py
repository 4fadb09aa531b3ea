"""Many operations on one compiled model: faults put in, moments of its registers."""
