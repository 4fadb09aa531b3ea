"""A sweep on a real Slurm."""
