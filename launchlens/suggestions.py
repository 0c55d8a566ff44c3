"""What a user may have meant: names and files that are near a mistyped one. A leaf."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

MOST = 3
"""Suggestions in a message: more are no help."""


_APART = 0.12
"""Likeness (0 to 1) by which a name is clearly farther than another."""


def near_names(word: str, known: Iterable[str], most: int = MOST) -> list[str]:
    """Up to ``most`` of the known names that look like a word, the nearest first.

    Those that are clearly farther than the nearest are left out; those that begin with the word, or
    hold it, count as near however long they are.
    """
    if not word:
        return []
    names = {name.casefold(): name for name in known}
    wanted = word.casefold()
    begin = [name for name in names if name.startswith(wanted)]
    hold = [name for name in names if len(wanted) > 2 and wanted in name]
    close = difflib.get_close_matches(wanted, list(names), n=most)
    likeness = [difflib.SequenceMatcher(None, name, wanted).ratio() for name in close]
    close = [
        name for name, like in zip(close, likeness, strict=True) if like > likeness[0] - _APART
    ]
    ordered = dict.fromkeys([*close, *begin, *hold])
    return [names[name] for name in ordered][:most]


def near_files(path: Path, suffixes: Sequence[str] = ()) -> list[str]:
    """Files beside a missing one whose names are near, as paths; of these suffixes, if any.

    Where its folder is missing, the same file in folders whose names are near.
    """
    folder = path.parent
    if not folder.is_dir():
        moved = [] if folder == path else near_files(folder)
        return [str(Path(other, path.name)) for other in moved if Path(other, path.name).exists()]
    try:
        names = [item.name for item in folder.iterdir()]
    except OSError:
        return []
    wanted = [name for name in names if not suffixes or name.endswith(tuple(suffixes))]
    return [str(folder / name) for name in near_names(path.name, sorted(wanted))]


def did_you_mean(near: Sequence[str]) -> str | None:
    """The question as a sentence; None where nothing is near."""
    if not near:
        return None
    *others, last = near
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"
