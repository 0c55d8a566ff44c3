"""A run being recorded: its folder, and its rows in the run database."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from launchlens.errors import LaunchlensError, StoreError
from launchlens.private import without_private
from launchlens.records.figures import Analysis, Finding, Group
from launchlens.records.forecast import Forecast
from launchlens.records.stored import RunStatus, VariantStatus
from launchlens.records.variant import VariantFacts
from launchlens.store import rows
from launchlens.store.calibration import calibration_file
from launchlens.store.database import open_database, writing
from launchlens.store.files import (
    LOGS,
    RESULTS,
    RUN_FILE,
    RUN_SCHEMA,
    TRACES,
    staged_folder,
    write_json,
    write_record,
)
from launchlens.store.forecasts import put_forecast
from launchlens.store.paths import file_stem, new_run_id
from launchlens.store.register import put_side_figures, put_trace, put_variant

if TYPE_CHECKING:
    from sqlite_utils import Database


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
    started = (now or datetime.now(UTC)).astimezone(UTC)
    document: dict[str, Any] = {
        "schema": RUN_SCHEMA,
        "id": "",
        "created": started.isoformat(timespec="seconds"),
        "finished": None,
        "status": "running",
        "reason": None,
        "model": model,
        "arguments": dict(arguments),
        "environment": _known(environment or {}),
        "commands": {},
        "variants": {},
    }
    document = without_private(document)
    is_new = not root.exists()
    with open_database(root) as db, staged_folder(root) as (staging, lock):
        if is_new:  # otherwise the runs themselves would make the next run's folder "changed"
            (root / ".gitignore").write_text("*\n", "utf-8")
        for _ in range(20):
            name = new_run_id(model, started)
            if (root / name).exists() or db.table("runs").count_where("id = ?", [name]):
                continue
            write_json(staging / RUN_FILE, document | {"id": name})
            # A kill leaves neither, or for a moment too short to see a row without its folder.
            with writing(db):
                db.table("runs").insert(rows.run_row(document | {"id": name}, name))
            staging.rename(root / name)
            return RunFolder(root, root / name, document | {"id": name}, lock)
    raise StoreError(f"No free name for a run was found in {root}.", hint="Try again.")


class RunFolder:
    """A run being recorded. Everything is saved at once, so that a kill loses little.

    The folder holds ``run.json`` and is complete in itself: the database only makes it searchable.
    It has folders for traces, for results (of the harness, figures) and for programs' logs.
    """

    def __init__(self, root: Path, folder: Path, document: dict[str, Any], lock: int) -> None:
        self.root = root
        self.folder = folder
        self.traces, self.results, self.logs = (folder / name for name in (TRACES, RESULTS, LOGS))
        self._document = document
        self._lock: int | None = lock

    @property
    def id(self) -> str:
        """The run's name, also that of its folder."""
        return self.folder.name

    @property
    def calibration(self) -> Path:
        """Where the costs of this machine are kept, if they were measured."""
        return calibration_file(self.root)

    def describe(self, environment: Mapping[str, Any]) -> None:
        """Adds what became known of the environment (columns named in `rows.ENVIRONMENT`)."""
        self._document["environment"].update(_known(environment))
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
        facts = without_private(facts)
        write_record(self.folder / file, facts)
        entry = self._document["variants"].setdefault(name, {"traces": {}})
        entry |= {"status": status, "facts": file}
        self._save(lambda db: put_variant(db, self.id, name, status, facts))

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
        self._save(lambda db: put_trace(db, self.id, variant, kind, file, analysis))

    def save_side_figures(self, variant: str, groups: Sequence[Group]) -> None:
        """Saves figures that rest on a trace and on untraced times; again replaces them.

        ``groups`` are those of the trace, with these figures alone (`comparison.side_figures`).
        """
        self._require(variant)
        self._save(lambda db: put_side_figures(db, self.id, variant, groups))

    def save_findings(self, variant: str, findings: Sequence[Finding]) -> None:
        """Keeps what stands in the way of a variant's capture; saving it again replaces that.

        Raises:
            StoreError: the variant was not saved before.
        """
        self._require(variant)
        file = f"{RESULTS}/{file_stem(variant)}.findings.json"
        write_record(self.folder / file, without_private(tuple(findings)), tuple[Finding, ...])
        self._document["variants"][variant]["findings"] = file
        self._save()

    def save_forecast(self, variant: str, forecast: Forecast) -> None:
        """Keeps what was forecast from a variant's trace; saving it again replaces that.

        Raises:
            StoreError: the variant was not saved before.
        """
        self._require(variant)
        file = f"{RESULTS}/{file_stem(variant)}.forecast.json"
        write_record(self.folder / file, without_private(forecast))
        self._document["variants"][variant]["forecast"] = file
        self._save(lambda db: put_forecast(db, self.id, variant, forecast))

    def _require(self, variant: str) -> None:
        if variant not in self._document["variants"]:
            raise StoreError(f"The run {self.id} has no variant {variant}: save it first.")

    def finish(self, status: RunStatus = "complete", reason: str | None = None) -> None:
        """Ends the run: complete, failed (it could not do its work) or incomplete (interrupted)."""
        finished = datetime.now(UTC).isoformat(timespec="seconds")
        self._document |= {"status": status, "reason": reason, "finished": finished}
        try:
            self._save()
        finally:  # on a full disk the run counts as killed once there is space again
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

    def _save(self, put: Callable[[Database], None] = lambda _db: None) -> None:
        """Writes rows and run.json; a kill between the two is mended by `register.reconcile`."""
        with open_database(self.root) as db, writing(db):
            document = without_private(self._document)
            db.table("runs").upsert(rows.run_row(document, self.id), pk="id")
            put(db)
            write_json(self.folder / RUN_FILE, document)


def _known(environment: Mapping[str, Any]) -> dict[str, Any]:
    """The environment, if all of it has columns."""
    if unknown := sorted(set(environment) - set(rows.ENVIRONMENT)):
        raise StoreError(f"The run database has no column for {', '.join(unknown)}.")
    return dict(environment)
