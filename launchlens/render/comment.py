"""A comparison as the comment under a pull request, short enough for GitHub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from launchlens.render.format import (
    format_cell,
    format_change,
    format_verdict,
    joined,
    markdown_text,
    sentences,
)
from launchlens.render.gates import describe_gate
from launchlens.render.markdown import (
    cautions,
    detail_blocks,
    findings_list,
    requests_table,
    table,
)
from launchlens.render.mermaid import step_chart
from launchlens.render.terminal_metrics import shown_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launchlens.records.comparison import Comparison, PhaseComparison
    from launchlens.records.limits import LimitResult

LIMIT = 65_536  # GitHub refuses longer bodies; counted in bytes, which no way of counting exceeds
_SHORT_HASH = 7
_LONG = 500
_DIRTY = ("-dirty", "+dirty")
_VERDICTS = {"better": "🟢 better", "worse": "🔴 worse", "inconclusive": "⚪ inconclusive"}
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Block:
    """A piece of the comment. The pieces with the highest ``rank`` are dropped first."""

    text: str
    rank: int
    name: str


def render_comment(
    comparison: Comparison,
    *,
    marker: str,
    measured_commit: str | None,
    head_commit: str | None,
    limit: int = LIMIT,
    gates: Sequence[LimitResult] = (),
) -> str:
    """The comment's Markdown.

    Args:
        comparison: the baseline and this pull request.
        marker: hidden first line, by which the comment is found again.
        measured_commit: hash that was measured, "-dirty" behind it when files were changed;
            None when that is not known, which is said.
        head_commit: hash of the pull request's head; None when it was not asked.
        limit: most bytes. Details are dropped first, and what was dropped is said.
        gates: results of thresholds, shown below the table.

    Returns:
        Markdown that begins with the marker.
    """
    blocks = [block for block in _blocks(comparison, gates) if block.text]
    start = [marker, *_title(comparison), *_freshness(measured_commit, head_commit)]
    text = _join(start, blocks, [])
    dropped: list[str] = []
    for block in sorted(blocks, key=lambda block: -block.rank):
        if len(text.encode()) <= limit:
            return text
        blocks.remove(block)
        dropped.append(block.name)
        text = _join(start, blocks, dropped)
    return text if len(text.encode()) <= limit else _cut(text, limit)


def _blocks(comparison: Comparison, gates: Sequence[LimitResult]) -> list[_Block]:
    blocks = [_Block("\n\n".join(_sentences(comparison)), 0, "the summary")]
    for place, phase in enumerate(comparison.phases):
        blocks.append(_Block(_metrics(comparison, phase), 1 + place, f"the {phase.phase} table"))
    most = 1 + len(comparison.phases)
    blocks += [
        _Block(_gates(gates), most, "thresholds"),
        _Block(requests_table(comparison), most + 2, "requests"),
        _Block(_equivalence(comparison), most + 1, "equivalence"),
        _Block(findings_list(comparison), most + 3, "capture blockers"),
        _Block("\n\n".join(cautions(comparison)), most + 1, "cautions"),
        _Block(step_chart(comparison), most + 4, "the chart"),
    ]
    # Provenance stands last and is the last of the details to go.
    details = detail_blocks(comparison) if comparison.phases else []
    for place, block in enumerate(details):
        name = _SUMMARY.search(block)
        rank = most + 5 + len(details) - place
        blocks.append(_Block(block, rank, name[1] if name else "details"))
    return blocks


def _title(comparison: Comparison) -> list[str]:
    names = {side.facts.model for side in comparison.sides if side.facts.model}
    title = comparison.title or " vs ".join(sorted(names))
    return [f"### launchlens: {markdown_text(title)}" if title else "### launchlens"]


def _freshness(measured: str | None, head: str | None) -> list[str]:
    """The measured commit beside the head, and a plain warning when they differ."""
    if measured is None:
        return ["> [!NOTE]\n> It is not known which commit was measured."]
    commit, dirty = measured, False
    for suffix in _DIRTY:
        if measured.endswith(suffix):
            commit, dirty = measured.removesuffix(suffix), True
    short = _hash(commit)
    lines = []
    if head is not None and not _same_commit(commit, head):
        lines.append(f"Measured at {short}; the head is now {_hash(head)}: measure again.")
    if dirty:
        lines.append(f"Measured with files changed that are not in {short}.")
    if lines:
        return ["> [!WARNING]\n" + "\n".join(f"> {line}" for line in lines)]
    return [f"Measured at {short}" + (", the pull request's head." if head else ".")]


def _same_commit(measured: str, head: str) -> bool:
    shorter, longer = sorted((measured.lower(), head.lower()), key=len)
    return len(shorter) >= _SHORT_HASH and longer.startswith(shorter)


def _hash(commit: str) -> str:
    return f"`{re.sub(r'[^0-9A-Za-z]', '', commit)[:_SHORT_HASH] or 'unknown'}`"


def _sentences(comparison: Comparison) -> list[str]:
    if comparison.phases:
        return [f"**{markdown_text(line, _LONG)}**" for line in sentences(comparison)]
    return ["**No steps were measured.**"]


def _metrics(comparison: Comparison, phase: PhaseComparison) -> str:
    """Metric, baseline, this PR, change, verdict; a group of three for each candidate."""
    one = len(comparison.candidates) == 1
    header = ["metric", f"baseline ({markdown_text(comparison.baseline.short)})"]
    for side in comparison.candidates:
        short = markdown_text(side.short)
        header += [f"this PR ({short})" if one else short, "change", "verdict"]
    rows = []
    for row in shown_rows(phase, verbose=False):
        line = [row.title, format_cell(row, row.cells[0])]
        for cell in row.cells[1:]:
            verdict = _VERDICTS.get(cell.verdict) or format_verdict(cell.verdict)
            line += [format_cell(row, cell), format_change(row, cell), verdict]
        rows.append(line)
    used = joined([str(n) for n in phase.steps])
    return f"Per {_kind(phase)}, medians over {used} steps:\n\n{table(header, rows)}"


def _kind(phase: PhaseComparison) -> str:
    return "step" if phase.phase == "unknown" else f"{phase.phase} step"


def _equivalence(comparison: Comparison) -> str:
    from launchlens.render.terminal import describe_equivalence

    said = [
        f"- {markdown_text(side.short)}: {describe_equivalence(item)}"
        for side in comparison.candidates
        for item in side.facts.equivalence
    ]
    return "Outputs beside the baseline's:\n\n" + "\n".join(said) if said else ""


def _gates(gates: Sequence[LimitResult]) -> str:
    if not gates:
        return ""
    lines = [
        f"- {'✅' if gate.passed else '❌'} {markdown_text(describe_gate(gate), _LONG)}"
        for gate in gates
    ]
    return "Thresholds:\n\n" + "\n".join(lines)


def _join(start: Sequence[str], blocks: Sequence[_Block], dropped: Sequence[str]) -> str:
    end = [f"_Left out to stay below GitHub's limit: {', '.join(dropped)}._"] if dropped else []
    return "\n\n".join([*start, *(block.text for block in blocks), *end]) + "\n"


def _cut(text: str, limit: int) -> str:
    """The last resort, for a limit that not even the sentence fits in."""
    end = "…\n"
    return text.encode()[: max(limit - len(end.encode()), 0)].decode(errors="ignore") + end
