"""Kinds of CUDA API call, told by base name: names carry version and stream suffixes."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache


class CallKind(IntEnum):
    """What a CUDA API call does. Kinds from KERNEL to MEMSET submit work to the GPU.

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
        (CallKind.KERNEL, r"cu(da)?LaunchKernel(Ex|ExC)?$"),
        (CallKind.KERNEL, r"cudaLaunch$|cuLaunch$|cuLaunchGrid(Async)?$"),
        (CallKind.KERNEL, r"cu(da)?LaunchCooperativeKernel(MultiDevice)?$"),
        (CallKind.GRAPH, r"cu(da)?GraphLaunch$"),
        (CallKind.MEMCPY, r"cu(da)?Memcpy(?!.*Attribute)"),
        (CallKind.MEMSET, r"cu(da)?Memset"),
        (CallKind.SYNC, r"cu(da)?(Device|Stream|Event|Ctx|Thread)Synchronize$"),
        (CallKind.STREAM_ALLOC, r"cu(da)?(Malloc|Free|MemAlloc|MemFree)\w*Async$"),
        (CallKind.ALLOC, r"cuda(Malloc|Free|HostAlloc|HostRegister|HostUnregister)"),
        (
            CallKind.ALLOC,
            r"cuMem(Alloc|Free|Create|Release|Map|Unmap|SetAccess|AddressReserve|AddressFree"
            r"|HostAlloc|HostRegister|HostUnregister)",
        ),
        (CallKind.QUERY, r"cu(da)?(Event|Stream)Query$"),
        (CallKind.LOAD, r"cuModuleLoad|cu(da)?LibraryLoad|cuLinkComplete"),
        (CallKind.RECORD, r"cu(da)?EventRecord"),
        (CallKind.WAIT, r"cu(da)?StreamWaitEvent"),
        (CallKind.BEGIN_CAPTURE, r"cu(da)?StreamBeginCapture"),
        (CallKind.END_CAPTURE, r"cu(da)?StreamEndCapture"),
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
