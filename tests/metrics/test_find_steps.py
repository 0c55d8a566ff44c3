"""Which ranges are steps: engines' names, nesting, domains, --step, --whole, none at all."""

from __future__ import annotations

import pytest
from build_trace import START_END, TraceBuilder

from launchlens.errors import StepNotFoundError, UsageError
from launchlens.metrics import summarize
from launchlens.metrics.engines import patterns, user_pattern
from launchlens.trace import read_trace


@pytest.fixture
def analyze(tmp_path):
    def measure(trace, **options):
        return summarize(read_trace(trace.write(tmp_path / "t.sqlite")), **options)

    return measure


def working(trace=None):
    """A trace with some work, so that every figure is defined."""
    trace = trace or TraceBuilder()
    trace.launch(10, 15, kernel=(20, 90))
    return trace


@pytest.mark.parametrize(
    ("text", "engine", "phase", "tokens"),
    [
        ("[Executor] _forward_step 7: 1 ctx reqs, 0 gen reqs", "TensorRT-LLM", "prefill", None),
        ("[Executor] _forward_step 7: 0 ctx reqs, 4 gen reqs", "TensorRT-LLM", "decode", None),
        ("[Executor] _forward_step: 2 ctx reqs, 3 gen reqs", "TensorRT-LLM", "mixed", None),
        (
            "[Executor] _forward_step 7: 1 ctx reqs, 25 ctx tokens, 0 gen reqs",
            "TensorRT-LLM",
            "prefill",
            25,
        ),
        ("execute_context_1(25)_generation_0(0)", "vLLM", "prefill", 25),
        ("execute_context_0(0)_generation_8(8)", "vLLM", "decode", 8),
        ("execute_context_1(25)_generation_8(8)", "vLLM", "mixed", 33),
        (
            "execute_9_context_1(sq25sk25sqsq625sqsk625)_generation_8(sq8sk99sqsq8sqsk99)",
            "vLLM",
            "mixed",
            33,
        ),
        ("gpu_model_runner: forward", "vLLM scopes", "unknown", None),
        ("step[EXTEND bs=1 toks=25]", "SGLang", "prefill", 25),
        ("step[SPLIT_PREFILL bs=1 toks=25]", "SGLang", "prefill", 25),
        ("step[DECODE bs=4]", "SGLang", "decode", None),
        ("step[MIXED bs=4 toks=40]", "SGLang", "mixed", 40),
        ("step[TARGET_VERIFY bs=4 toks=16 more]", "SGLang", "decode", 16),
        ("step[DRAFT_EXTEND_V2 bs=4]", "SGLang", "decode", None),
        ("scheduler.run_batch", "SGLang scheduler", "unknown", None),
        ("prefill", "ranges", "prefill", None),
        ("prefill#0", "ranges", "prefill", None),
        ("context phase", "ranges", "prefill", None),
        ("decode 12", "ranges", "decode", None),
        ("generation", "ranges", "decode", None),
        ("forward", "ranges", "unknown", None),
        ("step 3", "ranges", "unknown", None),
    ],
)
@pytest.mark.parametrize("registered", [False, True])
def test_what_a_range_text_says(analyze, text, engine, phase, tokens, registered):
    trace = working()
    trace.range(text, 0, 100, registered=registered)
    (step,) = analyze(trace).steps
    assert (step.range, step.engine, step.phase, step.tokens) == (text, engine, phase, tokens)


@pytest.mark.parametrize(
    "text",
    [
        "prefilling",
        "contextual",
        "decoder layer",
        "my prefill",
        "execute_context_1(25)_generation_0(0) more",
        "[Executor] _forward_step 7: 1 ctx reqs",
        "{'Module': 'model.layers.0', 'Inputs': []}",
        "step[OTHER bs=1",
    ],
)
def test_texts_that_mark_no_step(analyze, text):
    trace = working()
    trace.range(text, 0, 100)
    if text.startswith("step["):  # "step" as anyone's own word
        assert analyze(trace).steps[0].engine == "ranges"
        return
    with pytest.raises(StepNotFoundError):
        analyze(trace)


def test_launchlens_own_names_hold_in_its_own_domain(analyze):
    trace = working()
    trace.domain(3, "launchlens")
    trace.domain(4, "other")
    trace.range("decode", 0, 100, domain=3)
    trace.range("prefill", 0, 50, domain=4)  # the workload's own word is not the harness's step
    (step,) = analyze(trace).steps
    assert (step.range, step.domain, step.engine, step.phase) == (
        "decode", "launchlens", "launchlens", "decode",
    )  # fmt: skip


def test_a_domain_number_means_nothing_in_another_process(analyze):
    trace = working()
    trace.domain(3, "launchlens", pid=1)
    trace.domain(3, "CCCL", pid=2)
    trace.range("prefill", 0, 100, domain=3)
    trace.range("prefill", 0, 100, domain=3, pid=2)
    trace.call("cudaLaunchKernel", 10, 12, pid=2)
    assert [(s.pid, s.domain, s.engine) for s in analyze(trace).steps] == [
        (1, "launchlens", "launchlens"),
        (2, "CCCL", "ranges"),
    ]


