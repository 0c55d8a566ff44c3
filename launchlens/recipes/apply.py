"""What a recipe makes of a command: variables, added words, and when to record."""

from __future__ import annotations

import itertools
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from launchlens.errors import UsageError
from launchlens.records.recipes import Arguments, CaptureRange, Mode, Recipe


@dataclass(frozen=True, slots=True)
class Applied:
    """A command as it is to be run.

    Attributes:
        command: the user's, with the words that were added.
        added: these words.
        environment: variables to set.
        capture_range: what the engine does by itself to begin and end a recording.
    """

    command: tuple[str, ...]
    added: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None
    capture_range: CaptureRange = "none"


def apply_recipe(
    recipe: Recipe,
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    mode: str | None = None,
    iterations: tuple[int, int] | None = None,
) -> Applied:
    """The command with what makes its engine show its steps and start the profiler.

    What the user says stays: a variable that is set, and arguments that the command has already.

    Args:
        recipe: of the engine.
        command: the user's command.
        environ: variables as they are now.
        mode: name of one of the recipe's modes.
        iterations: first and last iteration to record, if not all.

    Raises:
        UsageError: no such mode, or one that no command line chooses; iterations that cannot be
            asked for.
    """
    text = shlex.join(command)
    environment, wanted = dict(recipe.environment), list(recipe.arguments)
    capture_range = recipe.recording.capture_range
    if mode is not None:
        chosen = find_mode(recipe, mode)
        environment |= chosen.environment
        wanted += chosen.arguments
    if iterations is not None:
        told = recipe.iterations
        if told is None or not told.supported:
            raise UsageError(
                f"{recipe.title} takes no iterations from its command line.",
                hint=told.note if told and told.note else "Use --delay and --duration instead.",
            )
        environment |= told.environment
        wanted += told.arguments
        capture_range = "cudaProfilerApi"
    first, last = iterations or (0, 0)
    fill = {"{first}": str(first), "{last}": str(last), "{count}": str(last - first + 1)}
    added = tuple(_filled(word, fill) for one in _for(text, wanted) for word in one.words)
    return Applied(
        (*command, *added),
        added,
        {k: _filled(v, fill) for k, v in environment.items() if k not in environ},
        capture_range,
    )


def find_mode(recipe: Recipe, name: str) -> Mode:
    """A mode of the recipe that a command line can choose.

    Raises:
        UsageError: there is no such mode, or only a configuration file chooses it.
    """
    found = next((mode for mode in recipe.modes if mode.name == name), None)
    if found is None:
        there = ", ".join(mode.name for mode in recipe.modes) or "none"
        raise UsageError(f"The recipe {recipe.name} has no mode {name!r}: there are {there}.")
    if found.config:
        raise UsageError(
            f"{recipe.title} takes mode {name} from its configuration file, not from the command.",
            hint=f"Put this into it: {'; '.join(found.config.splitlines())}.",
        )
    return found


def ranks_of(recipe: Recipe, command: Sequence[str]) -> int:
    """How many processes with a GPU each the command asks for; 1 where it does not say."""
    return math.prod(
        int(value)
        for value in (value_of(command, (option,)) for option in recipe.ranks)
        if value is not None and value.isdigit() and int(value) > 0
    )


def port_of(recipe: Recipe | None, command: Sequence[str]) -> int | None:
    """The port at which the command's server will listen; None where it starts none."""
    if recipe is None or recipe.server is None:
        return None
    if not re.search(recipe.server.command, shlex.join(command)):
        return None
    said = value_of(command, recipe.server.port_options)
    return int(said) if said and said.isdigit() else recipe.server.port


def value_of(command: Sequence[str], options: Iterable[str]) -> str | None:
    """The value of the last of some options in a command; None where none is there."""
    names, found = set(options), None
    for word, following in itertools.pairwise((*command, "")):
        name, equals, value = word.partition("=")
        if name in names:
            found = value if equals else following
    return found


def _for(text: str, wanted: Iterable[Arguments]) -> Iterator[Arguments]:
    for one in wanted:
        if re.search(one.when, text) and not (one.unless and re.search(one.unless, text)):
            yield one


def _filled(word: str, fill: Mapping[str, str]) -> str:
    for name, value in fill.items():
        word = word.replace(name, value)
    return word
