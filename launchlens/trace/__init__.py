"""The door for traces: finds which format a file has, reads it, hands out a `Trace` of columns."""

from launchlens.trace.door import (
    EXPORT_TIMEOUT_S,
    find_secrets,
    is_report,
    is_trace,
    known_suffixes,
    read_report,
    read_sizes,
    read_stacks,
    read_trace,
    scrub_trace,
    trace_label,
)

__all__ = [
    "EXPORT_TIMEOUT_S",
    "find_secrets",
    "is_report",
    "is_trace",
    "known_suffixes",
    "read_report",
    "read_sizes",
    "read_stacks",
    "read_trace",
    "scrub_trace",
    "trace_label",
]
