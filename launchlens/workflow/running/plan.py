"""What is to be run, how it is recorded, and what is expected of the recording."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal

from launchlens import capture
from launchlens.capture import Tracing, Window
from launchlens.errors import UsageError
from launchlens.recipes import apply_recipe, find_recipe, recipe_for
from launchlens.recipes.apply import port_of, ranks_of, value_of
from launchlens.records.recipes import Recipe

GraphMode = Literal["node", "graph"]

_MODEL_OPTIONS = ("--model", "--model-path", "--model_path", "--model-name")
_SERVES = re.compile(r"^(serve|trtllm-serve)$")
_NVTX = "nvtx:"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A program to be run under nsys.

    Attributes:
        command: the words that are run, with what the recipe added.
        added: words that the recipe added.
        environment: variables that are set for it.
        tracing: what is traced, and when.
        graphs: how graphs are traced.
        name: name of the variant in the run.
        model: what the run is of, for its folder.
        recipe: of the engine, where one is used.
        port: where the program's server will listen; None where it starts none that is known.
        ranks: processes with a GPU each.
        timeout_s: limit in seconds; None: none.
        grace_s: seconds to end in.
    """

    command: tuple[str, ...]
    added: tuple[str, ...]
    environment: Mapping[str, str]
    tracing: Tracing
    graphs: GraphMode
    name: str
    model: str
    recipe: Recipe | None = None
    port: int | None = None
    ranks: int = 1
    timeout_s: float | None = None
    grace_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the options of ``launchlens run`` say; see its help."""

    recipe: str | None = None
    mode: str | None = None
    name: str | None = None
    iterations: str | None = None
    delay_s: float = 0.0
    duration_s: float | None = None
    capture_range: str | None = None
    graphs: GraphMode = "node"
    nsys_args: Sequence[str] = ()
    timeout_s: float | None = None
    grace_s: float = 30.0
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)


def make_run_plan(command: Sequence[str], wanted: Wanted) -> RunPlan:
    """Check what was asked for before anything starts.

    Raises:
        UsageError: no command; an unknown recipe or mode; options that contradict one another.
    """
    if not command:
        raise UsageError(
            "There is no command to run.", hint="Write it behind --: launchlens run -- python x.py."
        )
    recipe = find_recipe(wanted.recipe) if wanted.recipe else None
    iterations = parse_iterations(wanted.iterations)
    added: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    own_range: str | None = None
    words = tuple(command)
    if recipe is not None:
        applied = apply_recipe(
            recipe, command, environ=wanted.environ, mode=wanted.mode, iterations=iterations
        )
        words, added = applied.command, applied.added
        environment |= applied.environment or {}
        own_range = None if applied.capture_range == "none" else applied.capture_range
    elif wanted.mode or iterations:
        option = "--mode" if wanted.mode else "--iterations"
        near = recipe_for(command)
        raise UsageError(
            f"{option} needs a recipe, which knows how the engine is told.",
            hint=f"Add --recipe {near.name if near else 'NAME'} (see launchlens recipes).",
        )
    window = _window(wanted, own_range)
    environment |= window.environment
    return RunPlan(
        command=words,
        added=added,
        environment=environment,
        tracing=Tracing(graphs=wanted.graphs, extra=tuple(wanted.nsys_args), window=window),
        graphs=wanted.graphs,
        name=_checked_name(wanted.name or wanted.mode or "run"),
        model=_model_of(command),
        recipe=recipe,
        port=port_of(recipe or recipe_for(command), command),
        ranks=ranks_of(recipe, command) if recipe else 1,
        timeout_s=wanted.timeout_s,
        grace_s=wanted.grace_s,
    )


def _window(wanted: Wanted, own_range: str | None) -> Window:
    """When the recording begins and ends: as the options say, else as the recipe does."""
    timed = bool(wanted.delay_s or wanted.duration_s)
    said = wanted.capture_range
    if timed and said not in (None, "none"):
        raise UsageError(
            "--delay and --duration record by the clock, --capture-range by what the program does.",
            hint="Give one or the other.",
        )
    if timed and wanted.iterations:
        raise UsageError(
            "--iterations and --delay or --duration exclude one another.", hint="Give one of them."
        )
    if timed:
        return Window(None, "", wanted.delay_s, wanted.duration_s)
    if said is None:
        return Window(own_range)
    if said == "none":
        return Window(None)
    if said == capture.CUDA_PROFILER:
        return Window(said)
    if said.startswith(_NVTX) and (text := said.removeprefix(_NVTX)):
        if "@" in text:
            raise UsageError(
                f"--capture-range {said}: nsys takes what follows @ for a domain.",
                hint="Choose another range; any domain is searched.",
            )
        return Window("nvtx", text)
    raise UsageError(
        f"--capture-range {said!r} is none of cudaProfilerApi, nvtx:NAME and none.",
        hint="nvtx:NAME is the whole text of a range, as nvtx:prefill.",
    )


def parse_iterations(text: str | None) -> tuple[int, int] | None:
    """First and last of ``--iterations 100-110``.

    Raises:
        UsageError: it does not name two iterations in order.
    """
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", text.strip())
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(
            f"--iterations {text!r} is not the first and the last iteration.",
            hint="Write it as 100-110.",
        )
    return int(match[1]), int(match[2])


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][\w.+-]{0,79}", name):
        raise UsageError(
            f"--name {name!r} cannot name a variant.",
            hint="Letters, digits, dots, dashes; RUN:NAME is how diff calls it.",
        )
    return name


def _model_of(command: Sequence[str]) -> str:
    """What a run is of: the model that the command names, else the program."""
    if (named := value_of(command, _MODEL_OPTIONS)) and not named.startswith("-"):
        return named
    for word, following in itertools.pairwise(command):
        if _SERVES.match(PurePath(word).name) and not following.startswith("-"):
            return following
    scripts = [w for w in command if w.endswith(".py")]
    return PurePath(scripts[0] if scripts else command[0]).name.removesuffix(".py")


def command_line(plan: RunPlan, nsys: capture.Nsys, output: Path) -> str:
    """The exact command with its variables, as one would type it."""
    words = capture.profile_arguments(nsys, plan.tracing, output=output, program=plan.command)
    variables = [f"{name}={shlex.quote(value)}" for name, value in plan.environment.items()]
    return " ".join([*variables, shlex.join(words)])
