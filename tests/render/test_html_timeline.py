"""What the page holds of a timeline, decoded again with NumPy."""

from __future__ import annotations

import base64

import html_records as records
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from launchlens.records.timeline import Lane, Span, Timeline
from launchlens.render.html.timelines import encode_array, timeline_legend, timeline_payload


def decode(spec: dict[str, str]) -> list[int]:
    dtype = {"u1": "<u1", "u2": "<u2", "i4": "<i4", "f8": "<f8"}[spec["dtype"]]
    return np.frombuffer(base64.b64decode(spec["bdata"]), dtype).astype(np.int64).tolist()


@given(st.lists(st.integers(-(2**53), 2**53)))
def test_arrays_survive(values):
    assert decode(encode_array(values)) == values


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([], "u1"), ([255], "u1"), ([256], "u2"), ([65_536], "i4"), ([-1], "i4"), ([2**31], "f8")],
)
def test_arrays_take_the_smallest_type(values, dtype):
    assert encode_array(values)["dtype"] == dtype


def test_every_span_is_there_once_in_time_order():
    line = records.timeline("eager", 500, 17_000, 1900)
    payload = timeline_payload([line])
    for lane, made in zip(line.lanes, payload["sides"][0]["lanes"], strict=True):
        back = [
            (payload["names"][n], s, d, made["kinds"][k])
            for n, s, d, k in zip(
                *(decode(made[c]) for c in ("name", "start", "duration", "kind")), strict=True
            )
        ]
        assert sorted(back) == sorted(
            (s.name, s.start_ns, s.duration_ns, s.kind) for s in lane.spans
        )
        assert decode(made["start"]) == sorted(decode(made["start"]))


def test_one_axis_for_all_sides():
    payload = timeline_payload(records.timelines(100))
    assert payload["span_ns"] == max(t.window_ns for t in records.timelines(100))
    assert [side["label"] for side in payload["sides"]] == ["eager", "cudagraph"]


def test_legend_names_what_occurs_and_nothing_else():
    lanes = (
        Lane("calls", "host", (Span("c", 0, 1, "launch"),)),
        Lane("gaps", "gap", (Span("g", 0, 1, "sync"), Span("g", 1, 1, "host"))),
    )
    legend = timeline_legend([Timeline("eager", 0, "prefill", "prefill", 2, lanes)])
    assert [(title, [words for _, words in entries]) for title, entries in legend] == [
        ("CUDA calls on the CPU", ["launch call"]),
        (
            "GPU idle, by cause",
            [
                "host: the CPU was busy elsewhere",
                "sync: inside a synchronize call or a blocking copy",
            ],
        ),
    ]
