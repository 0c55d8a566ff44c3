"""Colours and words for kinds of span and causes of idle time.

The colours are Okabe and Ito's eight, which people with any common colour blindness tell
apart (Okabe & Ito, "Color Universal Design", 2008), with greys in place of black, so that they
show on dark and on light ground. Colour is never the only sign: lanes and tables say the same.
"""

from __future__ import annotations

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

BUSY_COLOUR = GREEN

#: Causes of idle time in the order of docs/definitions.md: colour and explanation.
GAP_CAUSES: dict[str, tuple[str, str]] = {
    "host": (VERMILLION, "host: the CPU was busy elsewhere"),
    "launch": (ORANGE, "launch: latency of the launch itself"),
    "sync": (PURPLE, "sync: inside a synchronize call or a blocking copy"),
    "device": (SKY, "device: submitted in time, the GPU was not ready"),
    "lead_in": (GREY, "lead-in: before the step's first operation"),
    "tail": (DARK_GREY, "tail: after the device's last operation"),
    "unlinked": (YELLOW, "unlinked: no API call recorded"),
}

#: What fills a lane, by the lane's role and the span's kind.
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
    "gap": GAP_CAUSES,
}

#: Words for a lane's role, for legends.
ROLE_TITLES = {
    "host": "CUDA calls on the CPU",
    "stream": "Work on the GPU",
    "gap": "GPU idle, by cause",
    "range": "Ranges",
}


def side_colour(index: int) -> str:
    """Colour of the side at ``index`` (0 is the baseline)."""
    return SIDE_COLOURS[index % len(SIDE_COLOURS)]


def span_colour(role: str, kind: str) -> str:
    """Colour of a span; grey for a kind this version does not know."""
    return SPAN_KINDS.get(role, {}).get(kind, (GREY, kind))[0]


def text_on(colour: str) -> str:
    """Black or white, whichever reads better on a colour (relative luminance, WCAG 2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"