def test_a_domain_without_a_name_keeps_its_number(analyze):
    trace = working()
    trace.range("prefill", 0, 100, domain=9)
    assert analyze(trace).steps[0].domain == "domain 9"


def test_the_most_specific_name_wins_and_inner_scopes_do_not_count(analyze):
    trace = working()
    trace.range("scheduler.run_batch", 0, 100)
    trace.range("step[EXTEND bs=1 toks=25]", 2, 98)
    trace.range("forward", 5, 95)
    trace.range("prefill", 6, 94)
    (step,) = analyze(trace).steps
    assert step.engine == "SGLang"


def test_each_process_is_named_by_its_own_engine(analyze):
    trace = working()
    trace.range("step[DECODE bs=1]", 0, 100)
    trace.range("execute_context_1(5)_generation_0(0)", 0, 100, pid=2)
    trace.call("cudaLaunchKernel", 10, 12, pid=2)
    assert [s.engine for s in analyze(trace).steps] == ["SGLang", "vLLM"]


def test_of_nested_steps_the_innermost_counts(analyze):
    trace = TraceBuilder()
    trace.range("prefill outer", 0, 100)
    trace.range("prefill inner", 10, 40)
    trace.range("prefill inner", 50, 90)
    trace.range("prefill other thread", 15, 35, tid=2)
    for start, tid in ((12, 1), (16, 2), (55, 1)):
        trace.launch(start, start + 3, kernel=(start + 5, start + 8), tid=tid)
    assert [(s.range, s.tid, s.start_ns) for s in analyze(trace).steps] == [
        ("prefill inner", 1, 10),
        ("prefill other thread", 2, 15),
        ("prefill inner", 1, 50),
    ]


def test_ranges_that_overlap_without_nesting_are_two_steps(analyze):
    trace = working()
    trace.launch(40, 45, kernel=(100, 110))
    trace.range("prefill a", 0, 60, event=START_END)
    trace.range("prefill b", 30, 100, event=START_END)
    assert [s.range for s in analyze(trace).steps] == ["prefill a", "prefill b"]


def test_a_range_that_ends_on_another_thread_belongs_to_where_it_began(analyze):
    trace = working()
    trace.range("prefill", 0, 100, event=START_END, end_tid=2)
    (step,) = analyze(trace).steps
    assert (step.tid, step.launches) == (1, 1)


def test_marks_and_unclosed_ranges_are_no_steps(analyze):
    trace = working()
    trace.range("prefill mark", 5, None, event=34)
    trace.range("prefill unclosed", 5, None)
    trace.range("prefill#0", 0, 100)
    analysis = analyze(trace)
    assert [s.range for s in analysis.steps] == ["prefill#0"]
    assert "1 NVTX ranges never end in this trace; left out." in analysis.trace.warnings


def test_the_users_pattern_names_steps_and_phases(analyze):
    trace = working()
    trace.range("run ctx 5", 0, 100)
    trace.range("run Decode 6", 100, 150)
    trace.launch(110, 115, kernel=(120, 130))
    trace.range("prefill#0", 200, 300)
    steps = analyze(trace, step=r"run (?P<phase>\w+)").steps
    assert [(s.range, s.phase, s.engine) for s in steps] == [
        ("run ctx 5", "unknown", "--step"),
        ("run Decode 6", "decode", "--step"),
    ]


@pytest.mark.parametrize(
    ("text", "pattern", "phase"),
    [
        ("prefill#0", "^prefill", "prefill"),
        ("decode 17", "17$", "decode"),
        ("[Executor] _forward_step 3: 2 ctx reqs, 0 gen reqs", r"^\[Executor\]", "prefill"),
        ("[Executor] _forward_step 3: 2 ctx reqs, 5 gen reqs", "_forward_step", "mixed"),
        ("execute_context_1(7)_generation_0(0)", "^execute", "prefill"),
        ("my prefill", "prefill", "unknown"),  # no engine's way of writing it
        ("generate", "^generate", "unknown"),  # may hold forward passes of both phases
        ("prefill#0", "^(?P<phase>)prefill", "unknown"),  # the group comes first
        ("prefill of decode", r"of (?P<phase>\w+)", "decode"),
    ],
)
def test_a_users_pattern_keeps_the_phase_that_the_text_tells(analyze, text, pattern, phase):
    trace = working()
    trace.range(text, 0, 100)
    assert [s.phase for s in analyze(trace, step=pattern).steps] == [phase]


def test_a_wrong_pattern_is_a_usage_error(analyze):
    trace = working()
    trace.range("prefill", 0, 100)
    with pytest.raises(UsageError, match="not a regular expression"):
        analyze(trace, step="(")


