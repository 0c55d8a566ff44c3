"""A run being recorded: its folder, and its rows in the run database."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from launchlens.errors import LaunchlensError, StoreError
from launchlens.records.figures import Analysis, Finding, Group
from launchlens.records.stored import RunStatus, VariantStatus
from launchlens.records.variant import VariantFacts
from launchlens.store import rows
from launchlens.store.database import open_database, writing
from launchlens.store.files import (
    LOGS,
    RESULTS,
    RUN_FILE,
    RUN_SCHEMA,
    TRACES,
    make_folder,
    write_json,
    write_record,
)
from launchlens.store.paths import file_stem, hold_lock


def create_run(
    root: Path,
    *,
    model: str,
    arguments: Mapping[str, Any],
    environment: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> RunFolder:
    """Makes a run's folder and its row, status "running".

    Args:
        root: the runs root (see `runs_root`); made if it is missing.
        model: as the user named it; part of the folder's name.
        arguments: of the command line, by name; JSON values.
        environment: what is known so far of `rows.ENVIRONMENT`.
        now: the time it began, for tests; None takes the clock.

    Returns:
        The run, to be used as a context manager: an error marks it failed, Ctrl-C incomplete.

    Raises:
        StoreError: the folder or the database cannot be written.
    """
    started = now or datetime.now(UTC)
    folder = make_folder(root, model, started)
    run = RunFolder(
        root,
        folder,
        {
            "schema": RUN_SCHEMA,
            "id": folder.name,
            "created": started.astimezone(UTC).isoformat(timespec="seconds"),
            "finished": None,
            "status": "running",
            "reason": None,
            "model": model,
            "arguments": dict(arguments),
            "environment": {},
            "commands": {},
            "variants": {},
        },
    )
    run.describe(environment or {})
    return run


class RunFolder:
    """A run being recorded. Everything is saved at once, so that a kill loses little.

    The folder holds ``run.json`` and is complete in itself: the database only makes it searchable.
    It has folders for traces, for results (of the harness, figures) and for programs' logs.
    """

    def __init__(self, root: Path, folder: Path, document: dict[str, Any]) -> None:
        self.root = root
        self.folder = folder
        self.traces, self.results, self.logs = (folder / name for name in (TRACES, RESULTS, LOGS))
        self._document = document
        self._lock: int | None = hold_lock(folder)

    @property
    def id(self) -> str:
        """The run's name, also that of its folder."""
        return self.folder.name

    def describe(self, environment: Mapping[str, Any]) -> None:
        """Adds what became known of the environment (columns named in `rows.ENVIRONMENT`)."""
        unknown = sorted(set(environment) - set(rows.ENVIRONMENT))
        if unknown:
            raise StoreError(f"The run database has no column for {', '.join(unknown)}.")
        self._document["environment"].update(environment)
        self._save()

    def record_command(self, name: str, command: Sequence[str | Path]) -> None:
        """Keeps an exact command, under the name of what it did ("eager: trace")."""
        self._document["commands"][name] = [str(word) for word in command]
        self._save()

    def save_variant(self, name: str, status: VariantStatus, facts: VariantFacts) -> None:
        """Saves how a variant was run, timed, or failed; saving it again replaces that.

        ``status`` is "ok", "failed" (could not be captured: a result) or "error" (not measured).
        """
        file = f"{RESULTS}/{file_stem(name)}.facts.json"
        write_record(self.folder / file, facts)
        entry = self._document["variants"].setdefault(name, {"traces": {}})
        entry |= {"status": status, "facts": file}
        key = rows.variant_id(self.id, name)
        with open_database(self.root) as db, writing(db):
            row = rows.variant_row(self.id, name, status, facts)
            # An upsert, not a replacement: that would cascade to the variant's steps.
            db.table("variants").upsert(row, pk="id")
            for table, lines in (
                ("requests", rows.request_rows(key, facts)),
                ("equivalence", rows.equivalence_rows(key, facts)),
            ):
                db.table(table).delete_where("variant_id = ?", [key])
                db.table(table).insert_all(lines)
            where = "variant_id = ? AND trace_kind = ?"
            db.table("figures").delete_where(where, [key, rows.UNTRACED])
            db.table("figures").insert_all(rows.untraced_rows(key, facts))
        self._save()

    def save_steps(self, variant: str, kind: str, trace: Path, analysis: Analysis) -> None:
        """Saves a trace's figures, all steps and medians; saving them again replaces them.

        ``kind`` is how graphs were traced: "node" or "graph" ("none" where there are none).

        Raises:
            StoreError: the variant was not saved before, or the trace lies outside the folder.
        """
        self._require(variant)
        try:
            file = trace.resolve().relative_to(self.folder.resolve()).as_posix()
        except ValueError:
            raise StoreError(f"The trace {trace} lies outside of the run {self.id}.") from None
        figures = f"{RESULTS}/{file_stem(variant)}.{file_stem(kind)}.analysis.json"
        write_record(self.folder / figures, analysis)
        traces = self._document["variants"][variant]["traces"]
        traces[kind] = {"file": file, "analysis": figures}
        key = rows.variant_id(self.id, variant)
        with open_database(self.root) as db, writing(db):
            for table in ("traces", "steps", "figures"):
                db.table(table).delete_where("variant_id = ? AND trace_kind = ?", [key, kind])
            db.table("traces").insert(rows.trace_row(key, kind, file, analysis.trace))
            db.table("steps").insert_all(
                rows.step_row(self.id, variant, kind, row, step)
                for row, step in enumerate(analysis.steps)
            )
            db.table("figures").insert_all(rows.figure_rows(key, kind, analysis.summary))
        self._save()

    def save_side_figures(self, variant: str, groups: Sequence[Group]) -> None:
        """Saves figures that rest on a trace and on untraced times; again replaces them.

        ``groups`` are those of the trace, with these figures alone (`comparison.side_figures`).
        """
        self._require(variant)
        key = rows.variant_id(self.id, variant)
        with open_database(self.root) as db, writing(db):
            figures = db.table("figures")
            figures.delete_where("variant_id = ? AND trace_kind = ?", [key, rows.BOTH])
            figures.insert_all(
                row
                for row in rows.figure_rows(key, rows.BOTH, groups)
                if row["metric"] != rows.UNTRACED_METRIC
            )

    def save_findings(self, variant: str, findings: Sequence[Finding]) -> None:
        """Keeps what stands in the way of a variant's capture; saving it again replaces that.

        Raises:
            StoreError: the variant was not saved before.
        """
        self._require(variant)
        file = f"{RESULTS}/{file_stem(variant)}.findings.json"
        write_record(self.folder / file, tuple(findings), tuple[Finding, ...])
        self._document["variants"][variant]["findings"] = file
        self._save()

    def _require(self, variant: str) -> None:
        if variant not in self._document["variants"]:
            raise StoreError(f"The run {self.id} has no variant {variant}: save it first.")

    def finish(self, status: RunStatus = "complete", reason: str | None = None) -> None:
        """Ends the run: complete, failed (it could not do its work) or incomplete (interrupted)."""
        self._document |= {"status": status, "reason": reason, "finished": _now()}
        self._save()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._document["status"] != "running":
            return
        if error is None:
            self.finish()
        elif isinstance(error, LaunchlensError):
            self.finish("failed", error.message)
        elif isinstance(error, Exception):
            self.finish("failed", f"{type(error).__name__}: {error}")
        else:
            self.finish("incomplete", "interrupted")

    def _save(self) -> None:
        write_json(self.folder / RUN_FILE, self._document)
        with open_database(self.root) as db, writing(db):
            row = rows.run_row(self._document, self.folder.name)
            db.table("runs").upsert(row, pk="id")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
