"""What a run must not keep or tell: the home folder, and values that go to nsys's --env-var."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

HIDDEN = "…"
_PASSED_ON = "--nsys-arg="
_ENV_OPTIONS = ("--env-var", "-e")
_ENV_VALUE = re.compile(r"(?:--env-var=|(?<![\w-])-e=?(?=[A-Za-z_]\w*=))(?P<value>.*)", re.DOTALL)
_SECRET_OPTION = re.compile(
    r"-{1,2}[\w-]*?(api|auth|access|secret|private|hf|hub)?[-_]?"
    r"(key|token|secret|password|passwd|credentials?)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:^|(?<=,))[A-Za-z_]\w*(?==)")


def without_private(value: T) -> T:
    """A text, record or container in which the home folder reads ``~``; lists also as commands."""
    changed: Any = value
    if isinstance(value, str):
        changed = _home(os.environ.get("HOME", "")).sub("~", value)
    elif isinstance(value, Path):
        changed = Path(without_private(str(value)))
    elif is_dataclass(value) and not isinstance(value, type):
        own = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        new = {name: without_private(v) for name, v in own.items()}
        different = {name: v for name, v in new.items() if v is not own[name]}
        changed = replace(value, **different) if different else value
    elif isinstance(value, Mapping):
        changed = {key: without_private(v) for key, v in value.items()}
    elif isinstance(value, (list, tuple)) and value:
        items = [without_private(v) for v in value]
        if all(isinstance(item, str) for item in items):
            items = without_env_values(items)
        changed = type(value)(items)
    return value if changed == value else changed


def without_env_values(words: Sequence[str]) -> list[str]:
    """A command without the values of variables that nsys is to set (``--env-var NAME=VALUE``)."""
    shown: list[str] = []
    expected = False
    for word in words:
        if (match := _ENV_VALUE.search(word)) is not None:
            shown.append(word[: match.start("value")] + _names_in(match["value"]))
            expected = False
        elif word == _PASSED_ON.rstrip("="):
            shown.append(word)
        elif expected:
            passed = _PASSED_ON if word.startswith(_PASSED_ON) else ""
            shown.append(passed + _names_in(word.removeprefix(passed)))
            expected = False
        else:
            shown.append(word)
            expected = word.removeprefix(_PASSED_ON) in _ENV_OPTIONS
    return shown


def without_secrets(words: Sequence[str]) -> list[str]:
    """A command without the values of options that name a secret (``--api-key VALUE``)."""
    shown: list[str] = []
    expected = False
    for word in words:
        name, equals, _ = word.partition("=")
        if expected and not word.startswith("-"):
            shown.append(HIDDEN)
            expected = False
        elif _SECRET_OPTION.fullmatch(name):
            shown.append(f"{name}={HIDDEN}" if equals else word)
            expected = not equals
        else:
            shown.append(word)
            expected = False
    return shown


def _names_in(assignments: str) -> str:
    """Assignments such as A=1,B=2 with their values hidden."""
    return ",".join(f"{name}={HIDDEN}" for name in _NAME.findall(assignments)) or HIDDEN


@cache
def _home(home: str) -> re.Pattern[str]:
    """Where the home folder stands in a text, also under its real name."""
    places = {p.rstrip("/") for p in (home, os.path.realpath(home)) if home} - {""}
    longest_first = sorted(map(re.escape, places), key=len, reverse=True)
    return re.compile(rf"(?<![\w.~-])(?:{'|'.join(longest_first) or '(?!)'})(?![\w.-])")
