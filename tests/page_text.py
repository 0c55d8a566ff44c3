"""A page of HTML as the text that it shows: a line for each block, cells set apart by bars.

What is folded, or hidden until it is asked for, is left out, as it is from the screen.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_LINES = {"h1", "h2", "h3", "h4", "p", "dt", "dd", "tr", "li", "summary", "figcaption", "caption"}
_LINES |= {"div", "section", "nav", "footer", "label", "pre"}
_HIDDEN = {"script", "style", "title", "noscript"}
_HIDDEN_STYLES = {"interval", "unseen", "skip"}
_CELLS = {"bar-beside", "bar-line", "bar-stack", "under-value", "row-note"}
_VOID = {"meta", "br", "img", "input", "link", "hr"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines = [""]
        self.open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag, attrs):
        style = set((dict(attrs).get("class") or "").split())
        hidden = tag in _HIDDEN or bool(style & _HIDDEN_STYLES) or "hidden" in dict(attrs)
        around = self.open[-1] if self.open else ("", False)
        hidden |= around[1] or (around[0] == "details" and tag != "summary")
        if tag not in _VOID:
            self.open.append((tag, hidden))
        if hidden:
            return
        if tag in _LINES:
            self.lines.append("")
        if tag in ("td", "th") or style & _CELLS or (tag == "b" and around[0] == "span"):
            self.lines[-1] += " | "

    def handle_endtag(self, tag):
        _, hidden = self.open.pop()
        if tag in _LINES and not hidden:
            self.lines.append("")

    def handle_data(self, data):
        if not (self.open and self.open[-1][1]):
            self.lines[-1] += data


def page_text(source: str) -> str:
    """The lines that hold anything, spaces folded, bars at the ends left out."""
    reader = _Reader()
    reader.feed(source)
    lines = (re.sub(r"(\| )+", "| ", re.sub(r"\s+", " ", line)) for line in reader.lines)
    return "".join(f"{line}\n" for line in (line.strip(" |") for line in lines) if line)
