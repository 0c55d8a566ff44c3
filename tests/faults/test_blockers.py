"""Blockers of faulty and of real engines' traces: nothing found is not "no blockers"."""

from __future__ import annotations

import json

import pytest
from build_trace import TraceBuilder


@pytest.fixture
def blockers(cli):
    """The JSON that `blockers` prints, and the exit code of its gate."""

    def look(*arguments):
        code, out, err = cli("blockers", *arguments, "--format", "json",
                             "--fail-on", "blockers:suspected")  # fmt: skip
        return json.loads(out), code, err

    return look


def found(report):
    return [(f["rule"], f["kinds"], f["count_per_step"]) for f in report["findings"]]


def test_a_healthy_trace_is_told_from_one_that_cannot_tell(blockers, cli):
    report, code, _ = blockers("baseline")
    assert (report["findings"], report["unseen"], code) == ([], [], 0)
    assert "nothing found that would block" in cli("blockers", "baseline")[1]


def test_copies_without_rows_cannot_be_told(blockers, cli):
    report, code, err = blockers("no-gpu-rows")
    assert (report["findings"], code) == ([], 3)
    assert "6 of 6 memcpy calls" in report["unseen"][0]
    assert "unknown" in err
    out = cli("blockers", "no-gpu-rows")[1]
    assert out.startswith("no-gpu-rows: cannot tell whether anything blocks the capture")
    # The same gate of other commands does not pass either.
    code, _, err = cli("diff", "baseline", "no-gpu-rows", "--fail-on", "blockers")
    assert code == 3
    assert "6 of 6 memcpy calls" in err
    assert cli("diff", "baseline", "baseline", "--fail-on", "blockers")[0] == 0


def test_work_of_other_threads_was_not_looked_at(blockers):
    report, code, _ = blockers("launches-on-another-thread")
    assert (report["findings"], code) == ([], 3)
    assert "other threads made 8 launches and copies in each step" in report["unseen"][0]
    report, code, _ = blockers("launches-on-another-thread", "--whole")
    assert (report["unseen"], code) == ([], 0)


def test_the_whole_process_shows_blockers_of_all_threads(blockers, tmp_path):
    drawn = TraceBuilder()
    drawn.launch(10, 20, kernel=(30, 40))
    drawn.launch(25, 30, kernel=(40, 45))
    drawn.launch(12, 18, kernel=(50, 60), tid=2)
    drawn.sync(60, 70, tid=2)
    drawn.launch(72, 78, kernel=(80, 90), tid=2)
    report, code, _ = blockers(drawn.write(tmp_path / "threads.sqlite"), "--whole")
    assert found(report) == [("explicit-sync", "cudaStreamSynchronize", 1)]
    assert code == 3


def test_the_default_stream_is_the_contexts(blockers):
    """TARGET_INFO_CUDA_CONTEXT_INFO.nullStreamId is 15: one launch of each step runs there."""
    report, code, _ = blockers("default-stream-is-15")
    assert found(report) == [("legacy-stream", "work on the default stream", 1)]
    assert (report["findings"][0]["note"], code) == (None, 3)


def two_streams(contexts=()):
    drawn = TraceBuilder(contexts=list(contexts))
    drawn.range("prefill", 0, 200)
    for i, stream in enumerate((7, 9, 9)):
        at = 10 + 20 * i
        drawn.launch(at, at + 5, kernel=(at + 10, at + 15), stream=stream)
    return drawn


def test_a_default_stream_that_the_trace_does_not_tell_is_said_to_be_taken(blockers, tmp_path):
    (finding,) = blockers(two_streams().write(tmp_path / "a.sqlite"))[0]["findings"]
    assert finding["rule"] == "legacy-stream"
    assert "does not tell the number of the default stream" in finding["note"]


