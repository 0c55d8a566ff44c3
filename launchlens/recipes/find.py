"""Finds recipes: those that come with launchlens, and those of users."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path

from launchlens.errors import UsageError, reason_of
from launchlens.records.recipes import Recipe
from launchlens.suggestions import did_you_mean, near_names
from launchlens.text_files import read_text_file

RECIPES_VARIABLE = "LAUNCHLENS_RECIPES"


def all_recipes(environ: Mapping[str, str] = os.environ) -> tuple[Recipe, ...]:
    """Every recipe by name: a user's, in the folder $LAUNCHLENS_RECIPES, before ours of that name.

    Raises:
        UsageError: a file is no recipe.
    """
    found = {recipe.name: recipe for recipe in _built_in()}
    if folder := environ.get(RECIPES_VARIABLE):
        for file in sorted(Path(folder).glob("*.toml")):
            recipe = read_recipe(file)
            found[recipe.name] = recipe
    return tuple(found[name] for name in sorted(found))


def find_recipe(name: str, environ: Mapping[str, str] = os.environ) -> Recipe:
    """The recipe of a name, or in a TOML file of that path.

    Raises:
        UsageError: there is none, or the file is no recipe.
    """
    if name.endswith(".toml"):
        return read_recipe(Path(name))
    recipes = all_recipes(environ)
    found = next((recipe for recipe in recipes if recipe.name == name), None)
    if found is None:
        raise UsageError(
            f"There is no recipe {name!r}: there are {', '.join(r.name for r in recipes)}.",
            hint=did_you_mean(near_names(name, [r.name for r in recipes]))
            or "`launchlens recipes` explains them; one's own is a TOML file, named by its path.",
        )
    return found


def recipe_for(command: Sequence[str]) -> Recipe | None:
    """The recipe whose engine a command starts, as far as its words tell; None without one."""
    text = shlex.join(command)
    return next(
        (r for r in all_recipes() if any(re.search(pattern, text) for pattern in r.commands)), None
    )


def recipe_of_engine(engine: str) -> Recipe | None:
    """The recipe whose steps a pattern of this name finds; None without one."""
    return next((r for r in all_recipes() if engine in r.steps.engines), None)


def read_recipe(file: Path) -> Recipe:
    """The recipe in a TOML file.

    Raises:
        UsageError: it cannot be read, is no TOML, or no recipe; the place is told.
    """
    try:
        return parse_recipe(read_text_file(file), named=str(file))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {reason_of(error)}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is no text.") from error


def parse_recipe(text: str, *, named: str) -> Recipe:
    """A recipe from TOML; errors call it ``named``.

    Raises:
        UsageError: no TOML, no recipe, or a pattern that is no regular expression.
    """
    import tomllib

    from pydantic import ValidationError

    from launchlens.serialize import adapter

    try:
        recipe: Recipe = adapter(Recipe).validate_python(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{named} is not TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{named} is no recipe: {where}: {first['msg']}.",
            hint=f"A recipe has {', '.join(f.name for f in fields(Recipe))} (docs/engines.md).",
        ) from error
    for pattern in _patterns(recipe):
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError(f"{named}: {pattern!r} is no regular expression: {error}.") from error
    return recipe


def _patterns(recipe: Recipe) -> Iterator[str]:
    yield from recipe.commands
    modes = (arguments for mode in recipe.modes for arguments in mode.arguments)
    iterations = recipe.iterations.arguments if recipe.iterations else ()
    for arguments in (*recipe.arguments, *modes, *iterations):
        yield from (arguments.when, arguments.unless)
    yield from (line.pattern for line in recipe.log)
    if recipe.server:
        yield recipe.server.command


@cache
def _built_in() -> tuple[Recipe, ...]:
    folder = files(__package__).joinpath("engines")
    texts = {f.name: f.read_text(encoding="utf-8") for f in folder.iterdir()}
    return tuple(
        parse_recipe(text, named=name)
        for name, text in sorted(texts.items())
        if name.endswith(".toml")
    )
