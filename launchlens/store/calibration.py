"""Costs of launches and graphs that were measured on this machine, kept beside its runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from launchlens.errors import StoreError, reason_of
from launchlens.store.files import write_json

_FILE = "calibration.json"


def calibration_file(root: Path) -> Path:
    """Where the costs of this machine are kept."""
    return root / _FILE


def keep_calibration(path: Path, costs: dict[str, Any]) -> None:
    """Write them, in place of older ones.

    Raises:
        StoreError: they cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path.parent} cannot be made: {reason_of(error)}.") from error
    write_json(path, costs)
