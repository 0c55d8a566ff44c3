"""Key figures as cards: before and after, and the change in the colour of its verdict."""

from __future__ import annotations

from launchlens.render.html.tables import CHIPS, capitalized
from launchlens.render.html.views import CardView
from launchlens.report import changes, words
from launchlens.report.cells import Judged, Value
from launchlens.report.document import Document

_ARROW = " → "


def cards(document: Document) -> list[CardView]:
    """A card for each key figure; of several candidates the fastest stands in it, by name."""
    return [_card(title, sides, document.fastest) for title, sides in document.tiles]


def _card(
    title: str, sides: tuple[tuple[str, Value | Judged], ...], fastest: int | None
) -> CardView:
    title = capitalized(title)
    who = ""
    if len(sides) > 2:
        shown = fastest if fastest is not None and 0 < fastest < len(sides) else None
        if shown is None:
            return CardView(title, _text(sides[0][1]), who=sides[0][0])
        sides = (sides[0], sides[shown])
        who = _ARROW.join(name for name, _ in sides)
    big = _arrow([_text(value) for _, value in sides])
    last = sides[-1][1]
    if not isinstance(last, Judged) or len(sides) < 2:
        return CardView(title, big, who=who)
    return CardView(title, big, changes.brief_change(last), CHIPS.get(last.verdict, ""), who)


def _arrow(texts: list[str]) -> str:
    """The figures of the sides; a unit that they share stands once, behind the last."""
    unit = texts[-1].rpartition(" ")[1:]
    behind = "".join(unit) if unit[1].isalpha() else ""
    return _ARROW.join([*(text.removesuffix(behind) for text in texts[:-1]), texts[-1]])


def _text(value: Value | Judged) -> str:
    return words.value(value.value if isinstance(value, Judged) else value)
