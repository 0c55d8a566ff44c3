"""Beads as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from launchlens.records.columns import (
    ApiTable,
    CopyDirection,
    CopyTable,
    Device,
    OpKind,
    OpTable,
    Process,
    RangeTable,
    Thread,
    Trace,
)
from launchlens.records.figures import TraceInfo
from launchlens.records.recorder import Recorder

MEMORIES = ("Pageable", "Device")


def columns(content: dict[str, Any], info: TraceInfo, recorder: Recorder) -> Trace:
    ranges, calls = content["ranges"], content["calls"]
    ran = [(row, call[3]) for row, call in enumerate(calls) if len(call) > 3]
    copies = [(i, op) for i, (_, op) in enumerate(ran) if len(op) > 3]
    names = list(dict.fromkeys(call[0] for call in calls))
    kernels = list(dict.fromkeys(op[0] for _, op in ran))
    texts = list(dict.fromkeys(text for text, _, _ in ranges))

    def ints(values: Any) -> Any:
        return np.array(list(values), np.int64)

    def small(values: Any) -> Any:
        return np.array(list(values), np.int32)

    return Trace(
        info=info,
        api=ApiTable(
            ints(call[1] for call in calls),
            ints(call[2] for call in calls),
            small(0 for _ in calls),
            small(0 for _ in calls),
            small(range(len(calls))),
            small(names.index(call[0]) for call in calls),
            tuple(names),
            small(-1 for _ in calls),
        ),
        ops=OpTable(
            ints(op[1] for _, op in ran),
            ints(op[2] for _, op in ran),
            np.array([OpKind.MEMCPY if len(op) > 3 else OpKind.KERNEL for _, op in ran], np.int8),
            small(0 for _ in ran),
            small(0 for _ in ran),
            small(1 for _ in ran),
            small(row for row, _ in ran),
            small(-1 if len(op) > 3 else kernels.index(op[0]) for _, op in ran),
            np.zeros(len(ran), bool),
            small(row for row, _ in ran),
        ),
        copies=CopyTable(
            small(i for i, _ in copies),
            ints(op[3] for _, op in copies),
            np.full(len(copies), CopyDirection.DTOH, np.int8),
            small(MEMORIES.index("Device") for _ in copies),
            small(MEMORIES.index("Pageable") for _ in copies),
            MEMORIES,
        ),
        ranges=RangeTable(
            ints(start for _, start, _ in ranges),
            ints(end for _, _, end in ranges),
            small(0 for _ in ranges),
            small(0 for _ in ranges),
            small(texts.index(text) for text, _, _ in ranges),
            tuple(texts),
            small(0 for _ in ranges),
            ("",),
            ints(np.iinfo(np.int64).min for _ in ranges),
        ),
        processes=(Process(1, 41),),
        threads=(Thread(1, 42, 0),),
        devices=(Device(0, 0, 0, "Abacus 9"),),
        strings=tuple(kernels),
        has_api=bool(calls),
        recorder=recorder,
    )
