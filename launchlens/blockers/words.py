"""How findings are put into words, and small groupings that rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from launchlens.blockers.hits import DIRECTIONS, Hits, call_hits
from launchlens.blockers.view import Rows, View
from launchlens.calls import CallKind


def copy_title(hits: Hits, size: int | None) -> str:
    """Words such as "host-to-device copy, 4 bytes, pageable"."""
    what = DIRECTIONS[hits.direction][1] if hits.direction in DIRECTIONS else hits.kinds
    unit = "byte" if size == 1 else "bytes"
    amount = "" if size is None else f"{size:,} {unit}, "
    return f"{what}, {amount}{hits.memory}"


def call_title(template: str) -> Callable[[Hits, int | None], str]:
    """A title for rules about calls; ``{kinds}`` in the template is the call."""

    def title(hits: Hits, _size: int | None) -> str:
        return template.format(kinds=hits.kinds)

    return title


def by_call_name(view: View, rows: Rows, step: Rows) -> Iterator[tuple[str, tuple[Rows, Rows]]]:
    """Rows apart by the call's base name, in order of first appearance."""
    bases = np.array(view.bases or ("",), dtype=object)[view.trace.api.name[rows]]
    for name in dict.fromkeys(bases.tolist()):
        chosen = bases == name
        yield str(name), (rows[chosen], step[chosen])


def by_call_and_thread(view: View, kind: CallKind) -> Iterator[tuple[str, Rows, Rows, bool]]:
    """Calls while steps run: name, rows, steps, whether by another thread; the step's own first."""
    rows, step, elsewhere = view.rows_around(kind)
    for other, said in ((False, ""), (True, " (another thread)")):
        mine = elsewhere == other
        for name, (row, owner) in by_call_name(view, rows[mine], step[mine]):
            yield name + said, row, owner, other


def first_use_or_always(view: View, rows: Rows, step: Rows, kinds: str, first_note: str) -> Hits:
    """Calls as hits: suspected with a note where only the first steps make them, else likely."""
    if only_at_first(view, step):
        return call_hits(view, rows, step, kinds, "suspected", first_note)
    return call_hits(view, rows, step, kinds, "likely")


def only_at_first(view: View, step: Rows) -> bool:
    """Whether something happens in the first third of several steps and never again."""
    return view.size >= 3 and int(step.max()) < max(view.size // 3, 1)
