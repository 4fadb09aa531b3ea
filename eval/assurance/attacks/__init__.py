"""What a machine gives away, and what a fault in it does."""
