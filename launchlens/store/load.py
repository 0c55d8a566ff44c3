"""A stored run read from its folder, and the figures of its traces."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from launchlens.errors import StoreError, reason_of
from launchlens.records.figures import Finding
from launchlens.records.stored import StoredRun, StoredTrace, StoredVariant
from launchlens.records.variant import VariantFacts
from launchlens.serialize import adapter
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
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: {error!r}.") from error


def _stored_run(folder: Path, document: dict[str, Any]) -> StoredRun:
    names = {field.name for field in fields(StoredRun)} - {"schema", "folder"}
    facts = {name: document[name] for name in names}
    if facts["status"] == "running" and is_abandoned(folder):
        facts["status"] = "incomplete"
    facts["commands"] = {name: tuple(words) for name, words in facts["commands"].items()}
    facts["variants"] = {
        name: _stored_variant(folder, facts["id"], name, entry)
        for name, entry in facts["variants"].items()
    }
    run: StoredRun = adapter(StoredRun).validate_python({**facts, "folder": folder})
    return run


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
