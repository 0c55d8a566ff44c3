"""A report format is one file; ``--format`` then offers it for every command that it can serve.

The format is invented for this test: a report as plain words, an HTML page's and a table's data
left out.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "traces/qwen3-0.6b-eager.nsys2025.3.sqlite.xz"

FORMAT = '''
"""The answers alone, for a chat."""

from launchlens.render.writer import Format


def _write(document, manner):
    blocks = [block for section in document.sections for block in section.blocks]
    return f"CHAT {document.kind}: {len(blocks)} blocks. {' '.join(document.answers)}\\n"


FORMAT = Format("chat", "answers for a chat", (".chat",), _write, KINDS)
'''


def test_a_format_is_offered_wherever_it_can_serve(house):
    house.add("render/formats/chat.py", FORMAT.replace("KINDS", "None"))
    assert house.touched == ["render/formats/chat.py"]
    said = house.run("analyze", TRACE, "-f", "chat")
    assert said.startswith("CHAT analysis: ")
    assert "1569 launches per prefill step" in said  # as the trace's card has them from SQL
    assert house.run("diff", TRACE, TRACE, "-f", "chat").startswith("CHAT comparison: ")
    assert house.run("blockers", TRACE, "-f", "chat").startswith("CHAT blockers: ")
    assert house.run("models", "-f", "chat") == "CHAT models: 2 blocks. \n"
    for command in (["diff"], ["analyze"], ["blockers"], ["models"], ["runs", "list"], ["check"]):
        assert "chat" in house.run(*command, "--help", columns=200), command


def test_a_format_that_serves_some_kinds_is_offered_for_those_alone(house):
    house.add("render/formats/chat.py", FORMAT.replace("KINDS", 'frozenset({"models"})'))
    assert "chat" in house.run("models", "--help")
    assert "chat" not in house.run("diff", "--help")
    assert "chat" in house.fails("diff", TRACE, TRACE, "-f", "chat", code=2)
