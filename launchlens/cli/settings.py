r"""Settings of a folder: what its ``launchlens.toml`` says where the command line says nothing.

[settings]
format = "markdown"    # of reports that no --format and no suffix decides
runs = "bench/runs"    # the folder of stored runs, from this file's folder on
nsys = "/opt/nsight/bin/nsys"
step = '^decode \\d+$'  # ranges that are steps, as --step
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from launchlens.errors import UsageError, reason_of
from launchlens.project_file import PROJECT_FILE, SETTINGS_TABLE, TABLES
from launchlens.suggestions import did_you_mean, near_names

SETTINGS_VARIABLE = "LAUNCHLENS_SETTINGS"
"""Names another file; empty: none is read."""

_OWN_VARIABLES = {"nsys": "NSYS"}
"""Variables that say the same as a setting and come before it. LAUNCHLENS_RUNS is the option's."""
_PLACES = ("runs", "nsys")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file sets; ``file`` None: there is none.

    ``options`` are values of options by their parameters' names; ``format`` is a format's name.
    """

    file: Path | None = None
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        named = {"format": self.format, **self.options}
        return ", ".join(f"{key} = {value}" for key, value in named.items() if value) or "none"


_current: ContextVar[Settings | None] = ContextVar("settings", default=None)


def current_settings() -> Settings:
    """The settings of the command that runs."""
    return _current.get() or Settings()


def use_settings(command: Any) -> dict[str, Any] | None:
    """Read the settings of the working folder; returns them as click's ``default_map``.

    Args:
        command: the program, whose commands with options of these names get them as defaults.

    Raises:
        UsageError: the file cannot be read, is no TOML, or has a key that is not known.
    """
    settings = read_settings(os.environ)
    _current.set(settings)
    return _defaults(command, settings) if settings.options else None


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings that the environment names, else of the working folder.

    Raises:
        UsageError: as `use_settings`.
    """
    named = environ.get(SETTINGS_VARIABLE)
    path = Path(PROJECT_FILE if named is None else named)
    if named == "" or (named is None and not path.is_file()):
        return Settings()
    table = _read_table(path)
    options = {
        key: _place(path, value) if key in _PLACES else value
        for key, value in table.items()
        if key != "format" and not environ.get(_OWN_VARIABLES.get(key, ""))
    }
    return Settings(path, table.get("format"), options) if table else Settings()


def _defaults(command: Any, settings: Settings) -> dict[str, Any]:
    children = getattr(command, "commands", {})
    if not children:
        return dict(settings.options)
    return {name: _defaults(child, settings) for name, child in children.items()}


def _read_table(path: Path) -> dict[str, str]:
    import tomllib

    from launchlens.render import all_formats
    from launchlens.text_files import read_text_file

    try:
        document = tomllib.loads(read_text_file(path))
    except OSError as error:
        raise UsageError(f"The settings {path} cannot be read: {reason_of(error)}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The settings {path} are no valid TOML: {error}.") from error
    _check_keys(path, document, TABLES, "")
    table = document.get(SETTINGS_TABLE, {})
    if not isinstance(table, dict):
        _refuse(path, f"{SETTINGS_TABLE} is no table", f"Write [{SETTINGS_TABLE}].")
    _check_keys(path, table, ("format", "runs", "nsys", "step"), f"{SETTINGS_TABLE}.")
    for key, value in table.items():
        if not isinstance(value, str) or not value:
            _refuse(path, f"{SETTINGS_TABLE}.{key} is {value!r:.40}", "Write text in quotes.")
    wanted = table.get("format")
    if wanted is not None and not any(f.is_called(wanted) for f in all_formats()):
        names = [f.name for f in all_formats()]
        hint = did_you_mean(near_names(wanted, names)) or f"Formats are {', '.join(names)}."
        _refuse(path, f"there is no format {wanted}", hint)
    return table


def _check_keys(path: Path, given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            hint = did_you_mean(near_names(key, known)) or f"There are {', '.join(known)}."
            _refuse(path, f"{where}{key} is unknown", hint)


def _place(path: Path, value: str) -> str:
    """A file or folder as seen from the settings' own; a bare name may be one on PATH."""
    place = Path(value).expanduser()
    return value if len(place.parts) == 1 and path.parent == Path() else str(path.parent / place)


def _refuse(path: Path, said: str, hint: str) -> NoReturn:
    raise UsageError(f"The settings {path} cannot be used: {said}.", hint=hint)
