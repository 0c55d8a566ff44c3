"""Reads a benchmark's result file, whichever tool wrote it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from launchlens.bench import tools
from launchlens.errors import LaunchlensError, reason_of
from launchlens.records.benchmark import BenchmarkResult
from launchlens.text_files import read_text_file


def read_benchmarks(path: Path) -> tuple[BenchmarkResult, ...]:
    """Every load that a result file has, in its order: JSON, or JSON lines.

    Raises:
        LaunchlensError: it cannot be read, is no JSON, is of no tool that is known, or has no load.
    """
    try:
        documents = _documents(read_text_file(path))
    except OSError as error:
        raise LaunchlensError(f"{path} cannot be read: {reason_of(error)}.") from error
    except (ValueError, RecursionError) as error:
        raise LaunchlensError(f"{path} is not JSON: {error}.") from error
    found: list[BenchmarkResult] = []
    for document in documents:
        tool = next((t for t in all_tools() if _is_of(t, document)), None)
        if tool is None:
            known = ", ".join(t.TITLE for t in all_tools())
            raise LaunchlensError(
                f"{path} is of no benchmark that is known.",
                hint=f"Known are the result files of {known}.",
            )
        try:
            found += tool.results(document)
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            raise LaunchlensError(
                f"{path} looks like a result of {tool.TITLE}, but has other contents: {error!r}."
            ) from error
    if not found:
        raise LaunchlensError(f"{path} has no benchmark in it.")
    return tuple(replace(result, file=path.name) for result in found)


@cache
def all_tools() -> tuple[ModuleType, ...]:
    """The tools whose files are known: what ``tools/`` has."""
    return tuple(import_module(f"{tools.__name__}.{m.name}") for m in iter_modules(tools.__path__))


def _is_of(tool: ModuleType, document: Any) -> bool:
    return isinstance(document, dict) and bool(tool.reads(document))


def _documents(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]
