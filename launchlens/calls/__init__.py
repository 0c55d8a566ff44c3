"""CUDA calls: what each is, which count, which step owns them. Figures and rules both ask here."""

from launchlens.calls.kinds import CallKind, base_name, blocks_host, call_kind, kind_name

__all__ = ["CallKind", "base_name", "blocks_host", "call_kind", "kind_name"]
