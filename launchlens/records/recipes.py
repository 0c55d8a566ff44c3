"""What is known of an engine: how it is recorded, and what its ranges and log lines mean.

A recipe is one TOML file; these records are its layout (docs/engines.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from launchlens.records.figures import Phase

_STRICT: Mapping[str, Any] = {"extra": "forbid"}  # a misspelt key is an error

CaptureRange = Literal["none", "cudaProfilerApi"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """Words that are added to the end of a command."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    words: tuple[str, ...]
    """What is added; `{first}`, `{last}` and `{count}` are the iterations asked for."""
    when: str = ""
    """Regular expression that the command must match."""
    unless: str = ""
    """Regular expression that it must not match: the user said it already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What begins and ends a recording."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    capture_range: CaptureRange
    """`cudaProfilerApi`: the engine starts the profiler itself; `none`: the whole run."""
    opens: str
    """What makes the engine start it, for one who waits in vain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Iterations:
    """How an engine is told to record some of its iterations (``--iterations A-B``)."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    environment: dict[str, str] = field(default_factory=dict)
    """Variables; `{first}`, `{last}` and `{count}` are filled in."""
    arguments: tuple[Arguments, ...] = ()
    """Words to add."""
    supported: bool = True
    """Whether a command line can tell it."""
    note: str = ""
    """From where iterations are counted, or what to do instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The engine's HTTP server."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    command: str
    """Regular expression of commands that start one."""
    port: int
    """Port it listens at by default."""
    port_options: tuple[str, ...] = ("--port",)
    """Options that choose another."""
    metrics: str = ""
    """Path of its counters in Prometheus's text format; empty without."""
    start: str = ""
    """Command that makes a live server start the profiler."""
    stop: str = ""
    """Command that makes it stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRanges:
    """How its steps show in a trace."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    engines: tuple[str, ...] = ()
    """Names of the patterns that find them (docs/definitions.md)."""
    pattern: str = ""
    """Regular expression of its own, as for `--step`; empty where the patterns do."""
    examples: tuple[str, ...] = ()
    """Texts of such ranges."""
    tells: str = ""
    """What they tell: phase, tokens, requests; what lies outside of them."""
    whole: bool = False
    """It marks no steps: the whole recording is read as one window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """One way in which the engine runs its steps (``--mode``)."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    name: str
    """Name to give to `--mode`."""
    says: str
    """What it does."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that choose it."""
    arguments: tuple[Arguments, ...] = ()
    """Words that choose it."""
    config: str = ""
    """Lines of a configuration file that choose it, where no argument does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """Something that goes wrong again and again."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    symptom: str
    """What one sees."""
    remedy: str
    """What helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line of the engine's log that tells why steps ran as they did."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    pattern: str
    """Regular expression; a group `sizes` holds the sizes that were captured, as a list."""
    phases: tuple[Phase, ...] = ()
    """Phases it is about; empty: all."""
    remedy: str = ""
    """What changes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one engine is recorded and read."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    name: str
    """Name to give to `--recipe`."""
    title: str
    """The engine."""
    commands: tuple[str, ...]
    """Regular expressions of commands it is for."""
    packages: tuple[str, ...] = ()
    """Python distributions that the engine is installed as; any of them."""
    checked: str
    """Against what it was checked, and when."""
    unverified: tuple[str, ...] = ()
    """What was not checked."""
    sources: tuple[str, ...] = ()
    """Where it comes from."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that are set, unless the user set them."""
    arguments: tuple[Arguments, ...] = ()
    """Words that are added to the command."""
    recording: Recording
    """When it is recorded."""
    iterations: Iterations | None = None
    """How some iterations are recorded; null where it cannot be told."""
    server: Server | None = None
    """Its server; null where it has none."""
    ranks: tuple[str, ...] = ()
    """Options whose values, multiplied, are the number of processes with a GPU each."""
    steps: StepRanges = field(default_factory=StepRanges)
    """Its steps in a trace."""
    modes: tuple[Mode, ...] = ()
    """Ways to run its steps."""
    traps: tuple[Trap, ...] = ()
    """What goes wrong."""
    log: tuple[LogLine, ...] = ()
    """What its log tells."""
    example: str = ""
    """A command to record, as one types it behind `launchlens run --recipe NAME --`."""
    client: str = ""
    """A command that sends requests meanwhile; empty where the example sends its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeList:
    """All recipes: the JSON object of ``launchlens recipes --format json``."""

    schema: Literal["launchlens.recipes/1"] = "launchlens.recipes/1"
    """Name and version of this layout."""
    recipes: tuple[Recipe, ...]
    """The recipes."""
