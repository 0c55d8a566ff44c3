"""Limits held against figures: ``--fail-on`` conditions and budget files."""
