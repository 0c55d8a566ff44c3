"""A stored run read from its folder, and the figures of its traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from launchlens.errors import StoreError, reason_of
from launchlens.records.figures import Analysis, Finding
from launchlens.records.measured import VariantFacts
from launchlens.records.stored import StoredRun, StoredTrace, StoredVariant
from launchlens.store.files import RUN_FILE, RUN_SCHEMA, inside, read_record
from launchlens.store.paths import is_abandoned


def load_run(folder: Path) -> StoredRun:
    """Reads a run from its folder alone, also one copied from another machine.

    Raises:
        StoreError: it is no run folder, or run.json is damaged or of a newer version.
    """
    path = folder / RUN_FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != RUN_SCHEMA:
            raise StoreError(
                f"{path} has schema {document['schema']}, not {RUN_SCHEMA}.",
                hint="Use the launchlens version that wrote it.",
            )
        return _stored_run(folder, document)
    except OSError as error:
        said = f"{folder} is no run folder: {RUN_FILE}: {reason_of(error)}."
        raise StoreError(said) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} is damaged: {error!r}.") from error


def load_analysis(variant: StoredVariant, kind: str | None = None) -> Analysis | None:
    """Figures of a variant's trace as they were saved; the trace itself is not opened.

    Args:
        variant: of a loaded run.
        kind: which trace; None takes the one for counts: "node", else whatever there is.

    Returns:
        The analysis, None when the variant has no such trace.

    Raises:
        StoreError: the file is missing or damaged.
    """
    if kind is None:
        kind = "node" if "node" in variant.traces else next(iter(variant.traces), None)
    trace = variant.traces.get(kind) if kind else None
    if trace is None:
        return None
    try:
        analysis: Analysis = read_record(trace.analysis_file, Analysis)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or type(error).__name__
        raise StoreError(
            f"The figures {trace.analysis_file} cannot be read: {said}.",
            hint=f"Analyze the trace again: launchlens analyze {trace.file}",
        ) from error
    return analysis


def _stored_run(folder: Path, document: dict[str, Any]) -> StoredRun:
    status = document["status"]
    if status == "running" and is_abandoned(folder):
        status = "incomplete"
    return StoredRun(
        id=document["id"],
        folder=folder,
        created=document["created"],
        finished=document["finished"],
        status=status,
        reason=document["reason"],
        model=document["model"],
        arguments=document["arguments"],
        environment=document["environment"],
        commands={name: tuple(words) for name, words in document["commands"].items()},
        variants={
            name: _stored_variant(folder, document["id"], name, entry)
            for name, entry in document["variants"].items()
        },
    )


def _stored_variant(folder: Path, run_id: str, name: str, entry: dict[str, Any]) -> StoredVariant:
    traces = {
        kind: StoredTrace(kind, inside(folder, item["file"]), inside(folder, item["analysis"]))
        for kind, item in entry["traces"].items()
    }
    found: tuple[Finding, ...] = ()
    if "findings" in entry:
        found = read_record(inside(folder, entry["findings"]), tuple[Finding, ...])
    facts: VariantFacts = read_record(inside(folder, entry["facts"]), VariantFacts)
    return StoredVariant(run_id, name, entry["status"], facts, traces, found)
