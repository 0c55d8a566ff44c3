"""``launchlens recipes``: what is known of serving engines, listed and explained."""

from __future__ import annotations

from typing import Annotated

import typer

from launchlens.cli.options import OutputOption, format_option
from launchlens.cli.output import choose_format, show


def recipes(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The engine to explain, or a TOML file; all without."),
    ] = None,
    report_format: Annotated[str | None, format_option("recipes")] = None,
    output: OutputOption = None,
) -> None:
    """List the engines that `run` knows, or explain one."""
    from launchlens.recipes import all_recipes, find_recipe
    from launchlens.records.recipes import RecipeList
    from launchlens.report.recipes import recipes_document

    form = choose_format("recipes", report_format, output)
    chosen = (find_recipe(name),) if name else all_recipes()
    show(recipes_document(RecipeList(recipes=chosen)), form, output)
