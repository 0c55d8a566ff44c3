"""The pull-request comment: figures, freshness, hostile names, GitHub's limit."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import handmade
import pytest
from written import as_github

from launchlens.limits import check_comparison, parse_condition
from launchlens.records.commit import Commit
from launchlens.records.comparison import Difference, KernelDiff
from launchlens.records.variant import Equivalence
from launchlens.render.markdown.comment import Measured, Place, render_comment
from launchlens.render.markdown.mermaid import step_chart
from launchlens.report import charts
from launchlens.report.comparison import comparison_document
from launchlens.report.limits import describe_limit

MARKER = "<!-- launchlens:comment:x -->"
PLACE = Place("GitHub", "pull request", 65_536)
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
TWO_CAUSES = (*CHART_ROWS, handmade.row("gaps_ns.launch", 27_800_000, 0))


def render(made=None, **changes):
    settings = {"marker": MARKER, "place": PLACE, "measured": Measured(SHA, head=SHA)}
    if limit := changes.pop("limit", None):
        settings["place"] = replace(PLACE, longest=limit)
    return render_comment(comparison_document(made or handmade.comparison()), **settings | changes)


def outside_code(page):
    return re.sub(r"<pre.*?</pre>|<code>.*?</code>", "", page, flags=re.DOTALL)


def test_opens_with_the_marker_the_verdict_and_a_few_rows():
    lines = [line for line in render().splitlines() if line]
    assert lines[:2] == [
        MARKER,
        "### Prefill step 3.8× faster · 3828 → 1 launches · outputs identical",
    ]
    assert lines[2:7] == [
        "| prefill | eager | cudagraph | change |",
        "| :--- | ---: | ---: | ---: |",
        "| untraced | 49.1 ms | 13.0 ms | 🟢 3.8× faster (−73.5%) |",
        "| idle | 84.7% | 17.6% | 🟢 −67.1 pp |",
        "| launches | 3828 | 1 | 🟢 −3827 (−99.97%) |",
    ]


def test_outputs_are_told_only_if_they_were_compared_and_wrong_ones_first():
    made = handmade.comparison()

    def heading(*outputs):
        facts = replace(made.candidates[0].facts, equivalence=outputs)
        return render(replace(made, candidates=(replace(made.candidates[0], facts=facts),)))

    apart = Equivalence("bfloat16", 0.5, False, True, 0.9)
    step = "refill step 3.8× faster · 3828 → 1 launches"
    assert f"### P{step}\n" in heading()
    assert f"### P{step} · outputs equal but for rounding\n" in heading(
        replace(apart, tolerance=0.6)
    )
    assert f"### P{step} · outputs differ by up to 0.5\n" in heading(apart)
    wrong = heading(replace(apart, tolerance=0.4))
    assert f"### Outputs differ by more than rounding · p{step}\n" in wrong
    infinite = Equivalence("bfloat16", None, False, False, 0.9)
    assert "### Outputs differ by more than rounding · " in heading(infinite)
    finding = handmade.finding(rule="wrong-replay", confidence="confirmed", silent=True)
    made = replace(made, candidates=(replace(made.candidates[0], findings=(finding,)),))
    assert f"### Replays go wrong · p{step}" in render(made)


def test_sides_that_differ_warn_before_the_table():
    unlike = Difference("ISL", ("25", "512"), serious=True)
    text = render(replace(handmade.comparison(), differences=(unlike,)))
    warning = "> [!WARNING]\n> the sides differ in more than the change: ISL 25 vs 512"
    assert text.index(warning) < text.index("| prefill |")


def test_a_chart_is_there_only_where_it_tells_more_than_the_table():
    """A step that waits for one cause alone is told by its idle."""
    assert "mermaid" not in render(handmade.comparison(CHART_ROWS))
    text = render(handmade.comparison(TWO_CAUSES))
    assert text.index("<summary>Where the time goes</summary>") < text.index("```mermaid")


def test_several_candidates_are_named():
    made = handmade.comparison()
    second = replace(made.candidates[0], label="breakable", short="breakable")
    phase = made.phases[0]
    rows = tuple(replace(r, cells=(*r.cells, r.cells[1])) for r in phase.rows)
    three = {"groups": ("-",) * 3, "steps": (5,) * 3, "dropped": (0,) * 3, "bound": (None,) * 3}
    phase = replace(phase, rows=rows, **three)
    made = replace(made, candidates=(*made.candidates, second), phases=(phase,), differences=())
    text = render(made)
    assert "### Fastest: cudagraph, prefill step 3.8× faster · 3828 → 1 launches" in text
    assert "| prefill | eager | cudagraph | breakable |\n" in text
    assert "| launches | 3828 | 🟢 1 (−99.97%) | 🟢 1 (−99.97%) |" in text


@pytest.mark.parametrize(
    ("measured", "head", "said", "warns"),
    [
        (SHA, SHA, "Measured at `abc1234`, the pull request's head.", False),
        (SHA[:9], SHA, "the pull request's head", False),
        (SHA, HEAD, "Measured at `abc1234`; the head is now `def4567`: measure again.", True),
        ("abc", "abc" + "0" * 37, "measure again", True),  # too short to tell
        (f"{SHA}-dirty", SHA, "files changed that are not in `abc1234`", True),
        (SHA, None, "Measured at `abc1234`.", False),
        (None, HEAD, "not known which commit", False),
        ("x`<b>", HEAD, "Measured at `xb`", True),
    ],
)
def test_measured_commit_stands_beside_the_head(measured, head, said, warns):
    known = Commit.described(measured) if measured else None
    stale = bool(known and head and not known.is_same(head))
    text = render(measured=known and Measured(known.sha, known.dirty, stale, head))
    assert said in text
    assert ("[!WARNING]" in text) is warns
    # What is no warning stands in small letters at the end.
    assert (said in text.splitlines()[-1]) is not warns


def test_requests_blockers_equivalence_and_thresholds_are_shown():
    made = handmade.comparison(findings=(handmade.finding(),))
    results = check_comparison(
        [parse_condition("launches>+0"), parse_condition("kernels>+0")], made
    )
    limits = [(result.passed, describe_limit(result)) for result in results]
    text = render(made, limits=limits)
    assert "48.3 ms" in text
    assert "TTFT" in text
    assert "modeling_gemma3n.py" in text
    assert "identical" in text
    assert "- ✅ held" in text
    assert "- ❌ FAILED" in text


def test_details_are_collapsed():
    made = handmade.comparison(findings=(handmade.finding(),))
    text = render(made)
    assert text.count("<details>") == text.count("</details>") > 1
    visible = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert "Provenance" in text
    for said in ("TTFT", "modeling_gemma3n.py", "sync calls", "Provenance"):
        assert said in text
        assert said not in visible


def test_suspects_of_eager_do_not_stand_beside_a_variant_that_was_captured():
    suspect = handmade.finding(confidence="suspected")
    proven = handmade.finding(confidence="confirmed", source="proven.py:1")
    made = handmade.comparison(findings=(suspect, proven))
    captured = replace(made.candidates[0], captured=True)
    text = render(replace(made, candidates=(captured,)))
    assert "<summary>Capture blockers, eager</summary>" in text
    first, second = text.split("<summary>Suspected in eager, though a variant was captured")
    assert "proven.py" in first
    assert "modeling_gemma3n.py" not in first
    assert "modeling_gemma3n.py" in second
    assert "Suspected in eager, though" not in render(made)


def hostile_comparison():
    made = handmade.comparison(
        (*handmade.ROWS, *TWO_CAUSES[1:]),
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
    page = as_github(text)
    assert "<script" not in page
    assert not re.search(r"<(a|img)\b", page)
    assert not re.search(
        r"@team|#1\b", outside_code(page)
    )  # GitHub finds people and issues in texts
    assert page.count("<!--") == 1  # the marker's own
    assert set(re.findall(r"<([a-z0-9]+)", page)) <= {
        *("h3", "p", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code"),
        *("details", "summary", "pre", "strong", "em", "sub"),
    }
    assert page.count("<pre") == text.count("```mermaid") == 1
    for rows in re.findall(r"<table>.*?</table>", page, flags=re.DOTALL):
        cells = {row.count("<td") or row.count("<th>") for row in rows.split("</tr>")[:-1]}
        assert len(cells) <= 2  # th with an alignment, td
    body = re.sub(r"```mermaid.*?```", "", text, flags=re.DOTALL)
    for line in body.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")
    assert "**b** [l](javascript:x)" in html.unescape(re.sub(r"<[^>]*>", "", page))


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
    place = Place("Elsewhere", "merge request", 1500)
    assert "below Elsewhere's limit" in render(hostile_comparison(), place=place)
    assert "the merge request's head" in render(place=replace(place, longest=9999))


def test_a_huge_comparison_fits():
    made = handmade.comparison()
    diffs = tuple(KernelDiff(f"kernel {i} {'x' * 300}", 0, 1, 0, 1) for i in range(3000))
    findings = tuple(handmade.finding(source=f"file{i}.py:{i}") for i in range(800))
    phase = made.phases[0]
    phase = replace(phase, kernels=(replace(phase.kernels[0], added=diffs),))
    made = replace(made, phases=(phase,), baseline=replace(made.baseline, findings=findings))
    text = render(made)
    assert len(text.encode()) <= PLACE.longest
    assert "| launches | 3828 | 1 |" in text
    assert "Left out" in text
    assert "blockers" in text.splitlines()[-3]


def test_even_an_absurd_limit_is_kept():
    assert len(render(limit=100).encode()) <= 100


def test_a_failed_variant_is_told():
    made = handmade.failed_candidate(handmade.comparison())
    phase = replace(made.phases[0], steps=(5, 0))
    text = render(replace(made, phases=(phase,)))
    assert "### cudagraph could not be captured at modeling_gemma3n.py:1727\n" in text


def chart_of(made):
    return step_chart(charts.idle_by_cause(made, made.phases[0], 0))


def test_chart_lays_the_parts_end_to_end():
    chart = chart_of(handmade.comparison(TWO_CAUSES))
    assert chart.splitlines()[5:] == [
        "    section eager",
        "    idle Python framework 32.5 ms :crit, 0, 32500",
        "    idle launch latency 27.8 ms :crit, 32500, 60300",
        "    idle between operations 640.0 µs :crit, 60300, 60940",
        "    GPU busy 10.9 ms :active, 60940, 71840",
        "    section cudagraph",
        "    idle between operations 2.00 ms :crit, 0, 2000",
        "    GPU busy 11.8 ms :active, 2000, 13800",
        "```",
    ]


def test_chart_needs_figures_and_survives_hostile_names():
    assert "```mermaid" not in render(handmade.comparison([handmade.row("launches", 5, 1)]))
    made = handmade.comparison(TWO_CAUSES)
    side = replace(made.candidates[0], short="x: y; %% {} #1\nclick a")
    chart = chart_of(replace(made, candidates=(side,)))
    (section,) = [line for line in chart.splitlines() if line.startswith("    section x")]
    assert re.fullmatch(r"    section [A-Za-z0-9 ._+-]+", section)