def test_no_step_lists_the_ten_most_frequent_ranges(analyze):
    trace = working()
    for number in range(12):
        for k in range(12 - number):
            trace.range(f"layer {number}", 100 * k, 100 * k + 10)
    with pytest.raises(StepNotFoundError) as error:
        analyze(trace)
    said = str(error.value)
    assert "'layer 0' ×12, 'layer 1' ×11" in said
    assert "'layer 9' ×3" in said
    assert "layer 10" not in said
    assert "--step" in said


def test_a_pattern_that_matches_nothing_is_quoted(analyze):
    trace = working()
    trace.range("prefill", 0, 100)
    with pytest.raises(StepNotFoundError, match=r"--step 'nothing'.*'prefill' ×1"):
        analyze(trace, step="nothing")


def test_hostile_range_texts_stay_on_one_line_of_the_message(analyze):
    trace = working()
    trace.range("evil\n\x1b[31mred\u202e" + "x" * 5000, 0, 100)
    with pytest.raises(StepNotFoundError) as error:
        analyze(trace)
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)
    assert len(str(error.value)) < 500


def test_no_nvtx_at_all_points_to_whole(analyze):
    with pytest.raises(StepNotFoundError, match=r"no NVTX ranges at all.*--whole"):
        analyze(working())


def test_whole_reads_from_the_first_call_to_the_last_operation(analyze):
    trace = TraceBuilder()
    trace.launch(10, 15, kernel=(20, 90))
    trace.launch(30, 35, kernel=(100, 150))
    (step,) = analyze(trace, whole=True).steps
    assert (step.start_ns, step.window_ns, step.launches, step.busy_ns) == (10, 140, 2, 120)
    assert step.range == "whole trace of process 1"


def test_whole_counts_the_calls_of_all_threads(analyze):
    trace = working()
    trace.launch(40, 45, kernel=(100, 150))
    trace.launch(50, 55, kernel=(160, 170), tid=2)
    analysis = analyze(trace, whole=True)
    (step,) = analysis.steps
    assert (step.launches, step.kernels, step.other_thread_submissions) == (3, 3, 0)
    assert step.inter_launch_ns == 30  # from thread to thread there is no interval
    assert not any("other threads" in note for note in analysis.notes)


def test_whole_of_a_trace_without_cuda_calls(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    with pytest.raises(StepNotFoundError, match="no CUDA API calls"):
        analyze(trace, whole=True)


def test_a_phase_that_is_not_there_says_which_are(analyze):
    trace = working()
    trace.range("prefill#0", 0, 100)
    with pytest.raises(StepNotFoundError, match=r"no decode step \(phases there: prefill ×1\)"):
        analyze(trace, phase="decode")


def test_every_pattern_of_steps_is_found_once_and_the_most_telling_first():
    engines = [(p.engine, p.tier.name) for p in patterns()]
    assert len(set(patterns())) == len(engines) == 10
    assert engines[0] == ("launchlens", "STEP")
    assert engines[-2:] == [("ranges", "WORD"), ("torch.profiler", "WORD")]
    assert [tier for _, tier in engines] == sorted(
        (tier for _, tier in engines), key=["STEP", "PHASE_WORD", "SCOPE", "WORD"].index
    )


def test_a_pattern_that_never_ends_searching_is_one_sentence(monkeypatch):
    monkeypatch.setattr("launchlens.metrics.engines.SEARCH_LIMIT_S", 0.2)
    pattern = user_pattern("(a|aa)+$")
    assert pattern.regex.search("xxaa")
    with pytest.raises(UsageError, match=r"--step '\(a.aa\)\+\$' was still searching after 0\.2 s"):
        pattern.regex.search("a" * 40 + "b")
    assert user_pattern("(a+)+$").regex.search("a" * 40 + "b") is None


@pytest.mark.parametrize(
    "text",
    ["(", "(?P<phase", "a{99999999999}", "(((a{999}){999}){999})", "(" * 20000 + ")" * 20000],
)
def test_what_is_no_usable_pattern_is_one_sentence(text):
    with pytest.raises(UsageError, match="is not a regular expression"):
        user_pattern(text)


def test_a_pattern_is_read_as_python_reads_it():
    found = user_pattern(r"^(?!warm)(?P<phase>\w+) (?P<t>\d{1,3})$").regex.search("decode 17")
    assert (found["phase"], found["t"]) == ("decode", "17")


@pytest.mark.parametrize("edge", ["start", "end"])
def test_a_nested_step_that_shares_an_edge_with_the_outer_range_is_the_step(analyze, edge):
    trace = TraceBuilder()
    start, end = (0, 100) if edge == "start" else (100, 200)
    trace.range("prefill outer", 0, 200)
    trace.range("prefill inner", start, end)
    trace.launch(start + 10, start + 15, kernel=(start + 20, start + 90))
    assert [step.range for step in analyze(trace).steps] == ["prefill inner"]
