"""What the page holds of a timeline, put together again."""

from __future__ import annotations

import html_records as records
from hypothesis import given
from hypothesis import strategies as st

from launchlens.kernel_names import short_names
from launchlens.records.timeline import Lane, Span, Timeline
from launchlens.render.html.palette import SIDE_COLOURS
from launchlens.render.html.timelines import timeline_legend, timeline_payload


def sums(differences):
    total, found = 0, []
    for by in differences:
        total += by
        found.append(total)
    return found


def made_of(*spans, role="stream", window=1000):
    lane = Lane("a lane", role, spans)
    return Timeline("eager", 0, "prefill", "prefill", window, (lane,))


@given(
    st.lists(
        st.builds(
            Span,
            st.text(max_size=3),
            st.integers(-(2**53), 2**53),
            st.integers(0, 2**53),
            st.sampled_from(["kernel", "memcpy", "unheard of"]),
            st.none() | st.integers(0, 2**40),
        ),
        min_size=1,
    )
)
def test_every_span_is_there_once_in_time_order(spans):
    payload = timeline_payload([made_of(*spans)])
    (lane,) = payload["sides"][0]["lanes"]
    back = [
        (s, d, lane["kinds"][k], None if i < 0 else i)
        for s, d, k, i in zip(
            sums(lane["start"]), lane["duration"], lane["kind"], sums(lane["id"]), strict=True
        )
    ]
    assert sorted(back, key=str) == sorted(
        ((s.start_ns, s.duration_ns, s.kind, s.correlation_id) for s in spans), key=str
    )
    assert [start for start, *_ in back] == sorted(start for start, *_ in back)


def test_names_are_there_once_whole_and_short():
    payload = timeline_payload(records.timelines(100))
    assert len(set(payload["names"])) == len(payload["names"])
    short = dict(zip(payload["names"], payload["short"], strict=True))
    assert short[records.ADD] == short_names([records.ADD])[records.ADD]
    assert len(short[records.ADD]) < 60 < len(records.ADD)
    assert short["cudaLaunchKernel"] == "cudaLaunchKernel"


def test_a_gap_is_named_after_the_kernel_behind_it():
    gap = Span(records.ADD, 0, 10, "host", prefix="idle before ")
    payload = timeline_payload([made_of(gap, role="gap")])
    assert payload["names"] == [f"idle before {records.ADD}"]
    assert payload["short"] == [f"idle before {short_names([records.ADD])[records.ADD]}"]


def test_sides_keep_the_colours_they_have_in_the_report():
    sides = timeline_payload(records.timelines(10))["sides"]
    assert [side["colour"] for side in sides] == list(SIDE_COLOURS[:2])
    sides = timeline_payload(records.timelines(10), (0, 3))["sides"]
    assert sides[1]["colour"] == SIDE_COLOURS[3]


def test_ranges_that_say_nothing_are_folded():
    def folded(*spans, role="range"):
        return timeline_payload([made_of(*spans, role=role)])["sides"][0]["lanes"][0]["folded"]

    around, sliver = Span("prefill", 0, 1000, "range"), Span("scan", 5, 1, "range")
    assert folded(around)
    assert folded(sliver, sliver)
    assert not folded(Span("a", 0, 400, "range"), Span("b", 400, 400, "range"))
    assert not folded(sliver, role="stream")


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
            ["idle: Python, framework", "idle: synchronization"],
        ),
    ]
