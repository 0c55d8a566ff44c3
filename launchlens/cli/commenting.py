"""What a comment is made of: the comparison that was named, and the commit that was measured."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.cli.gating import SEARCHED, asks_for_blockers
from launchlens.errors import LaunchlensError, UsageError

if TYPE_CHECKING:
    from launchlens.limits import Limit
    from launchlens.records.comparison import Comparison, SideInput
    from launchlens.workflow.load import Choices

_DIRTY = " (dirty)"
_SHORT_HASH = 7


def load_report(
    references: Sequence[str],
    choices: Choices,
    runs: Path | None,
    conditions: Sequence[Limit] = (),
) -> Comparison:
    """The comparison that a user names; traces are read and compared, blockers looked for.

    Args:
        references: one comparison as JSON, or one run, or at least two traces or RUN:VARIANTs.
        choices: how steps are chosen; a JSON report has its steps already.
        runs: folder of stored runs.
        conditions: thresholds that will be held against it.

    Raises:
        UsageError: a single side; or the report does not tell what a threshold needs.
        LaunchlensError: something cannot be read.
    """
    from launchlens.comparison import compare

    reports = [reference for reference in references if reference.endswith(".json")]
    if reports:
        if len(references) > 1:
            raise UsageError(
                f"{reports[0]} is a whole comparison.", hint="Give it alone, or name only traces."
            )
        return _read_report(Path(reports[0]), conditions)
    sides, title = _sides_of(references, choices, runs)
    comparison = compare(sides, title=title)
    if asks_for_blockers(conditions):
        comparison = replace(comparison, notes=(*comparison.notes, SEARCHED))
    return comparison


def measured_commit(comparison: Comparison, named: str | None) -> str | None:
    """The commit that was measured: the one named, else the one the candidates' runs tell.

    Args:
        comparison: whose candidates are the change under review.
        named: of the command line; empty is as good as none.

    Returns:
        A hash, "-dirty" behind it when files were changed; None when it is not known, or when
        the candidates were measured at several.
    """
    recorded = {side.facts.commit for side in comparison.candidates if side.facts.commit}
    told = {commit.replace(_DIRTY, "-dirty") for commit in recorded}
    if not named:
        return told.pop() if len(told) == 1 else None
    other = [commit for commit in sorted(told) if not _is_same(commit, named)]
    if other:
        sys.stderr.write(
            f"note: --commit says {named[:_SHORT_HASH]}, the run says it was recorded at "
            f"{', '.join(other)}\n"
        )
    return named


def _is_same(recorded: str, named: str) -> bool:
    shorter, longer = sorted((recorded.removesuffix("-dirty"), named), key=len)
    return len(shorter) >= _SHORT_HASH and longer.startswith(shorter)


def _sides_of(
    references: Sequence[str], choices: Choices, runs: Path | None
) -> tuple[list[SideInput], str | None]:
    from launchlens.workflow.references import find_run
    from launchlens.workflow.sides import load_sides, side_of_variant, with_blockers

    (first, *others) = references
    if others:
        loaded = load_sides(references, choices, runs, blockers=True)
        return [side.input for side in loaded], None
    if Path(first).is_file() or ":" in first:
        raise UsageError(
            f"{first} has nothing to be compared with.",
            hint="Name a baseline before it, or a run, or a comparison as JSON.",
        )
    run = find_run(first, runs)
    if len(run.variants) < 2:
        raise UsageError(
            f"The run {run.id} has {len(run.variants) or 'no'} variant, and nothing to compare.",
            hint="Name RUN:VARIANT of another run before it.",
        )
    sides = [with_blockers(side_of_variant(v, choices)).input for v in run.variants.values()]
    return sides, (run.model or run.id).rstrip("/").rpartition("/")[2]


def _read_report(path: Path, conditions: Sequence[Limit]) -> Comparison:
    from launchlens.records.comparison import Comparison
    from launchlens.render.json_report import read_json

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LaunchlensError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise LaunchlensError(f"{path} is not a launchlens report: it is no UTF-8.") from error
    comparison = read_json(text, named=str(path))
    if not isinstance(comparison, Comparison):
        raise UsageError(
            f"{path} holds no comparison.", hint="Write one with launchlens diff --format json."
        )
    if asks_for_blockers(conditions) and SEARCHED not in comparison.notes:
        raise UsageError(
            f"{path} does not tell whether capture blockers were looked for.",
            hint="Write it with diff --fail-on blockers, or name the traces.",
        )
    return comparison
