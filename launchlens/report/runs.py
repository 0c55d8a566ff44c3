"""Stored runs as documents: the table of all, one run in full."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from launchlens.records.stored import RunList, RunRow, StoredRun, StoredVariant
from launchlens.report.cells import Value
from launchlens.report.document import (
    Block,
    Column,
    Document,
    Facts,
    Findings,
    Row,
    Section,
    Table,
    Text,
)
from launchlens.report.findings import describe_failure, finding_item
from launchlens.report.words import plain, value

_HASH = 7
_FACTS = (
    ("GPU", "gpu"),
    ("driver", "driver"),
    ("nsys", "nsys"),
    ("CUDA", "cuda"),
    ("torch", "torch"),
    ("transformers", "transformers"),
    ("Python", "python"),
)


def runs_document(rows: Sequence[RunRow], folder: str = "") -> Document:
    """All runs as a table, the newest first; ``folder`` is named where there are none."""
    none = f"There are no runs in {folder}. `launchlens profile` makes one."
    columns = (
        *(Column(title, "whole") for title in ("run", "status")),
        Column("variants", "text"),
        *(Column(title, "whole") for title in ("commit", "model", "GPU")),
    )
    table = Table("", columns, tuple(_run_row(row) for row in rows))
    shown = table if rows else Text((none,), "log")  # a path is not folded
    return Document(
        kind="runs",
        title="launchlens: stored runs",
        sections=(Section("runs", "Stored runs", (shown,)),),
        record=RunList(runs=tuple(rows)),
    )


def _run_row(row: RunRow) -> Row:
    ran = ", ".join(f"{v} (failed)" if v in row.failed else v for v in row.variants) or "none"
    if row.shortened:  # in a column that stays, however narrow the terminal
        ran += f" ({row.shortened})"
    status = "folder gone" if row.missing else row.status
    commit = _commit(row.git_commit, row.git_dirty)
    return Row((row.id, status, ran, commit, row.model or "", row.gpu or ""))


def run_document(run: StoredRun) -> Document:
    """One run in full. Its commands stand at the end, a line each, to be copied."""
    blocks: list[Block] = [_facts(run)]
    if run.variants:
        blocks.append(_variants(run))
    for variant in run.variants.values():
        blocks += _failure(variant)
    traces = tuple(
        f"  {variant.reference}  {trace.kind}  {trace.file}"
        for variant in run.variants.values()
        for trace in variant.traces.values()
    )
    commands = tuple(
        line
        for name, words in run.commands.items()
        for line in (f"  # {name}", f"  {shlex.join(words)}")
    )
    blocks += [
        Text(lines, "log", title=title)
        for title, lines in (("traces", traces), ("commands", commands))
        if lines
    ]
    return Document(
        kind="run",
        title=f"launchlens: {run.id}",
        answers=(run.id,),
        sections=(Section("run", "The run", tuple(blocks)),),
        record=run,
    )


def _facts(run: StoredRun) -> Facts:
    known = run.environment
    facts: list[tuple[str, Any]] = [
        ("status", f"{run.status}: {run.reason}" if run.reason else run.status),
        ("began", run.created),
        ("ended", run.finished),
        ("model", run.model),
        ("layers", next((n for v in run.variants.values() if (n := v.facts.layers_note)), None)),
        *((title, known.get(name)) for title, name in _FACTS),
        ("commit", _commit(known.get("git_commit"), known.get("git_dirty"), whole=True)),
        ("folder", run.folder),
    ]
    return Facts("", tuple((title, str(fact)) for title, fact in facts if fact), "main")


def _variants(run: StoredRun) -> Table:
    titles = ("variant", "status", "untraced step", "peak memory", "traces")
    columns = tuple(Column(title, "text") for title in titles)
    return Table("", columns, tuple(_variant_row(one) for one in run.variants.values()))


def _variant_row(variant: StoredVariant) -> Row:
    facts = variant.facts
    several = len(facts.untraced) > 1
    walls = [
        value(Value(wall.wall_ns.median, "ns")) + (f" ({wall.phase})" if several else "")
        for wall in facts.untraced
    ]
    memory = Value(facts.peak_memory_bytes, "bytes", instead="not measured")
    untraced, traces = ", ".join(walls) or "not measured", ", ".join(variant.traces) or "none"
    return Row((variant.name, variant.status, untraced, memory, traces))


def _failure(variant: StoredVariant) -> list[Block]:
    failure = variant.facts.failure
    if failure is None:
        return []
    lines = (describe_failure(variant.name, failure), failure.hint or "")
    blocks: list[Block] = [Text(tuple(line for line in lines if line))]
    if variant.findings:
        blocks.append(Findings("", tuple(finding_item(f) for f in variant.findings), True))
    return blocks


def _commit(commit: str | None, dirty: bool | None, *, whole: bool = False) -> str:
    """A hash, with "+" behind it when files were changed."""
    if not commit:
        return ""
    if whole:
        return f"{commit}, with files changed" if dirty else commit
    return plain(commit[:_HASH]) + ("+" if dirty else "")
