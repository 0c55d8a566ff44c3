"""How many of something there are, in words: "1 step", "8 steps"; a leaf."""

from __future__ import annotations


def counted(number: float, noun: str, plural: str | None = None, *, digits: str = "") -> str:
    """A number and its noun: ``counted(1, "copy", "copies")`` is "1 copy".

    Args:
        number: how many; a mean may be a fraction, and then takes one decimal.
        noun: what there is one of.
        plural: of which there are several, where that is not ``noun`` and an s.
        digits: the number as text, where it stands in a unit or with a bound.
    """
    whole = float(number).is_integer()
    return f"{digits or format(number, '.0f' if whole else '.1f')} {several(number, noun, plural)}"


def several(number: float, noun: str, plural: str | None = None) -> str:
    """The noun alone, as it stands behind a number."""
    return noun if number == 1 else plural or f"{noun}s"
