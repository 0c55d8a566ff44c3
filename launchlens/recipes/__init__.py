"""Recipes: one TOML file for each engine, found in ``engines/``, and those of users."""

from launchlens.recipes.apply import Applied, apply_recipe
from launchlens.recipes.find import all_recipes, find_recipe, recipe_for, recipe_of_engine
from launchlens.recipes.logs import read_engine_log

__all__ = [
    "Applied",
    "all_recipes",
    "apply_recipe",
    "find_recipe",
    "read_engine_log",
    "recipe_for",
    "recipe_of_engine",
]
