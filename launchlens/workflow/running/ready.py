"""Whether a machine is ready for an engine's recipe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from launchlens import capture
from launchlens.errors import CaptureError
from launchlens.records.doctor import Check
from launchlens.records.recipes import Recipe

_FORKS = "--trace-fork-before-exec"


def check_recipe(recipe: Recipe, nsys: Path | None) -> Iterator[Check]:
    """What the engine needs on this machine, each with what was found and what to do."""
    yield _installed(recipe)
    yield from _variables(recipe)
    if recipe.server is not None:
        yield _port(recipe.server.port)
    try:
        found = capture.find_nsys(nsys)
    except CaptureError:
        return  # told by the checks of the machine
    if found.offers(_FORKS):
        yield Check(f"{recipe.title}: workers", "ok", f"this nsys has {_FORKS}")
    else:
        remedy = "Use nsys 2022.4 or newer, or keep the engine in one process."
        yield Check(f"{recipe.title}: workers", "warn", f"this nsys lacks {_FORKS}", remedy)


def _installed(recipe: Recipe) -> Check:
    name = f"{recipe.title}: package"
    for package in recipe.packages:
        try:
            return Check(name, "ok", f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    wanted = " or ".join(recipe.packages)
    remedy = "Not needed where the engine has a Python of its own."
    return Check(name, "warn", f"this Python has no {wanted}", remedy)


def _variables(recipe: Recipe) -> Iterator[Check]:
    """Variables of the recipe that the user set to something else, which then stays."""
    for name, wanted in recipe.environment.items():
        said = os.environ.get(name)
        if said is None or said == wanted:
            yield Check(f"{recipe.title}: {name}", "ok", f"{wanted}, set by the recipe")
        else:
            remedy = f"unset {name}: the recipe wants {wanted}."
            yield Check(f"{recipe.title}: {name}", "warn", f"set to {said}, which stays", remedy)


def _port(port: int) -> Check:
    name = f"port {port}"
    if capture.answers_at(port):
        said = "something answers there: a server left over?"
        return Check(name, "warn", said, "Stop it, or choose another port.")
    return Check(name, "ok", "free")
