"""What a user names that is no file: a stored run, or one of its variants."""

from __future__ import annotations

from pathlib import Path

from launchlens.errors import StoreError, TraceError
from launchlens.records.stored import StoredRun, StoredVariant
from launchlens.suggestions import did_you_mean, near_files, near_names


def find_variant(reference: str, runs: Path | None) -> StoredVariant:
    """The stored variant that ``RUN:variant`` means, or ``RUN`` where it has only one.

    RUN is a run's name, its beginning or end, "latest", the path of a run folder or of a folder of
    runs; ``runs`` is the folder of stored runs, as the option says.

    Raises:
        TraceError: it names neither a file nor a run; the nearest of both are told.
        StoreError: the run has no such variant, or several and none is named.
    """
    from launchlens.store import resolve, runs_root

    root = runs_root(runs)
    _require_run(reference, root)
    return resolve(root, reference)


def find_run(reference: str, runs: Path | None) -> StoredRun:
    """The stored run that RUN means.

    Raises:
        TraceError: it names neither a file nor a run.
        StoreError: several runs are meant, or its folder is damaged.
    """
    from launchlens.store import resolve_run, runs_root

    root = runs_root(runs)
    _require_run(reference, root)
    return resolve_run(root, reference)


def _require_run(reference: str, root: Path) -> None:
    """Refuse what names no run, before the store looks for its variant."""
    name = reference.partition(":")[0]
    folder = Path(name)
    if name and folder.is_dir():
        if not _holds_runs(folder) and not _is_run_of(name, root):
            raise TraceError(
                f"{name} is a folder, neither a trace nor a run nor a folder of runs.",
                hint="Name a trace in it, or RUN:VARIANT.",
            )
        return
    if not _is_run_of(name, root):
        raise _neither(reference, name, root)


def _holds_runs(folder: Path) -> bool:
    from launchlens.store.database import DATABASE
    from launchlens.store.files import RUN_FILE

    return (folder / RUN_FILE).is_file() or (folder / DATABASE).is_file()


def _is_run_of(name: str, root: Path) -> bool:
    """Whether the store would know the name; "latest" it answers for itself."""
    from launchlens.store import list_runs

    if name == "latest":
        return True
    if not name or "/" in name:
        return False
    return any(row.id.startswith(name) or row.id.endswith(f"-{name}") for row in list_runs(root))


def _neither(reference: str, name: str, root: Path) -> TraceError:
    from launchlens.trace import known_suffixes

    near = did_you_mean([*near_files(Path(reference), known_suffixes()), *_near_runs(name, root)])
    listed = ":" in reference or "/" not in reference
    other = "`launchlens runs list` shows the runs." if listed else "Check the path."
    return TraceError(
        f"{reference}: no such file, and no stored run in {root}.", hint=near or other
    )


def _near_runs(name: str, root: Path) -> list[str]:
    """Runs that have the word in their names, or names like it."""
    from launchlens.store import list_runs

    if "/" in name:
        return []
    try:
        return near_names(name, [row.id for row in list_runs(root)])
    except StoreError:
        return []
