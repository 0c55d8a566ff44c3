"""GitHub's Markdown: tables, what folds, and foreign text that shows as itself."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence

from launchlens.report import words
from launchlens.report.cells import Cell, Name

# What GitHub's Markdown would read as its own, and only that: a backslash before it is plain text.
_ALWAYS = re.compile(r"[`*~|]|\\(?=[!-/:-@\[-`{-~]|$)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")  # an entity, which no other place reads as a tag either
_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")  # not within a word
_BRACKETS = re.compile(r"[\[\]]")
_LINKS = re.compile(r"\][(\[:]|\[\^|^\[")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_AT_START = re.compile(r"^(?:[-+](?=[-\s]|$)|=(?=[=\s]|$)|#(?=#*(?:\s|$))|>)")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
# GitHub looks for names, issues, addresses and emoji in the finished HTML, where what was escaped
# is back: a zero-width space behind it keeps it from being one. A dollar sign begins a formula.
_FOUND_LATER = re.compile(
    r"@(?=[\w-])|#(?=\d)|:(?=//)|\bGH-(?=\d)|(?<!:):(?=(?:[a-z][\w+-]*|[+-]1|100|1234|8ball):(?!:))",
    re.IGNORECASE,
)
_WWW = re.compile(r"(?<=www)\.", re.IGNORECASE)
_ZERO_WIDTH = "&#8203;"
_ANYTHING = re.compile(r"[&<>|`*_\[\]~#@!\\$:]")
_TAGS = re.compile(r"[&<>\"']")
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
    """A collapsed block; GitHub needs blank lines around Markdown inside.

    ``summary`` is plain text, which Markdown does not read there.
    """
    body = "\n\n".join(block for block in blocks if block)
    return f"<details>\n<summary>{in_html(summary)}</summary>\n\n{body}\n\n</details>"


def escaped(text: str, limit: int = _LONGEST_NAME) -> str:
    """Foreign text that shows as itself in GitHub's Markdown, also inside a table."""
    said = words.plain(text, limit)
    links = _LINKS.search(said) is not None
    said = _ALWAYS.sub(r"\\\g<0>", said)
    said = _UNDERSCORES.sub(lambda m: r"\_" * len(m[0]), said)
    if links:
        said = _BRACKETS.sub(r"\\\g<0>", said)
    said = _TAG.sub("&lt;", _ENTITY.sub(r"\&", said))
    said = _AT_START.sub(r"\\\g<0>", said)
    said = _NUMBERED.sub(r"\1\\\2", said)
    said = _FOUND_LATER.sub(rf"\g<0>{_ZERO_WIDTH}", said)
    return _WWW.sub(rf"&#46;{_ZERO_WIDTH}", said).replace("$", "&#36;")


def code(text: str, limit: int = _LONGEST_CODE) -> str:
    """Foreign text as code: between more backticks than it has in a row."""
    said = words.plain(text, limit)
    if not said.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`+", said)), default=0)
    fence = "`" * (longest + 1)
    space = " " if "`" in (said[0], said[-1]) else ""
    return f"{fence}{space}{said}{space}{fence}"


def table_code(text: str, limit: int = _LONGEST_CODE) -> str:
    """Foreign text as code in a table.

    A table takes away the backslash before a bar, and two of them end the cell: a name with both is
    written as HTML.
    """
    said = words.plain(text, limit)
    if "\\" in said and "|" in said:
        return f"<code>{_ANYTHING.sub(_entity, said)}</code>"
    return code(said, limit).replace("|", r"\|")


def in_html(text: str, limit: int = _LONGEST_NAME) -> str:
    """Foreign text inside an HTML element, where Markdown is not read: a summary."""
    said = _TAGS.sub(_named, words.plain(text, limit))
    said = _FOUND_LATER.sub(rf"\g<0>{_ZERO_WIDTH}", said)
    return _WWW.sub(rf".{_ZERO_WIDTH}", said)


def _named(found: re.Match[str]) -> str:
    return html.escape(found[0]).replace("&#x27;", "&apos;")


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def cell(content: Cell) -> str:
    """A cell of a table."""
    if isinstance(content, Name):
        return f"{content.mark} {table_code(content.text)}".lstrip()
    return escaped(content) if isinstance(content, str) else words.cell(content)
