"""Colours of sides, causes of idle time and kinds of span.

The colours are Okabe and Ito's eight, which people with any common colour blindness tell
apart (Okabe & Ito, "Color Universal Design", 2008), with greys in place of black, so that they
show on dark and on light ground. Colour is never the only sign: lanes and tables say the same.
"""

from __future__ import annotations

from launchlens.catalogue import gap_causes

ORANGE = "#e69f00"
SKY = "#56b4e9"
GREEN = "#009e73"
YELLOW = "#f0e442"
BLUE = "#0072b2"
VERMILLION = "#d55e00"
PURPLE = "#cc79a7"
GREY = "#999999"
DARK_GREY = "#6f6f6f"

#: One colour a side, the baseline first; more sides than colours start again.
SIDE_COLOURS = (GREY, BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION)

#: One colour a cause of idle time, in the catalogue's order; more causes start again.
CAUSE_COLOURS = (GREY, VERMILLION, ORANGE, PURPLE, SKY, DARK_GREY, YELLOW)

#: What fills a lane, by the lane's role and the span's kind: colour and words.
SPAN_KINDS: dict[str, dict[str, tuple[str, str]]] = {
    "host": {
        "launch": (BLUE, "launch call"),
        "memcpy": (YELLOW, "copy or set call"),
        "sync": (PURPLE, "synchronize call"),
        "other": (GREY, "other CUDA call"),
    },
    "range": {"range": ("#8f9bb3", "NVTX range"), "module": ("#c3a98b", "module")},
    "stream": {
        "kernel": (GREEN, "kernel"),
        "memcpy": (YELLOW, "copy"),
        "memset": ("#b8a800", "memset"),
        "graph": (BLUE, "whole CUDA graph"),
    },
}


def kinds_of(role: str) -> dict[str, tuple[str, str]]:
    """Colour and words of the kinds of span in lanes of a role, in the order of legends."""
    if role != "gap":
        return SPAN_KINDS.get(role, {})
    causes = sorted(gap_causes().items(), key=lambda cause: not cause[1].headline)
    return {cause: (colour("cause", cause), metric.title) for cause, metric in causes}


def colour(kind: str, which: str) -> str:
    """Colour of a series by its role: a side by its number, a cause by its name, or busy time."""
    if kind == "side":
        return SIDE_COLOURS[int(which) % len(SIDE_COLOURS)]
    if kind == "cause" and which in gap_causes():
        return CAUSE_COLOURS[list(gap_causes()).index(which) % len(CAUSE_COLOURS)]
    return GREEN if kind == "busy" else GREY


def text_on(colour: str) -> str:
    """Black or white, whichever reads better on a colour (relative luminance, WCAG 2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"
