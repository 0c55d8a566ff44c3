"""Comparisons from what the user names: sides, a stored run, or a report written before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from launchlens.errors import LaunchlensError, UsageError, reason_of
from launchlens.records.commit import Commit
from launchlens.records.comparison import Comparison
from launchlens.suggestions import did_you_mean, near_files, near_names
from launchlens.text_files import read_text_file
from launchlens.workflow.blockers import mark_searched
from launchlens.workflow.load import Choices
from launchlens.workflow.sides import LoadedSide, load_sides, side_of_variant, with_blockers

_BLANKS = b" \t\r\n"


def compare_sides(
    sides: Sequence[LoadedSide], *, title: str | None = None, blockers: bool = False
) -> Comparison:
    """Sides beside one another, the baseline first; one alone has figures and no differences.

    ``blockers``: whether capture blockers were looked for, which the report then says.
    """
    from launchlens.comparison import tabulate

    comparison = tabulate([side.input for side in sides], title=title)
    unseen = [why for side in comparison.sides for why in side.blockers_unseen]
    return mark_searched(comparison, unseen) if blockers else comparison


def load_comparison(
    references: Sequence[str], choices: Choices, runs: Path | None, *, blockers: bool = False
) -> Comparison:
    """The comparison that a user names; traces are read and compared, blockers looked for.

    Args:
        references: one comparison as JSON, or one run, or at least two traces or RUN:VARIANTs.
        choices: how steps are chosen; a JSON report has its steps already.
        runs: folder of stored runs.
        blockers: whether a limit asks for blockers, so that a report must tell whether they were
            looked for.

    Raises:
        UsageError: a single side; or the report does not tell of blockers.
        LaunchlensError: something cannot be read.
    """
    reports = [one for one in references if _is_report(Path(one), alone=len(references) == 1)]
    if not reports:
        sides, title = _sides_of(references, choices, runs)
        return compare_sides(sides, title=title, blockers=blockers)
    if len(references) > 1:
        raise UsageError(
            f"{reports[0]} is a report, a whole comparison.",
            hint="Give it alone, or name only traces and runs.",
        )
    comparison = read_comparison(Path(reports[0]))
    if blockers and not comparison.blockers_searched:
        raise UsageError(
            f"{reports[0]} does not tell whether capture blockers were looked for.",
            hint="Write it with diff --fail-on blockers, or name the traces.",
        )
    return comparison


def read_comparison(path: Path) -> Comparison:
    """A comparison that was written as JSON; its changes and verdicts are worked out again.

    Raises:
        LaunchlensError: the file does not hold one.
    """
    from launchlens.comparison import recompute
    from launchlens.records.comparison import Comparison
    from launchlens.serialize import from_json

    try:
        text = read_text_file(path)
    except OSError as error:
        near = did_you_mean(near_files(path)) if isinstance(error, FileNotFoundError) else None
        raise LaunchlensError(f"{path} cannot be read: {reason_of(error)}.", hint=near) from error
    except UnicodeDecodeError as error:
        raise LaunchlensError(f"{path} is not a launchlens report: it is no UTF-8.") from error
    comparison = from_json(text, named=str(path))
    if not isinstance(comparison, Comparison):
        raise UsageError(
            f"{path} holds no comparison.", hint="Write one with launchlens diff --format json."
        )
    return recompute(comparison, named=str(path))


def _is_report(path: Path, *, alone: bool) -> bool:
    """Whether a file is no trace of any format, and JSON where it does not stand alone."""
    from launchlens.trace import is_trace

    if not path.is_file():
        return False
    try:
        with path.open("rb") as source:
            head = source.read(64)
        return (alone or head.lstrip(_BLANKS).startswith(b"{")) and not is_trace(path)
    except OSError:
        return False  # said where it is read


def parse_metrics(option: str, text: str) -> tuple[str, ...]:
    """Metrics of a comparison's tables, with commas between them.

    Raises:
        UsageError: a name is none; the nearest are told.
    """
    from launchlens.catalogue import metrics

    known = [metric.name for metric in metrics() if metric.owner != "request"]
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names or [text]:
        if name not in known:
            near = did_you_mean(near_names(name, known))
            raise UsageError(
                f"{option} {name}: no metric of a comparison's tables has this name.",
                hint=near
                or "Names are such as launches, idle, window_ns; docs/definitions.md lists them.",
            )
    return tuple(dict.fromkeys(names))


def measured_commits(comparison: Comparison) -> list[Commit]:
    """Commits at which the candidates were measured."""
    facts = [side.facts for side in comparison.candidates]
    found = {Commit(one.commit, bool(one.dirty)) for one in facts if one.commit}
    return sorted(found, key=lambda commit: (commit.sha, commit.dirty))


def _sides_of(
    references: Sequence[str], choices: Choices, runs: Path | None
) -> tuple[list[LoadedSide], str | None]:
    from launchlens.workflow.references import find_run

    (first, *others) = references
    if others:
        return load_sides(references, choices, runs, blockers=True), None
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
    sides = [with_blockers(side_of_variant(v, choices)) for v in run.variants.values()]
    return sides, (run.model or run.id).rstrip("/").rpartition("/")[2]
