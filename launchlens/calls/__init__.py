"""CUDA calls: what each is, which count, which step owns them. Figures and rules both ask here."""

from launchlens.calls.kinds import CallKind, base_name, blocks_host, call_kind, kind_name

LITTLE_BESIDE = 1 / 20
"""Work of other threads that needs no word, as a part of the step's own (docs/definitions.md)."""

__all__ = ["LITTLE_BESIDE", "CallKind", "base_name", "blocks_host", "call_kind", "kind_name"]
