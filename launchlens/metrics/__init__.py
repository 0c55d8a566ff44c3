"""Figures from columns: which ranges are steps, what each owns, how long the GPU idles and why."""

from launchlens.metrics.summary import summarize, summarize_measured

__all__ = ["summarize", "summarize_measured"]
