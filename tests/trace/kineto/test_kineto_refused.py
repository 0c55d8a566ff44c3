"""What is no trace of torch.profiler's, or only half of one, ends in one sentence."""

from __future__ import annotations

import contextlib
import gzip
import json
import random

import pytest
from kineto_events import annotation, call, document, numbers_of, ran, text, two_steps
from typed import run

from launchlens.errors import TraceError
from launchlens.metrics import summarize
from launchlens.trace import is_trace, read_trace


def refusal(path):
    with pytest.raises(TraceError) as told:
        read_trace(path)
    said = str(told.value)
    assert str(path) in said
    assert len(said) < 600
    return said


def test_a_killed_profiler(write):
    """Wherever the file ends: never some of the steps as if they were all."""
    content = text(two_steps()).encode()
    begun = content.index(b"traceEvents")
    ends = {begun + 14, begun + 20, len(content) - 1, len(content) - 30}
    ends |= set(random.Random(5).sample(range(begun, len(content)), 60))
    for end in ends:
        assert "ends in the middle" in refusal(write.raw(content[:end])), end


def test_a_killed_profiler_of_a_big_trace(write, monkeypatch):
    from launchlens.trace.formats.kineto import pieces

    monkeypatch.setattr(pieces, "_PIECE_BYTES", 300)
    content = text(two_steps()).encode()
    assert "ends in the middle" in refusal(write.raw(content[:-400]))


def test_no_events(write):
    facts = {k: v for k, v in document([]).items() if k != "traceEvents"}
    path = write.raw(json.dumps(facts).encode())
    assert "holds no list of events" in refusal(path)
    assert "holds no list of events" in refusal(write.raw(b'{"traceEvents": {"a": 1}}'))
    assert "holds 0 events" in refusal(write([]))


def test_events_of_other_programs(write):
    """Such as a timeline that launchlens itself wrote for Perfetto."""
    other = {"ph": "X", "cat": "host,call", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1}
    said = refusal(
        write.raw(json.dumps({"displayTimeUnit": "ns", "traceEvents": [other]}).encode())
    )
    assert "none that torch.profiler writes" in said


@pytest.mark.parametrize(
    "content",
    [b"{}", b"[]", b"", b"{", b"[1, 2]", b'{"schema": "launchlens.analysis/1"}', b"no JSON at all"],
)
def test_other_json(write, content):
    path = write.raw(content, "other.json")
    refusal(path)
    assert not content or not is_trace(path)


def test_a_report_of_launchlens_is_no_trace(write, tmp_path):
    trace = write(two_steps())
    report = tmp_path / "report.json"
    run("analyze", trace, "-f", "json", "-o", report)
    assert not is_trace(report)
    assert "not a trace" in refusal(report)
    # A report may be replaced, a trace may not.
    assert run("analyze", trace, "-f", "json", "-o", report).returncode == 0
    assert run("analyze", trace, "-f", "json", "-o", trace).returncode != 0
    assert summarize(read_trace(trace)).steps


def test_text_that_is_no_json_in_the_middle(write):
    content = text(two_steps()).replace('"name": "norm"', '"name": norm', 1)
    said = refusal(write.raw(content.encode()))
    assert "is no JSON from byte" in said


def test_ten_million_brackets(write):
    deep = b"[" * 10_000_000
    content = text(two_steps()).encode()
    begin = content.index(b'"args"')
    for nested in (deep, deep + b"]" * 10_000_000, b'{"a":' * 3_000_000):
        said = refusal(write.raw(content[:begin] + b'"deep": ' + nested + b", " + content[begin:]))
        assert "nested too deeply" in said
    assert "nested too deeply" in refusal(write.raw(b'{"schemaVersion": ' + deep))


def test_gzip_with_trailing_bytes(write):
    packed = gzip.compress(text(two_steps()).encode())
    assert "damaged" in refusal(write.raw(packed + b"and more", "trace.json.gz"))
    assert "damaged" in refusal(write.raw(packed[:-20], "trace.json.gz"))
    padded = write.raw(packed + b"\0" * 512, "trace.json.gz")  # as tape and some copies leave it
    assert len(summarize(read_trace(padded)).steps) == 2


def test_processes_that_cannot_be_told_apart(write):
    other = [
        annotation("prefill", 0, 9_000, pid=5000, tid=5000),
        call("cudaLaunchKernel", 100, 200, 1, pid=5000, tid=5000),
        ran("gemm", 1_000, 2_000, 1),
    ]
    said = refusal(write([*two_steps(), *other]))
    assert "2 processes whose correlation ids are alike" in said


def test_no_gpu_is_unknown_and_told(write):
    """A recording without ProfilerActivity.CUDA: ranges, and no figure of the device."""
    ranges = [e for e in two_steps() if e["cat"] == "user_annotation"]
    trace = read_trace(write(ranges))
    step = summarize(trace).steps[0]
    assert (step.launches, step.kernels, step.busy_ns, step.idle) == (None, None, None, None)
    assert "ProfilerActivity.CUDA" in step.unknown_reason


def test_nothing_is_lost_at_any_damage(write):
    """One byte changed: the same figures, or figures that say what is missing, or a sentence."""
    content = bytearray(numbers_of(json.dumps(document(two_steps()))).encode())
    chance = random.Random(11)
    for _ in range(300):
        at = chance.randrange(len(content))
        damaged = bytearray(content)
        damaged[at] = chance.randrange(256)
        with contextlib.suppress(TraceError):
            summarize(read_trace(write.raw(bytes(damaged))))
