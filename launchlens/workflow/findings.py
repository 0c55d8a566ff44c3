"""Blockers of a trace, with the source lines its own call stacks give."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launchlens.records.figures import Finding
    from launchlens.workflow.load import Loaded


def findings_of(loaded: Loaded, path: Path | None) -> tuple[Finding, ...]:
    """What blocks the capture of a trace's steps.

    Args:
        loaded: the trace with its steps.
        path: the export, whose call stacks give source lines if it has any; None without.
    """
    from launchlens.blockers import find_blockers
    from launchlens.trace.stacks import read_stacks

    has_stacks = path is not None and bool((loaded.trace.api.callchain_id >= 0).any())
    stacks = read_stacks(path) if path is not None and has_stacks else None
    return find_blockers(loaded.trace, loaded.analysis.steps, stacks=stacks)
