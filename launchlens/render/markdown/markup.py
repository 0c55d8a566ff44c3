"""GitHub's Markdown: tables, what folds, and foreign text that shows as itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from launchlens.report import words
from launchlens.report.cells import Cell, Name

# A colon matters in :emoji: and in links only, a parenthesis behind a bracket only; a dash, an
# equals sign and the dot of a number only where a line begins.
_ACTIVE = re.compile(
    r"[&<>|`*_\[\]~#@!\\$]|:(?=[\w+-]+:|//)|(?<=www)\.|^[-+=](?=[-=\s]|$)|(?<=^\d)[.)](?=\s|$)",
    re.IGNORECASE,
)
# GitHub looks for names, issues and addresses in the finished HTML, where what was escaped is back:
# a zero-width space behind it keeps it from being one.
_FOUND_LATER = re.compile(r"&#64;|&#35;(?=\d)|&#58;(?=//)|(?<=www)&#46;|\bGH-(?=\d)", re.IGNORECASE)
_LONGEST_NAME = 160
_LONGEST_CODE = 120


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, texts: Collection[int] = (0,)
) -> str:
    """A Markdown table; cells must be Markdown already. The columns ``texts`` stand left."""
    marks = [":---" if i in texts else "---:" for i in range(len(header))]
    lines = [header, marks, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def details(summary: str, *blocks: str) -> str:
    """A collapsed block; GitHub needs blank lines around Markdown inside."""
    body = "\n\n".join(block for block in blocks if block)
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def escaped(text: str, limit: int = _LONGEST_NAME) -> str:
    """Foreign text that shows as itself in GitHub's Markdown, also inside a table."""
    return _FOUND_LATER.sub(r"\g<0>&#8203;", _entities(words.plain(text, limit)))


def code(text: str, limit: int = _LONGEST_CODE) -> str:
    """Foreign text as code. An HTML element, since backticks cannot be escaped within backticks."""
    return f"<code>{_entities(words.plain(text, limit))}</code>"


def cell(content: Cell) -> str:
    """A cell of a table."""
    if isinstance(content, Name):
        return f"{content.mark} {code(content.text)}".lstrip()
    return escaped(content) if isinstance(content, str) else words.cell(content)


def _entities(text: str) -> str:
    return _ACTIVE.sub(lambda m: f"&#{ord(m[0])};", text)
