"""Exports of several nsys versions, as the reader sees them."""

from __future__ import annotations

import gzip
import lzma
import os
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import zstandard
from build_trace import NSYS, TraceBuilder

from launchlens.metrics import summarize
from launchlens.records.columns import CopyDirection
from launchlens.trace import read_trace, trace_label

VERSIONS = tuple(NSYS)


def drawn(**facts):
    trace = TraceBuilder(**facts)
    trace.range("prefill#0", 0, 200)
    trace.launch(10, 15, kernel=(20, 40), name="gemm")
    trace.copy(16, 18, gpu=(45, 50))
    trace.memset(20, 22, gpu=(55, 60))
    trace.graph(30, 35, nodes=[(70, 90), (95, 120)])
    return trace


@pytest.mark.parametrize("version", VERSIONS)
def test_every_schema_gives_the_same_figures(tmp_path, version):
    analysis = summarize(read_trace(drawn(version=version).write(tmp_path / "t.sqlite")))
    newest = summarize(read_trace(drawn().write(tmp_path / "newest.sqlite")))
    assert analysis.steps == newest.steps
    assert analysis.steps[0].busy_ns == 20 + 5 + 5 + 20 + 25
    assert (analysis.trace.nsys_version, analysis.trace.export_schema) == (NSYS[version], version)


@pytest.mark.parametrize(
    ("version", "mode", "expected"),
    [("3.0.0", "Graph", None), ("3.7.2", "Graph", "graph"), ("3.20.3", "Node", "node")],
)
def test_the_recordings_setting_is_found_under_both_its_keys(tmp_path, version, mode, expected):
    trace = drawn(version=version, graph_mode=mode)
    info = read_trace(trace.write(tmp_path / "t.sqlite")).info
    assert info.graph_tracing == expected
    assert info.cuda_traced is (None if version == "3.0.0" else True)


def test_facts_of_the_machine(tmp_path):
    trace = drawn(gpus={0: "NVIDIA H200"})
    trace.overheads = [(0, 10), (20, 25)]
    trace.diagnostics = [(1, "a notice"), (2, "lost events"), (2, "lost  events"), (3, "bad")]
    info = read_trace(trace.write(tmp_path / "t.sqlite")).info
    assert (info.gpu, info.driver, info.cuda_driver) == ("NVIDIA H200", "580.1", "13.0")
    assert info.profiler_overhead_ns == 15
    assert [(d.severity, d.text, d.count) for d in info.diagnostics] == [
        ("warning", "lost events", 2),
        ("error", "bad", 1),
    ]
    assert (info.api_calls, info.ops, info.unlinked_ops) == (4, 5, 0)


def test_facts_that_are_not_there_stay_unknown(tmp_path):
    trace = drawn(gpus={}, drop_tables=("TARGET_INFO_SYSTEM_ENV", "META_DATA_EXPORT", "PROCESSES"))
    info = read_trace(trace.write(tmp_path / "t.sqlite")).info
    facts = (info.gpu, info.driver, info.cuda_driver, info.nsys_version, info.export_schema)
    assert facts == (None,) * 5
    assert (info.profiler_overhead_ns, info.graph_tracing) == (None, None)


@pytest.mark.parametrize(
    "dropped",
    [
        {"CUPTI_ACTIVITY_KIND_KERNEL": ("demangledName",)},  # then the short name
        {"CUPTI_ACTIVITY_KIND_RUNTIME": ("callchainId",)},
        {"NVTX_EVENTS": ("int64Value", "uint64Value", "int32Value", "uint32Value", "floatValue")},
        {"NVTX_EVENTS": ("textId", "domainId", "endGlobalTid")},
        {"CUPTI_ACTIVITY_KIND_MEMCPY": ("srcKind", "dstKind", "graphNodeId")},
    ],
)
def test_columns_that_come_and_go_are_not_needed(tmp_path, dropped):
    trace = drawn(drop_columns=dropped)
    analysis = summarize(read_trace(trace.write(tmp_path / "t.sqlite")))
    assert analysis.steps == summarize(read_trace(drawn().write(tmp_path / "all.sqlite"))).steps
    assert analysis.summary[0].kernels[0].name == "gemm"


def test_kernels_without_any_name_column_are_still_counted(tmp_path):
    names = ("demangledName", "shortName", "mangledName")
    trace = drawn(drop_columns={"CUPTI_ACTIVITY_KIND_KERNEL": names})
    (group,) = summarize(read_trace(trace.write(tmp_path / "t.sqlite"))).summary
    assert [(k.name, k.count) for k in group.kernels] == [("", 3)]


@pytest.mark.parametrize("registered", [False, True])
def test_inline_and_registered_texts(tmp_path, registered):
    trace = TraceBuilder()
    trace.range("prefill \N{GREEK SMALL LETTER ALPHA}", 0, 10, registered=registered, payload=42)
    trace.range("decode", 20, 30, registered=not registered)
    ranges = read_trace(trace.write(tmp_path / "t.sqlite")).ranges
    assert [ranges.texts[i] for i in ranges.text] == ["prefill α", "decode"]
    assert ranges.payload.tolist() == [42, np.iinfo(np.int64).min]


