"""The program ``launchlens``: commands, and the one place where errors become exit codes."""

from __future__ import annotations

import errno
import itertools
import pkgutil
import signal
import sys
from importlib import import_module
from typing import NoReturn

import typer

from launchlens.cli import commands
from launchlens.cli.help import WIDEST, finish_commands
from launchlens.cli.settings import use_settings
from launchlens.cli.standard_input import forget_input, in_words
from launchlens.errors import EXIT_CANNOT_ANSWER, LaunchlensError, reason_of
from launchlens.streams import drop_output, keep_places, say

_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_STREAM = (*_NO_SPACE, errno.EIO, errno.EBADF)

app = typer.Typer(
    name="launchlens",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    help="Why a model's forward pass waits for the CPU, and what a CUDA graph would bring.",
    epilog="Exit codes: 0 fine, 1 cannot answer, 2 usage, 3 a threshold failed.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"launchlens {version('launchlens')}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: bool = typer.Option(  # noqa: ARG001 - its callback answers
        False,
        "--version",
        "-V",
        help="Print the version and exit.",
        is_eager=True,
        callback=_print_version,
    ),
) -> None:
    own = itertools.takewhile(lambda word: word != "--", sys.argv)
    if not {"-h", "--help"} & set(own):  # help is there whatever a file says
        context.default_map = use_settings(context.command)


for _found in pkgutil.iter_modules(commands.__path__):
    _module = import_module(f"{commands.__name__}.{_found.name}")
    if hasattr(_module, "app"):
        app.add_typer(_module.app, name=_found.name)
    else:
        app.command()(getattr(_module, _found.name))
finish_commands(app)


def _end(number: int, frame: object) -> NoReturn:  # noqa: ARG001 - a signal handler's shape
    """Unwinds the stack, so that temporary files go and children end; once only."""
    for ending in _ENDINGS:
        signal.signal(ending, signal.SIG_IGN)
    say(f"launchlens: ended by {signal.Signals(number).name}")
    raise SystemExit(128 + number)


def main() -> None:
    """Entry point of the program."""
    keep_places()
    for ending in _ENDINGS:
        if signal.getsignal(ending) is signal.SIG_DFL:  # under nohup SIGHUP stays ignored
            signal.signal(ending, _end)
    try:
        app()
    except LaunchlensError as error:
        say(f"launchlens: {in_words(str(error))}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader (head, less) has gone: not an error of ours.
        drop_output()
        sys.exit(EXIT_CANNOT_ANSWER)
    except KeyboardInterrupt:
        say("launchlens: interrupted")
        sys.exit(130)
    except OSError as error:
        if error.errno not in (_NO_SPACE if error.filename else _NO_STREAM):
            raise
        drop_output()
        where = error.filename or "the output"
        say(f"launchlens: {where} cannot be written: {reason_of(error)}. Free space and try again.")
        sys.exit(EXIT_CANNOT_ANSWER)
    finally:
        forget_input()


if __name__ == "__main__":
    main()
