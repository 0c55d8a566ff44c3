"""Call stacks of a trace, decoded, and the calls they belong to."""

from __future__ import annotations
from collections.abc import Sequence
from launchlens.blockers.grouping import Place
from launchlens.blockers.view import Rows, View
from launchlens.model.stacks import Stacks


def place_calls(view: View, stacks: Stacks, rows: Sequence[Rows]) -> dict[int, Place]:
    return {}
