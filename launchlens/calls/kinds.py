"""Kinds of CUDA or HIP API call, by base name: names carry version and stream suffixes."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache


class CallKind(IntEnum):
    """What a call of the CUDA API (or HIP) does. Kinds from KERNEL to MEMSET submit GPU work.

    The catalogue's `Metric.calls` names kinds in lower case.
    """

    OTHER = 0
    KERNEL = 1
    GRAPH = 2
    MEMCPY = 3
    MEMSET = 4
    SYNC = 5
    ALLOC = 6
    STREAM_ALLOC = 7
    """Ordered in a stream (cudaMallocAsync): can be captured, unlike other allocations."""
    QUERY = 8
    LOAD = 9
    RECORD = 10
    WAIT = 11
    BEGIN_CAPTURE = 12
    END_CAPTURE = 13
    UNNAMED = 14
    """The trace does not tell its name, so that it may be of any kind."""

    @classmethod
    def named(cls, name: str) -> CallKind:
        """The kind that the catalogue calls so ("kernel")."""
        return cls[name.upper()]


_SUFFIX = re.compile(r"(_v\d+|_ptsz|_ptds)+$")
# The first pattern that matches a base name decides.
_KINDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (CallKind.UNNAMED, r"$|<[^>]*>$"),
        (CallKind.KERNEL, r"(cu(da)?|hip)(Drv)?LaunchKernel(Ex|ExC)?$"),
        (CallKind.KERNEL, r"cudaLaunch$|cuLaunch$|cuLaunchGrid(Async)?$|hipLaunchByPtr$"),
        (CallKind.KERNEL, r"(cu(da)?|hip(Module)?)LaunchCooperativeKernel(MultiDevice)?$"),
        (
            CallKind.KERNEL,
            r"hip(Ext|Hcc)?(Module)?LaunchKernel$|hipExtLaunchMultiKernelMultiDevice$",
        ),
        (CallKind.GRAPH, r"(cu(da)?|hip)GraphLaunch$"),
        (CallKind.MEMCPY, r"(cu(da)?|hip)Memcpy(?!.*Attribute)"),
        (CallKind.MEMSET, r"(cu(da)?|hip)Memset"),
        (CallKind.SYNC, r"(cu(da)?|hip)(Device|Stream|Event|Ctx|Thread)Synchronize$"),
        (CallKind.STREAM_ALLOC, r"(cu(da)?|hip)(Malloc|Free|MemAlloc|MemFree)\w*Async$"),
        (
            CallKind.ALLOC,
            r"(cuda|hip(Ext)?)(Malloc|Free|HostAlloc|HostMalloc|HostFree|HostRegister"
            r"|HostUnregister)",
        ),
        (
            CallKind.ALLOC,
            r"(cu|hip)Mem(Alloc|Free|Create|Release|Map|Unmap|SetAccess|AddressReserve|AddressFree"
            r"|HostAlloc|HostRegister|HostUnregister)",
        ),
        (CallKind.QUERY, r"(cu(da)?|hip)(Event|Stream)Query$"),
        (
            CallKind.LOAD,
            r"(cu|hip)ModuleLoad|(cu(da)?|hip)LibraryLoad|(cu|hip)LinkComplete",
        ),
        (CallKind.RECORD, r"(cu(da)?|hip)EventRecord"),
        (CallKind.WAIT, r"(cu(da)?|hip)StreamWaitEvent"),
        (CallKind.BEGIN_CAPTURE, r"(cu(da)?|hip)StreamBeginCapture"),
        (CallKind.END_CAPTURE, r"(cu(da)?|hip)StreamEndCapture"),
    )
)


def base_name(name: str) -> str:
    """An API name without version and stream suffixes (``cudaLaunchKernel_v7000``)."""
    return _SUFFIX.sub("", name)


@lru_cache(maxsize=4096)
def call_kind(name: str) -> CallKind:
    """Kind of an API call by its name, with or without suffixes."""
    base = base_name(name)
    return next((kind for kind, pattern in _KINDS if pattern.match(base)), CallKind.OTHER)


def kind_name(name: str) -> str:
    """Kind of an API call as the catalogue's `Metric.calls` names it ("kernel", "sync", …)."""
    return call_kind(name).name.lower()


def blocks_host(name: str) -> bool:
    """Whether the call makes its thread wait: a synchronize, or a copy without Async."""
    kind = call_kind(name)
    return kind is CallKind.SYNC or (kind is CallKind.MEMCPY and "Async" not in name)