@pytest.mark.parametrize(
    ("api", "code", "rule"),
    [
        ("cudaStreamSynchronize_v3020", 900, "explicit-sync"),
        ("cudaMalloc_v3020", 900, "alloc"),
        ("cudaEventQuery_v3020", 907, "event-query"),
        ("cudaStreamWaitEvent_v3020", 905, "legacy-stream"),
    ],
)
def test_a_failed_capture_names_its_blocker(blockers, tmp_path, api, code, rule):
    drawn = TraceBuilder()
    for at in (0, 1000):
        drawn.range("prefill", at, at + 200)
        drawn.launch(at + 10, at + 20, kernel=(at + 30, at + 40))
    drawn.call("cudaStreamBeginCapture_v10000", 2000, 2010)
    drawn.call(api, 2020, 2030, result=code)
    drawn.call("cudaLaunchKernel_v7000", 2040, 2050, result=901)
    drawn.call("cudaStreamEndCapture_v10000", 2060, 2070, result=901)
    report, gate, _ = blockers(drawn.write(tmp_path / "failed.sqlite"))
    (finding,) = report["findings"]
    name = api.partition("_")[0]
    assert (finding["rule"], finding["confidence"], finding["kinds"]) == (rule, "confirmed", name)
    assert f"({code})" in finding["title"]
    assert "a capture failed in this trace" in report["unseen"][0]
    assert gate == 3


def test_calls_without_a_name_may_be_anything(blockers):
    report, code, _ = blockers("call-names-null")
    assert "without a name, or without a known thread" in " ".join(report["unseen"])
    assert code == 3


def test_lost_events_may_have_been_blockers(blockers):
    report, code, _ = blockers("lost-events-diagnostic")
    assert (report["findings"], code) == ([], 3)
    assert report["unseen"]


def vllm(scopes):
    """Four steps of vLLM: a synchronize while inputs are prepared, and one in the forward pass."""
    drawn = TraceBuilder()
    for i in range(4):
        at = 1000 * i
        drawn.range("execute_context_1(25)_generation_0(0)", at, at + 900)
        drawn.sync(at + 50, at + 60, api="cudaEventSynchronize_v3020")
        drawn.launch(at + 100, at + 110, kernel=(at + 120, at + 130))
        if scopes:
            drawn.range("gpu_model_runner: forward", at + 200, at + 800)
        drawn.launch(at + 210, at + 220, kernel=(at + 230, at + 240))
        drawn.sync(at + 300, at + 310, api="cudaStreamSynchronize_v3020")
        drawn.launch(at + 400, at + 410, kernel=(at + 420, at + 430))
    # A step without requests does nothing but wait.
    drawn.range("execute_context_0(0)_generation_0(0)", 4000, 4100)
    drawn.sync(4010, 4020, api="cudaEventSynchronize_v3020")
    return drawn


def test_where_the_model_scope_is_known_it_is_judged(blockers, tmp_path):
    report, _, _ = blockers(vllm(scopes=True).write(tmp_path / "scopes.sqlite"))
    assert found(report) == [("explicit-sync", "cudaStreamSynchronize", 1)]
    assert "'gpu_model_runner: forward' within each step" in " ".join(report["notes"])


def test_where_it_is_not_known_the_range_is_said_to_hold_more(blockers, tmp_path):
    report, _, _ = blockers(vllm(scopes=False).write(tmp_path / "ranges.sqlite"))
    assert sorted(found(report)) == [
        ("explicit-sync", "cudaEventSynchronize", 1),
        ("explicit-sync", "cudaStreamSynchronize", 1),
    ]
    assert "holds more than what vLLM captures" in " ".join(report["notes"])


def test_steps_that_submit_nothing_do_not_dilute_counts(blockers, tmp_path):
    """Two of three ranges only wait: in the step that works there is one synchronize."""
    drawn = TraceBuilder()
    for at in (0, 1000, 2000):
        drawn.range("prefill", at, at + 500)
        drawn.sync(at + 50, at + 60)
    drawn.launch(20, 30, kernel=(40, 50))
    drawn.launch(100, 110, kernel=(120, 130))
    report, _, _ = blockers(drawn.write(tmp_path / "empty.sqlite"))
    assert found(report) == [("explicit-sync", "cudaStreamSynchronize", 1)]


def scopes(launches):
    """Forward scopes without step ranges, with these numbers of launches."""
    drawn = TraceBuilder()
    for i, n in enumerate(launches):
        at = 10_000 * i
        drawn.range("gpu_model_runner: forward", at, at + 5000)
        for k in range(n):
            start = at + 100 * k
            drawn.launch(start, start + 10, kernel=(start + 20, start + 30))
    return drawn