def test_rows_come_in_any_order(tmp_path):
    trace = drawn()
    expected = summarize(read_trace(trace.write(tmp_path / "a.sqlite"))).steps
    trace.calls.reverse()
    trace.ops.reverse()
    assert summarize(read_trace(trace.write(tmp_path / "b.sqlite"))).steps == expected


def test_a_name_that_is_not_utf8_and_an_id_without_a_string(tmp_path):
    import sqlite3

    path = drawn().write(tmp_path / "t.sqlite")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE StringIds SET value = CAST(X'ff67656d6d' AS TEXT) WHERE value = 'gemm'")
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = 999 WHERE nameId = "
                   "(SELECT id FROM StringIds WHERE value LIKE 'cudaMemset%')")  # fmt: skip
    (group,) = summarize(read_trace(path)).summary
    assert group.kernels[0].name == "\N{REPLACEMENT CHARACTER}gemm"
    assert "<string 999>" in [c.name for c in group.api_calls]


@pytest.mark.parametrize("suffix", [".sqlite", ".sqlite.gz", ".sqlite.xz", ".sqlite.zst", ".odd"])
def test_compression_is_told_by_content_and_changes_nothing(tmp_path, suffix):
    raw = drawn().write(tmp_path / "plain.sqlite").read_bytes()
    packers = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}
    packed = tmp_path / f"packed{suffix}"
    packed.write_bytes(packers.get(Path(suffix).suffix, gzip.compress)(raw))
    if suffix == ".sqlite":
        packed.write_bytes(raw)
    figures = summarize(read_trace(packed))
    assert figures.steps == summarize(read_trace(tmp_path / "plain.sqlite")).steps
    assert figures.trace.file == packed.name


def test_streams_of_several_zstd_or_gzip_frames(tmp_path):
    raw = drawn().write(tmp_path / "plain.sqlite").read_bytes()
    half = len(raw) // 2
    (tmp_path / "t.gz").write_bytes(gzip.compress(raw[:half]) + gzip.compress(raw[half:]))
    (tmp_path / "t.zst").write_bytes(
        zstandard.compress(raw[:half]) + zstandard.compress(raw[half:])
    )
    expected = summarize(read_trace(tmp_path / "plain.sqlite")).steps
    assert summarize(read_trace(tmp_path / "t.gz")).steps == expected
    assert summarize(read_trace(tmp_path / "t.zst")).steps == expected


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("gemma-4-e4b-eager.nsys2025.3.sqlite.xz", "gemma-4-e4b-eager"),
        ("gemma-4-e4b-cudagraph.node.nsys2025.3.sqlite.xz", "gemma-4-e4b-cudagraph"),
        ("run.nsys-rep", "run"),
        ("qwen3-0.6b.sqlite", "qwen3-0.6b"),
        ("trace", "trace"),
        (".sqlite", ".sqlite"),
    ],
)
def test_label_of_a_file(name, label):
    assert trace_label(Path(name)) == label


@pytest.mark.parametrize("name", [b"odd \xff.sqlite", b"?#%20 &x=1.sqlite", b"a'b\"c.sqlite"])
def test_files_of_any_name(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    analysis = summarize(read_trace(drawn().write(path)))
    assert analysis.steps[0].kernels == 3
    analysis.trace.label.encode()  # whatever the bytes were, the label can be printed


@pytest.mark.parametrize(
    ("number", "direction"),
    [
        (1, CopyDirection.HTOD),
        (2, CopyDirection.DTOH),
        (8, CopyDirection.DTOD),
        (9, CopyDirection.HTOH),
        (10, CopyDirection.PTOP),
        (3, CopyDirection.OTHER),  # host to array
    ],
)
def test_copies_have_a_direction_and_memsets_none(tmp_path, number, direction):
    """Numbers of CUpti_ActivityMemcpyKind (cupti_activity.h)."""
    trace = TraceBuilder()
    trace.copy(16, 18, gpu=(45, 50), copy_kind=number)
    trace.memset(20, 22, gpu=(55, 60))
    copies = read_trace(trace.write(tmp_path / "t.sqlite")).copies
    assert copies.direction.tolist() == [direction, CopyDirection.NONE]


def test_devices_know_their_default_streams(tmp_path):
    trace = drawn()
    trace.contexts = [(1, 0, 1)]
    (device,) = read_trace(trace.write(tmp_path / "t.sqlite")).devices
    assert device.default_streams == (7,)
    trace = drawn(drop_tables=("TARGET_INFO_CUDA_CONTEXT_INFO",))
    assert read_trace(trace.write(tmp_path / "u.sqlite")).devices[0].default_streams == ()


def test_records_are_plain_values(tmp_path):
    (step,) = summarize(read_trace(drawn().write(tmp_path / "t.sqlite"))).steps
    for name, value in asdict(step).items():
        assert value is None or isinstance(value, int | float | str | dict), name
        assert not isinstance(value, np.generic), name
