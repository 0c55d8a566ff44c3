"""Call stacks as an export holds them, undecoded: what `trace` hands to `blockers`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChainRow:
    """One native frame (CUDA_CALLCHAINS). ``depth`` 0 is the innermost frame."""

    chain_id: int
    depth: int
    symbol: str
    module: str | None


@dataclass(frozen=True, slots=True)
class SchemaRow:
    """One layout of binary payloads (NVTX_PAYLOAD_SCHEMAS)."""

    domain_id: int
    schema_id: int
    name: str | None
    kind: int
    payload_bytes: int


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One field of a layout (NVTX_PAYLOAD_SCHEMA_ENTRIES)."""

    domain_id: int
    schema_id: int
    index: int
    flags: int
    kind: int
    name: str | None
    detail: int
    offset: int | None


@dataclass(frozen=True, slots=True)
class MarkRow:
    """One mark of the domain "Python Backtrace on CUDA".

    ``start_ns`` equals the start of the API call it belongs to, on the thread ``global_tid``.
    """

    start_ns: int
    global_tid: int
    domain_id: int
    text: str | None
    payload: bytes


@dataclass(frozen=True, slots=True)
class Stacks:
    """All call stacks of an export. Empty when it was recorded without them."""

    chains: tuple[ChainRow, ...] = ()
    schemas: tuple[SchemaRow, ...] = ()
    entries: tuple[EntryRow, ...] = ()
    marks: tuple[MarkRow, ...] = ()
    strings: tuple[tuple[int, str], ...] = ()
