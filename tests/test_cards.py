"""Every shipped trace has a card, and SQL that shares no code with launchlens agrees with it."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import pytest

from launchlens.metrics import summarize
from launchlens.trace import read_trace

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import cards  # noqa: E402

TRACES = cards.all_traces()
CALL = re.compile(r'cards\.card\("([^"]+)", "([^"]+)"(?:, "(\w+)")?\)')


@pytest.mark.parametrize("packed", TRACES, ids=lambda p: p.name)
def test_card(packed: Path, tmp_path: Path) -> None:
    page = cards.card_of(packed)
    assert page.exists(), f"run: python docs/cards.py traces/{packed.name} 'prefill*'"
    text = page.read_text(encoding="utf-8")
    assert hashlib.sha256(packed.read_bytes()).hexdigest() in text
    assert not re.search(r"\b(WHAT WAS|THE RECORDING COMMAND)\b", text), "the card is not filled in"
    calls = CALL.findall(text)
    assert calls
    plain = cards.unpack(packed, tmp_path)
    for name, steps, phase in calls:
        assert name == page.stem
        rows, _ = cards.confirm(plain, steps)
        analysis = summarize(read_trace(packed), phase=phase or "prefill")
        assert len(rows) == len(analysis.steps) > 0
        for row, step in zip(rows, analysis.steps, strict=True):
            for figure in (*cards.COUNTS, "window_ns", "busy_ns"):
                assert getattr(step, figure) == row[figure], (step.range, figure)
            assert step.idle == pytest.approx(row["idle"], abs=1e-12)


def test_no_card_without_a_trace() -> None:
    stems = {cards.card_of(p).stem for p in TRACES}
    assert {p.stem for p in (ROOT / "traces").glob("*.md")} - stems == {"README"}
