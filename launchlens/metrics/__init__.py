"""Figures from columns: which ranges are steps, what each owns, how long the GPU idles and why."""

from launchlens.metrics.scopes import captured_parts, captured_scopes, holds_more
from launchlens.metrics.summary import summarize, summarize_measured

__all__ = ["captured_parts", "captured_scopes", "holds_more", "summarize", "summarize_measured"]
