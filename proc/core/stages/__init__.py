"""The stages of the pipeline, F D X M W, and the boxes of control between them."""
