"""CUDA API calls as the rules tell them apart: by base name, without version suffixes."""

from __future__ import annotations

import re
from enum import IntEnum

_SUFFIX = re.compile(r"(_v\d+|_ptsz|_ptds)+$")


class Role(IntEnum):
    """What a call means for capture. Roles from LAUNCH to MEMSET submit work."""

    OTHER = 0
    LAUNCH = 1
    GRAPH_LAUNCH = 2
    MEMCPY = 3
    MEMSET = 4
    SYNC = 5
    ALLOC = 6
    QUERY = 7
    LOAD = 8
    RECORD = 9
    WAIT = 10
    TIMING = 11
    BEGIN_CAPTURE = 12
    END_CAPTURE = 13


# The first pattern that matches a base name decides. cudaMallocAsync and cudaFreeAsync are
# stream-ordered and can be captured, so they are no ALLOC.
_ROLES = (
    (Role.LAUNCH, r"cu(da)?Launch(Cooperative)?Kernel"),
    (Role.GRAPH_LAUNCH, r"cu(da)?GraphLaunch$"),
    (Role.MEMCPY, r"cu(da)?Memcpy(?!.*Attribute)"),
    (Role.MEMSET, r"cu(da)?Memset"),
    (Role.SYNC, r"cu(da)?(Device|Stream|Event|Ctx|Thread)Synchronize$"),
    (Role.OTHER, r"cu(da)?(Malloc|Free|MemAlloc|MemFree)\w*Async$"),
    (Role.ALLOC, r"cuda(Malloc|Free|HostAlloc|HostRegister|HostUnregister)"),
    (
        Role.ALLOC,
        r"cuMem(Alloc|Free|Create|Release|Map|Unmap|SetAccess|AddressReserve|AddressFree"
        r"|HostAlloc|HostRegister|HostUnregister)",
    ),
    (Role.QUERY, r"cu(da)?(Event|Stream)Query$"),
    (Role.LOAD, r"cuModuleLoad|cu(da)?LibraryLoad|cuLinkComplete"),
    (Role.TIMING, r"cu(da)?EventElapsedTime"),
    (Role.RECORD, r"cu(da)?EventRecord"),
    (Role.WAIT, r"cu(da)?StreamWaitEvent"),
    (Role.BEGIN_CAPTURE, r"cu(da)?StreamBeginCapture"),
    (Role.END_CAPTURE, r"cu(da)?StreamEndCapture"),
)


def base_name(name: str) -> str:
    """An API name without version and stream suffixes (``cudaLaunchKernel_v7000``)."""
    return _SUFFIX.sub("", name)


def call_role(name: str) -> Role:
    """Role of an API call by its name, with or without suffixes."""
    base = base_name(name)
    return next((role for role, pattern in _ROLES if re.match(pattern, base)), Role.OTHER)


def is_blocking_copy(name: str) -> bool:
    """Whether a copy makes its thread wait by itself: a memcpy call without Async."""
    return call_role(name) is Role.MEMCPY and "Async" not in name
