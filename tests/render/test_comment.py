"""The pull-request comment: figures, freshness, hostile names, GitHub's limit."""

from __future__ import annotations

import re
from dataclasses import replace

import handmade
import pytest

from launchlens.limits import check_comparison, parse_condition
from launchlens.records.comparison import KernelDiff
from launchlens.render.markdown.comment import LIMIT, render_comment
from launchlens.render.markdown.mermaid import step_chart
from launchlens.report import charts
from launchlens.report.comparison import comparison_document
from launchlens.report.limits import describe_limit

MARKER = "<!-- launchlens:comment:x -->"
SHA, HEAD = "abc1234" + "0" * 33, "def4567" + "0" * 33
HOSTILE = (
    "<script>alert(1)</script> | `x` **b** [l](javascript:x) --> @team #1\n\n# h ```" + "A" * 9000
)


CHART_ROWS = (
    handmade.row("launches", 3828, 1),
    handmade.row("gaps_ns.host", 32_500_000, 0),
    handmade.row("gaps_ns.device", 640_000, 2_000_000),
    handmade.row("gaps_ns.sync", 14_000, None),
    handmade.row("busy_ns", 10_900_000, 11_800_000),
)


def render(made=None, **changes):
    settings = {"marker": MARKER, "measured_commit": SHA, "head_commit": SHA}
    return render_comment(comparison_document(made or handmade.comparison()), **settings | changes)


def test_begins_with_the_marker_and_leads_with_the_sentence():
    lines = [line for line in render().splitlines() if line]
    assert lines[0] == MARKER
    assert "launches per prefill step 3828 → 1" in lines[3]
    assert "49.1 → 13.0 ms untraced" in lines[3]


def test_table_has_baseline_this_pr_change_and_verdict():
    text = render()
    assert "| metric | baseline (eager) | this PR (cudagraph) | change | verdict |" in text
    assert "| launches | 3828 | 1 | −3827 (−99.97%) | 🟢 better |" in text
    assert "| idle | 84.7% | 17.6% | −67.1 pp | 🟢 better |" in text


def test_several_candidates_are_named():
    made = handmade.comparison()
    second = replace(made.candidates[0], label="breakable", short="breakable")
    phase = made.phases[0]
    rows = tuple(replace(r, cells=(*r.cells, r.cells[1])) for r in phase.rows)
    three = {"groups": ("-",) * 3, "steps": (5,) * 3, "dropped": (0,) * 3, "bound": (None,) * 3}
    phase = replace(phase, rows=rows, **three)
    made = replace(made, candidates=(*made.candidates, second), phases=(phase,), differences=())
    header = "| metric | baseline (eager) | cudagraph | change | verdict | breakable | change |"
    assert header in render(made)


@pytest.mark.parametrize(
    ("measured", "head", "said", "warns"),
    [
        (SHA, SHA, "Measured at `abc1234`, the pull request's head.", False),
        (SHA[:9], SHA, "the pull request's head", False),
        (SHA, HEAD, "Measured at `abc1234`; the head is now `def4567`: measure again.", True),
        ("abc", "abc" + "0" * 37, "measure again", True),  # too short to tell
        (SHA + "-dirty", SHA, "files changed that are not in `abc1234`", True),
        (SHA, None, "Measured at `abc1234`.", False),
        (None, HEAD, "not known which commit", False),
        ("x`<b>", HEAD, "Measured at `xb`", True),
    ],
)
def test_measured_commit_stands_beside_the_head(measured, head, said, warns):
    text = render(measured_commit=measured, head_commit=head)
    assert said in text
    assert ("[!WARNING]" in text) is warns


def test_requests_blockers_equivalence_and_thresholds_are_shown():
    made = handmade.comparison(findings=(handmade.finding(),))
    results = check_comparison(
        [parse_condition("launches>+0"), parse_condition("kernels>+0")], made
    )
    limits = [(result.passed, describe_limit(result)) for result in results]
    text = render(made, limits=limits)
    assert "48.3 ms" in text
    assert "TTFT" in text
    assert "modeling&#95;gemma3n.py" in text
    assert "identical" in text
    assert "- ✅ held" in text
    assert "- ❌ FAILED" in text


