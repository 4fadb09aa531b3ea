"""IP packages."""
