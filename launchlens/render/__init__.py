"""Renderers: a record in, text out. None computes a figure; each is imported when it is needed."""
