"""CUDA calls: what each is, which count, which step owns them. Figures and rules both ask here.

What a call is by its name stands in `launchlens.calls.kinds` (no NumPy); what the calls of a trace
count as in `launchlens.calls.classing`, and who owns them in `launchlens.calls.ownership`.
"""

from launchlens.calls.kinds import CallKind, base_name, blocks_host, call_kind, kind_name

__all__ = ["CallKind", "base_name", "blocks_host", "call_kind", "kind_name"]
