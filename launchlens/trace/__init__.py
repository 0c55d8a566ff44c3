"""Reading nsys exports: SQLite in, columns out. Owner of every SQL statement on a trace."""

from launchlens.trace.reader import read_trace, trace_label

__all__ = ["read_trace", "trace_label"]
