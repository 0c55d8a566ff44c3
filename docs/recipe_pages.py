"""The generated part of docs/engines.md: each engine's recipe, as it is in its TOML file."""

from __future__ import annotations

import re

from launchlens.recipes import all_recipes
from launchlens.records.recipes import Recipe
from launchlens.report.recipes import chosen_by

_NAMES = re.compile(r"(?<![\w`/])(--?[a-z][\w.-]+|/\w+_profile|[A-Z]+_[A-Z_0-9]+(?:=\w+)?)")


def engines() -> None:
    """Write a section for each engine."""
    import cog

    cog.outl("\n\n".join(section(recipe) for recipe in all_recipes({})))


def section(recipe: Recipe) -> str:
    """One engine: the commands, what the recipe does, modes, traps, and how sure it is."""
    commands = [f"launchlens run --recipe {recipe.name} --name graphs -- {recipe.example}"]
    if recipe.server and recipe.server.start:
        commands.append(f"{recipe.server.start}   # once requests run")
        commands.append(recipe.server.stop)
    if recipe.client:
        commands.append(f"{recipe.client}   # meanwhile, in another terminal")
    lines = [f"## {recipe.title}", "", "```sh", *commands, "```", ""]
    if recipe.environment:
        said = ", ".join(f"`{k}={v}`" for k, v in recipe.environment.items())
        lines.append(f"- Sets {said}.")
    if recipe.arguments:
        said = ", ".join(f"`{' '.join(one.words)}`" for one in recipe.arguments)
        lines.append(f"- Adds {said} where the command is one that takes it and does not have it.")
    lines.append(f"- Recording: {_code(recipe.recording.opens)}.")
    if recipe.iterations:
        lines.append(f"- `--iterations A-B`: {_code(recipe.iterations.note)}.")
    if recipe.steps.examples:
        said = ", ".join(f"`{text}`" for text in recipe.steps.examples)
        lines.append(f"- Steps: {said}.")
    lines += [f"- They tell: {_code(recipe.steps.tells)}.", ""]
    lines += ["| `--mode` | steps run | chosen by |", "| --- | --- | --- |"]
    for mode in recipe.modes:
        by = chosen_by(mode)
        where = " (configuration file)" if mode.config else ""
        shown = "nothing" if by == "nothing" else f"`{by}`{where}"
        lines.append(f"| `{mode.name}` | {_code(mode.says)} | {shown} |")
    lines += ["", "Known traps:", ""]
    lines += [f"- {_code(trap.symptom)}: {_code(trap.remedy)}." for trap in recipe.traps]
    lines += ["", f"Checked against: {_code(recipe.checked)}. **Not checked:** "]
    lines[-1] += f"{_code('; '.join(recipe.unverified))}. Sources: "
    lines[-1] += ", ".join(f"<{url}>" for url in recipe.sources) + "."
    return "\n".join(lines)


def _code(text: str) -> str:
    """Options, variables and paths as code; what has backticks has them already."""
    if "`" in text:
        return text
    return _NAMES.sub(r"`\1`", text)
