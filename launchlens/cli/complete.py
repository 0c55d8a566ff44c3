"""What the shell offers where the Tab key is pressed: names that are known here and now."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Complete = Callable[[str], list[str]]


def complete_format(names: Sequence[str]) -> Complete:
    """Names of formats."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def complete_condition(incomplete: str) -> list[str]:
    """Metrics of ``--fail-on``, as far as the sign behind them."""
    from launchlens.limits.model import BLOCKERS

    return [name for name in (*_metrics(), BLOCKERS) if name.startswith(incomplete)]


def complete_metric(incomplete: str) -> list[str]:
    """Names of metrics."""
    return [name for name in _metrics() if name.startswith(incomplete)]


def complete_model(incomplete: str) -> list[str]:
    """Names of model presets."""
    from launchlens.harness.presets import list_presets

    return [p.name for p in list_presets() if p.name.startswith(incomplete)]


def complete_variant(incomplete: str) -> list[str]:
    """Names of the program's own variants."""
    from launchlens.harness.variants import list_variants

    return [v.name for v in list_variants() if v.name.startswith(incomplete)]


def complete_run(incomplete: str) -> list[str]:
    """Stored runs of the folder that the environment names, the newest first."""
    from launchlens.errors import LaunchlensError
    from launchlens.store import list_runs, runs_root

    try:
        names = [row.id for row in list_runs(runs_root())]
    except LaunchlensError:
        return []
    return [name for name in ("latest", *names) if name.startswith(incomplete)]


def complete_kind(incomplete: str) -> list[str]:
    """Kinds of JSON Schema."""
    from launchlens.serialize import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


def _metrics() -> list[str]:
    from launchlens.catalogue import by_name

    return list(by_name())
