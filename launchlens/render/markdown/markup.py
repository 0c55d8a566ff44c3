"""GitHub's Markdown: tables, what folds, and foreign text that shows as itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from launchlens.report import words
from launchlens.report.cells import Cell, Name

# A colon matters in :emoji: and in links only, a parenthesis behind a bracket only.
_ACTIVE = re.compile(r"[&<>|`*_\[\]~#@!\\$]|:(?=[\w+-]+:|//)")
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
    """Foreign text that shows as itself in GitHub's Markdown, also inside a table.

    GitHub looks for names to notify in the finished HTML, where an escaped @ is an @ again: a
    zero-width space after it keeps "@someone" from being one.
    """
    return _entities(words.plain(text, limit)).replace("&#64;", "&#64;&#8203;")


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
