"""Stored runs: what `launchlens.store` gives back of runs, their variants, their traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from launchlens.records.figures import Finding
from launchlens.records.variant import VariantFacts, shortened

RunStatus = Literal["running", "complete", "incomplete", "failed"]
VariantStatus = Literal["ok", "failed", "error"]


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A trace of a variant: where the file is, and the file with its figures."""

    kind: str
    """How graphs were traced: `node`, `graph`, or `none` where there are none."""
    file: Path
    """The trace."""
    analysis_file: Path
    """Its figures, as `launchlens analyze --format json` gives them."""


@dataclass(frozen=True, slots=True)
class StoredVariant:
    """A variant of a stored run."""

    run_id: str
    """Name of its run."""
    name: str
    """Name of the variant, unique in the run."""
    status: VariantStatus
    """`ok`; `failed`: could not be captured, which is a result; `error`: could not be measured."""
    facts: VariantFacts
    """How it was run and timed."""
    traces: Mapping[str, StoredTrace]
    """Its traces by kind: `eager` has `node` alone, a captured variant `node` and `graph`."""
    findings: tuple[Finding, ...] = ()
    """What stood in the way of its capture, where that was looked for."""

    @property
    def reference(self) -> str:
        """How a user names it: ``RUN:variant``."""
        return f"{self.run_id}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run as its folder tells it: the JSON object of ``launchlens runs show --format json``."""

    schema: Literal["launchlens.stored-run/1"] = "launchlens.stored-run/1"
    """Name and version of this layout."""
    id: str
    """Name of the run and of its folder: time in UTC, model, three random characters."""
    folder: Path
    """Where it is."""
    created: str
    """When it began, ISO 8601 in UTC."""
    finished: str | None
    """When it ended; null while it runs and after it was killed."""
    status: RunStatus
    """`running`, `complete`, `incomplete` (killed or interrupted) or `failed`."""
    reason: str | None
    """Why it failed or is incomplete."""
    model: str | None
    """Model as the user named it."""
    arguments: Mapping[str, Any]
    """Arguments of the command line, by name."""
    environment: Mapping[str, Any]
    """GPU, driver, versions and commit: columns of the table `runs`."""
    commands: Mapping[str, tuple[str, ...]]
    """Exact commands, by the name of what they did."""
    variants: Mapping[str, StoredVariant]
    """Variants by name, in the order in which they ran."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A line of ``launchlens runs list``."""

    id: str
    """Name of the run and of its folder."""
    created: str
    """When it began, ISO 8601 in UTC."""
    status: RunStatus
    """`running`, `complete`, `incomplete` (killed or interrupted) or `failed`."""
    reason: str | None
    """Why it failed or is incomplete."""
    model: str | None
    """Model as the user named it."""
    gpu: str | None
    """GPU name."""
    git_commit: str | None
    """Full hash of the working folder's commit."""
    git_dirty: bool | None
    """Whether files were changed or untracked."""
    variants: tuple[str, ...]
    """Names of its variants, in the order in which they ran."""
    failed: tuple[str, ...]
    """Those of them that are not `ok`."""
    layers_note: str | None
    """Said when the model was shortened."""
    layers: int | None
    """Layers that it was built with."""
    model_layers: int | None
    """Layers that the whole model has."""
    missing: bool
    """Whether the run's folder is gone."""

    @property
    def shortened(self) -> str | None:
        """How the model was shortened, in few words; None where it is whole."""
        return shortened(self.layers_note, self.layers, self.model_layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """All stored runs: the JSON object of ``launchlens runs list --format json``."""

    schema: Literal["launchlens.runs/1"] = "launchlens.runs/1"
    """Name and version of this layout."""
    runs: tuple[RunRow, ...]
    """The runs, newest first."""
