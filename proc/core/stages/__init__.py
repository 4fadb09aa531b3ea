"""The stages of the pipeline: F D X M W."""
