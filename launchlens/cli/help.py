"""How help looks: arguments and options by the names that the documentation uses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import typer
from typer.core import TyperCommand
from typer.models import CommandInfo

from launchlens.cli.options import QuietOption
from launchlens.streams import be_quiet

WIDEST = 100
"""Columns of help; longer lines are hard to read."""


class Command(TyperCommand):
    """A command whose help names arguments plainly: ``TRACE``, not ``{trace} <path>``."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """``[OPTIONS] TRACE [OTHER]``."""
        names = [name if param.required else f"[{name}]" for param, name in self._arguments(ctx)]
        return [self.options_metavar or "", *names]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The lists of arguments and options."""
        arguments = [
            (name, record[1])
            for param, name in self._arguments(ctx)
            if (record := param.get_help_record(ctx)) is not None
        ]
        options = [
            record
            for param in self.get_params(ctx)
            if param.param_type_name == "option"
            and (record := param.get_help_record(ctx)) is not None
        ]
        for title, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def _arguments(self, ctx: Any) -> Iterator[tuple[Any, str]]:
        for param in self.get_params(ctx):
            if param.param_type_name == "argument":
                name = param.metavar or str(param.name).upper()
                yield param, name + ("..." if param.nargs != 1 else "")


def finish_commands(app: typer.Typer) -> None:
    """What all commands of the program have, whoever wrote them: plain help, ``--quiet``."""
    groups = [group.typer_instance for group in app.registered_groups]
    for one in (app, *(group for group in groups if group is not None)):
        for command in one.registered_commands:
            _finish(command)


def _finish(command: CommandInfo) -> None:
    if command.callback is not None:
        command.cls = Command
        command.callback = _with_quiet(command.callback)


def _with_quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command's function with one more option, before which nothing is said."""

    @wraps(function)
    def run(*args: Any, quiet: bool, **kwargs: Any) -> Any:
        be_quiet(quiet)
        return function(*args, **kwargs)

    signature = inspect.signature(function, eval_str=True)
    option = inspect.Parameter(
        "quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=QuietOption
    )
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), option]
    )
    return run
