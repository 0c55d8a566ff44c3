"""Recipes as documents: all in a list, one in full."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from launchlens.records.recipes import Mode, Recipe, RecipeList
from launchlens.report.cells import Name
from launchlens.report.document import Block, Column, Document, Facts, Row, Section, Table, Text

_NOTE = "`launchlens recipes NAME` explains one; `launchlens run --recipe NAME -- COMMAND` uses it."


def recipes_document(recipes: RecipeList) -> Document:
    """All recipes; of one alone, everything it says."""
    if len(recipes.recipes) == 1:
        return _one(recipes)
    columns = (
        Column("name", "whole"),
        Column("engine", "text"),
        Column("modes", "text"),
        Column("records", "text"),
    )
    rows = tuple(
        Row((r.name, r.title, ", ".join(mode.name for mode in r.modes), _records(r)))
        for r in recipes.recipes
    )
    blocks = (Table("", columns, rows), Text((_NOTE,)))
    return Document(
        kind="recipes",
        title="launchlens: recipes",
        sections=(Section("recipes", "Engines", blocks),),
        record=recipes,
    )


def _records(recipe: Recipe) -> str:
    return "the whole run" if recipe.recording.capture_range == "none" else "what it is told to"


def _one(recipes: RecipeList) -> Document:
    (recipe,) = recipes.recipes
    return Document(
        kind="recipes",
        title=f"launchlens: the recipe for {recipe.title}",
        sections=(Section("recipe", recipe.title, tuple(_blocks(recipe))),),
        record=recipes,
    )


def _blocks(recipe: Recipe) -> Iterator[Block]:
    commands = [f"launchlens run --recipe {recipe.name} -- {recipe.example}"]
    commands += [f"{recipe.client}   # meanwhile"] if recipe.client else []
    yield Text(tuple(commands), "log", title=f"Record {recipe.title}")
    yield Facts("What it does", tuple(_does(recipe)), "main")
    if recipe.modes:
        columns = (
            Column("mode", "whole"),
            Column("steps run", "text"),
            Column("chosen by", "text"),
        )
        rows = tuple(Row((m.name, m.says, Name(chosen_by(m)))) for m in recipe.modes)
        yield Table("Modes (--mode)", columns, rows)
    if recipe.traps:
        lines = tuple(f"{trap.symptom}: {trap.remedy}" for trap in recipe.traps)
        yield Text(lines, "list", title="Known traps")
    unverified = "; ".join(recipe.unverified) or "nothing"
    checked = (("checked", recipe.checked), ("not checked", unverified))
    yield Facts("How sure it is", (*checked, ("sources", " ".join(recipe.sources))), "main")


def _does(recipe: Recipe) -> Iterator[tuple[str, str]]:
    if recipe.environment:
        yield "sets", " ".join(f"{name}={value}" for name, value in recipe.environment.items())
    if recipe.arguments:
        yield "adds", "; ".join(shlex.join(one.words) for one in recipe.arguments)
    yield "records", recipe.recording.opens
    if recipe.iterations:
        yield "--iterations", recipe.iterations.note
    if recipe.steps.examples:
        yield "its steps", ", ".join(recipe.steps.examples)
    yield "they tell", recipe.steps.tells


def chosen_by(mode: Mode) -> str:
    """Variables, words or lines of a file that choose a mode."""
    said = [f"{name}={value}" for name, value in mode.environment.items()]
    said += [shlex.join(one.words) for one in mode.arguments]
    said += mode.config.splitlines()
    return " ".join(said) if said else "nothing"