def test_details_are_collapsed():
    text = render()
    assert text.count("<details>") == text.count("</details>") > 1
    assert "Provenance" in text


def hostile_comparison():
    made = handmade.comparison(
        (*handmade.ROWS, *CHART_ROWS[1:]),
        findings=(handmade.finding(title=HOSTILE, source=HOSTILE, remedy=HOSTILE),),
    )
    side = replace(made.candidates[0], label=HOSTILE, short=HOSTILE)
    phase = made.phases[0]
    changes = replace(
        phase.kernels[0], candidate=HOSTILE, added=(KernelDiff(HOSTILE, 0, 5, 0, 12_000),)
    )
    return replace(
        made,
        title=HOSTILE,
        candidates=(side,),
        phases=(replace(phase, kernels=(changes,)),),
        notes=(HOSTILE,),
    )


def test_hostile_names_cannot_break_out():
    text = render(hostile_comparison())
    assert "<script" not in text
    assert "](javascript" not in text
    assert "@team" not in text
    assert text.count("-->") == 1  # the marker's own
    assert text.count("```") == 2  # the chart's own
    body = re.sub(r"```mermaid.*?```", "", text, flags=re.DOTALL)
    for line in body.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")
    columns = {line.count("|") for line in body.splitlines() if line.startswith("| launches")}
    assert columns == {6}


def test_stays_below_the_limit_by_dropping_details_first_and_says_so():
    full = render(hostile_comparison())
    for limit in (len(full.encode()) - 1, 6000, 3000, 1500):
        text = render(hostile_comparison(), limit=limit)
        assert len(text.encode()) <= limit
        assert text.startswith(MARKER)
        assert "Left out to stay below GitHub" in text
    shorter = render(limit=len(render().encode()) - 1)
    assert "Provenance" in shorter  # the last of the details to go
    assert "| launches | 3828 | 1 |" in shorter


def test_a_huge_comparison_fits():
    made = handmade.comparison()
    diffs = tuple(KernelDiff(f"kernel {i} {'x' * 300}", 0, 1, 0, 1) for i in range(3000))
    findings = tuple(handmade.finding(source=f"file{i}.py:{i}") for i in range(800))
    phase = made.phases[0]
    phase = replace(phase, kernels=(replace(phase.kernels[0], added=diffs),))
    made = replace(made, phases=(phase,), baseline=replace(made.baseline, findings=findings))
    text = render(made)
    assert len(text.encode()) <= LIMIT
    assert "| launches | 3828 | 1 |" in text
    assert "Left out" in text
    assert "blockers" in text.splitlines()[-1]


def test_even_an_absurd_limit_is_kept():
    assert len(render(limit=100).encode()) <= 100


def test_a_failed_variant_is_told():
    made = handmade.failed_candidate(handmade.comparison())
    phase = replace(made.phases[0], steps=(5, 0))
    text = render(replace(made, phases=(phase,)))
    assert "could not be captured at modeling&#95;gemma3n.py" in text


def chart_of(made):
    return step_chart(charts.idle_by_cause(made, made.phases[0], 0))


def test_chart_lays_the_parts_end_to_end():
    chart = chart_of(handmade.comparison(CHART_ROWS))
    assert chart.splitlines()[5:] == [
        "    section eager",
        "    idle Python framework 32.5 ms :crit, 0, 32500",
        "    idle between operations 640.0 µs :crit, 32500, 33140",
        "    GPU busy 10.9 ms :active, 33140, 44040",
        "    section cudagraph",
        "    idle between operations 2.00 ms :crit, 0, 2000",
        "    GPU busy 11.8 ms :active, 2000, 13800",
        "```",
    ]


def test_chart_needs_figures_and_survives_hostile_names():
    assert "```mermaid" not in render(handmade.comparison([handmade.row("launches", 5, 1)]))
    made = handmade.comparison(CHART_ROWS)
    side = replace(made.candidates[0], short="x: y; %% {} #1\nclick a")
    chart = chart_of(replace(made, candidates=(side,)))
    (section,) = [line for line in chart.splitlines() if line.startswith("    section x")]
    assert re.fullmatch(r"    section [A-Za-z0-9 ._+-]+", section)