def test_scopes_alone_are_not_pooled_with_the_warm_up(analyzed, tmp_path):
    found = analyzed(scopes([30, 4, 4, 4]).write(tmp_path / "pooled.sqlite"))
    (group,) = found["summary"]
    assert {stat["median"] for stat in group["metrics"].values()} == {None}
    assert "4 to 30 launches" in group["unknown_reason"]
    assert (group["kernels"], group["api_calls"], group["bound"]) == ([], [], None)
    # Each scope is known alone, and so is the group without the warm-up.
    assert [s["launches"] for s in found["steps"]] == [30, 4, 4, 4]
    (group,) = analyzed(tmp_path / "pooled.sqlite", "--skip", "1")["summary"]
    assert group["metrics"]["launches"]["median"] == 4
    assert group["metrics"]["busy_ns"]["median"] == 40


def between(cli, tmp_path, second, first=None):
    paths = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    for path, drawn in zip(paths, (first or recording(), second), strict=True):
        drawn.write(path)
    code, out, err = cli("blockers", *paths, "--format", "json", "--fail-on", "blockers")
    return json.loads(out), code, err


def recording(**changes):
    """Three steps: gemm, a copy of 8 bytes, route. ``lost``: the step whose last row is lost."""
    drawn = TraceBuilder()
    for i in range(3):
        at = 1000 * i
        drawn.range("prefill", at, at + 500)
        drawn.launch(at + 10, at + 20, kernel=(at + 30, at + 40))
        drawn.copy(at + 50, at + 55, gpu=(at + 60, at + 65), copy_kind=8,
                   size=changes.get("bytes", 8))  # fmt: skip
        if not changes.get("absent"):
            size = {"grid": (4, 1, 1), "block": (128, 1, 1), "shared": 0}
            size |= {key: changes[key] for key in size if key in changes}
            drawn.launch(at + 70, at + 80, kernel=(at + 90, at + 95), name="route", **size)
        kernel = None if changes.get("lost") == i else (at + 130, at + 140)
        drawn.launch(at + 110, at + 120, kernel=kernel)
    return drawn


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"grid": (6, 1, 1)}, "route: grid 4×1×1 and 6×1×1"),
        ({"block": (256, 1, 1)}, "route: block 128×1×1 and 256×1×1"),
        ({"shared": 1024}, "route: shared memory 0 and 1,024"),
        ({"bytes": 16}, "memcpy: bytes 8 and 16"),
        ({"absent": True}, "route: only in the first recording"),
    ],
)
def test_what_values_change_a_capture_would_freeze(cli, tmp_path, change, said):
    report, code, _ = between(cli, tmp_path, recording(**change))
    (finding,) = (f for f in report["findings"] if f["rule"] == "frozen-launch")
    assert (finding["kinds"], finding["count_per_step"]) == (said, 1)
    assert (finding["confidence"], finding["silent"], code) == ("likely", True, 3)


def test_a_row_that_was_lost_is_no_launch_that_values_changed(cli, tmp_path):
    report, code, _ = between(cli, tmp_path, recording(lost=1))
    assert (report["findings"], code) == ([], 3)
    assert "in 1 pair of prefill steps rows of launched work are missing" in " ".join(
        report["unseen"]
    )


def test_launches_without_rows_cannot_be_told(blockers, tmp_path):
    report, code, _ = blockers(recording(lost=1).write(tmp_path / "lost.sqlite"))
    assert (report["findings"], code) == ([], 3)
    assert "1 kernel launch of the steps without a kernel row" in " ".join(report["unseen"])


def test_a_launch_that_only_the_second_recording_has(cli, tmp_path):
    report, _, _ = between(cli, tmp_path, recording(), first=recording(absent=True))
    assert [f["kinds"] for f in report["findings"]] == ["route: only in the second recording"]


def test_recordings_that_are_alike_show_nothing(cli, tmp_path):
    report, code, _ = between(cli, tmp_path, recording())
    assert (report["findings"], report["unseen"], code) == ([], [], 0)
    said = "compared with b: 3 steps launch the same kernels with the same sizes."
    assert report["notes"][0] == said


def test_recordings_of_other_lengths_leave_steps_untold(cli, tmp_path):
    longer = recording()
    longer.range("prefill", 5000, 5500)
    longer.launch(5010, 5020, kernel=(5030, 5040))
    report, code, _ = between(cli, tmp_path, longer)
    assert (report["findings"], code) == ([], 3)
    assert "1 prefill step without an eager step of the same shape" in report["unseen"][0]
