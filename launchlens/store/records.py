"""What the store gives back: runs, their variants, their traces."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from launchlens.records.figures import Finding
    from launchlens.records.measured import VariantFacts

Status = Literal["running", "complete", "incomplete", "failed"]
VariantStatus = Literal["ok", "failed", "error"]
RUN_FILE = "run.json"
RUN_SCHEMA = "launchlens.run/1"


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A trace of a variant: where the file is, and the file with its figures."""

    kind: str
    file: Path
    analysis_file: Path


@dataclass(frozen=True, slots=True)
class StoredVariant:
    """A variant of a stored run.

    ``traces`` are by kind ("eager" has "node" alone; a captured variant "node" and "graph").
    ``findings`` are what stood in the way of its capture, where that was looked for.
    """

    run_id: str
    name: str
    status: VariantStatus
    facts: VariantFacts
    traces: Mapping[str, StoredTrace]
    findings: tuple[Finding, ...] = ()

    @property
    def reference(self) -> str:
        """How a user names it: ``RUN:variant``."""
        return f"{self.run_id}:{self.name}"


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as its folder tells it.

    Attributes:
        id: name of the folder, ``20261130-191500-gemma-4-e4b-k3f``.
        folder: where it is.
        created: when it began, ISO 8601 in UTC.
        finished: when it ended; None while running or when it was killed.
        status: running, complete, incomplete (killed or interrupted), failed.
        reason: why it failed or is incomplete.
        model: as the user named it.
        arguments: of the command line, by name.
        spec: what was asked of each variant.
        environment: GPU, driver, versions, commit: columns of the table ``runs``.
        commands: exact commands, by the name of what they did.
        variants: by name, in the order in which they ran.
    """

    id: str
    folder: Path
    created: str
    finished: str | None
    status: Status
    reason: str | None
    model: str | None
    arguments: Mapping[str, Any]
    spec: Mapping[str, Any]
    environment: Mapping[str, Any]
    commands: Mapping[str, tuple[str, ...]]
    variants: Mapping[str, StoredVariant] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A line of ``launchlens runs list``. ``missing``: the folder is gone.

    ``layers_note``: the model was shortened, and how.
    """

    id: str
    created: str
    status: Status
    reason: str | None
    model: str | None
    gpu: str | None
    git_commit: str | None
    git_dirty: bool | None
    variants: tuple[str, ...]
    failed: tuple[str, ...]
    layers_note: str | None
    missing: bool
