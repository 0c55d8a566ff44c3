"""Comparing sides: values, changes, verdicts, and reasons a comparison may be unfair."""

from launchlens.compare.comparing import compare

__all__ = ["compare"]
