"""Fixtures for tests with stand-ins of nsys and with the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest
from capture_fakes import EXPORT, HELP, PROFILE, SCRIPT, write_script

from launchlens.capture import find_nsys
from launchlens.errors import CaptureError


class MakeNsys(Protocol):
    def __call__(
        self,
        path: str = ...,
        *,
        version: str = ...,
        profile: str = ...,
        export: str = ...,
        export_help: str = ...,
    ) -> Path: ...


@pytest.fixture
def make_nsys(tmp_path: Path) -> MakeNsys:
    """Writes an nsys that runs the program and leaves a report, unless told otherwise."""

    def make(
        path: str = "bin/nsys",
        *,
        version: str = "2025.3.1.90-253135822126v0",
        profile: str = PROFILE,
        export: str = EXPORT,
        export_help: str = "--type= --output=",
    ) -> Path:
        text = SCRIPT.format(
            version=version, help=HELP, profile=profile, export=export, export_help=export_help
        )
        return write_script(tmp_path / path, text)

    return make


@pytest.fixture(autouse=True)
def _no_named_nsys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own $NSYS must not reach the tests of the search."""
    monkeypatch.delenv("NSYS", raising=False)


@pytest.fixture(scope="session")
def real_nsys():
    try:
        return find_nsys()
    except CaptureError as error:
        pytest.skip(f"no real nsys: {error.message}")
