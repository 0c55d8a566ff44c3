"""Stacks tied to calls: source lines from Python frames, operators from native ones."""

import pytest
from drawn_traces import call, draw, dtoh, launch

from launchlens.blockers import find_blockers
from launchlens.blockers.stacks import short_symbol
from launchlens.records.stacks import ChainRow, PythonFrame, PythonStack, Stacks

FRAMES = (
    PythonFrame("item", "/venv/lib/python3.12/site-packages/torch/_tensor.py", 900),
    PythonFrame("forward", "/venv/lib/python3.12/site-packages/models/model.py", 12),
)
CHAIN = [
    ("cuStreamSynchronize", "libcuda.so.1"),
    ("c10::cuda::memcpy_and_sync(void*, void const*, long)", "libc10_cuda.so"),
    ("at::native::_local_scalar_dense_cuda(at::Tensor const&)", "libtorch_cuda.so"),
    ("at::_ops::_local_scalar_dense::call(at::Tensor const&)", "libtorch_cpu.so"),
    ("at::native::is_nonzero(at::Tensor const&)", "libtorch_cpu.so"),
    ("_PyEval_EvalFrameDefault", "python3.12"),
]
CHAINS = tuple(ChainRow(5, i, symbol, module) for i, (symbol, module) in enumerate(CHAIN))
COPY, SYNC = "cudaMemcpyAsync_v3020", "cudaStreamSynchronize_v3020"


def read_back():
    return [
        launch(10),
        call(COPY, 50, 60, dtoh(8, 70, 72, "Pinned")),
        call(SYNC, 61, 80, chain=5),  # only synchronizing calls get a chain
        launch(90),
    ]


def test_native_frames_alone_name_the_operator():
    (finding,) = find_blockers(*draw(read_back()), stacks=Stacks(chains=CHAINS))
    assert finding.source is None
    assert finding.stack == (
        "c10::cuda::memcpy_and_sync",
        "at::native::_local_scalar_dense_cuda",
        "at::native::is_nonzero",
    )


def test_python_frames_name_the_line_of_the_model():
    trace, steps = draw(read_back())
    python = PythonStack(61, trace.threads[0].key, FRAMES)
    (finding,) = find_blockers(trace, steps, stacks=Stacks(CHAINS, (python,)))
    assert finding.source == "model.py:12"  # the frame in torch is not the model's
    assert finding.stack[0].startswith("model.py:12 ")  # the program's line comes first
    assert not any("_tensor.py" in frame for frame in finding.stack)
    assert "at::native::is_nonzero" in finding.stack


@pytest.mark.parametrize(
    "file",
    [
        "/usr/lib/python3.12/contextlib.py",
        "python3.12/contextlib.py",
        "torch/utils/_contextlib.py",
        "<frozen importlib._bootstrap>",
    ],
)
def test_frames_of_libraries_are_folded(file):
    trace, steps = draw(read_back())
    frames = (PythonFrame("inner", file, 3), *FRAMES[1:])
    python = PythonStack(61, trace.threads[0].key, frames)
    (finding,) = find_blockers(trace, steps, stacks=Stacks(python=(python,)))
    assert finding.source == "model.py:12"


def test_operators_are_told_apart_by_what_python_called():
    """Two reads of one byte end in the same native frame; Python called different operators."""
    other = [*CHAIN[:4], ("at::native::item(at::Tensor const&)", "libtorch_cpu.so")]
    chains = (*CHAINS, *(ChainRow(6, i, *row) for i, row in enumerate(other)))
    copy = call(COPY, 150, 160, dtoh(8, 170, 172, "Pinned"))
    more = [copy, call(SYNC, 161, 180, chain=6), launch(190)]
    findings = find_blockers(*draw([*read_back(), *more]), stacks=Stacks(chains=chains))
    assert sorted(f.stack[-1] for f in findings) == ["at::native::is_nonzero", "at::native::item"]


def test_different_stacks_are_different_findings():
    more = [call(COPY, 150, 160, dtoh(8, 170, 172, "Pinned")), call(SYNC, 161, 180), launch(190)]
    findings = find_blockers(*draw([*read_back(), *more]), stacks=Stacks(chains=CHAINS))
    assert sorted(len(f.stack) for f in findings) == [0, 3]


def test_symbols_are_shortened():
    assert short_symbol("at::native::copy_impl(at::Tensor&, bool)") == "at::native::copy_impl"
    assert short_symbol("f<void (*)(int)>(int)") == "f<void (*)(int)>"
    name = "at::native::(anonymous namespace)::run(int)"
    assert short_symbol(name) == "at::native::(anonymous namespace)::run"


@pytest.mark.parametrize(
    ("frame", "shown"),
    [
        (
            "_runner.py:{}",
            ["_runner.py:0", "_runner.py:5"],
        ),  # the program's lines, the first of them
        ("at::native::f{}", ["at::native::f0", "…", "at::native::f8"]),  # the outermost names it
    ],
)
def test_a_long_stack_is_cut_where_it_tells_least(frame, shown):
    from dataclasses import replace

    import handmade
    from written import in_terminal

    from launchlens.records.blocking import BlockerReport

    long = replace(handmade.finding(), stack=tuple(frame.format(i) for i in range(9)))
    report = BlockerReport("launchlens.blockers/1", "m", ("prefill",), 1, None, (long,))
    line = " ".join(in_terminal(report, width=200).partition("stack: ")[2].split("\n")[0:1])
    frames = line.split(" ← ")
    assert [f for f in frames if f in shown] == shown
    assert len(frames) == 6 + ("…" in frames)
