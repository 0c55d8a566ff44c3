"""Which operators are seen, on meta tensors that stand for the GPU's."""

from collections import Counter
from pathlib import Path

import pytest

from launchlens.harness.dispatch import Recorder, observe

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")


pytestmark = pytest.mark.torch
HERE = Path(__file__).name


def record(function, accelerator="meta", model=None):
    recorder = Recorder()
    with observe(model, recorder, accelerator=accelerator):
        function()
    return recorder.events


def line_of(text):
    """The number of the line in this file that holds a marker comment."""
    lines = Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.rstrip().endswith(f"# {text}"))


def test_a_copy_to_the_gpu_has_its_line_size_and_direction():
    gpu = torch.ones(4, device="meta")

    def step():
        epsilon = torch.tensor(1e-5, dtype=torch.bfloat16)
        return torch.maximum(gpu, epsilon.to(gpu.device))  # the copy

    (event,) = record(step)
    assert (event.op, event.kind, event.bytes) == ("aten._to_copy", "htod", 2)
    assert (event.dtype, event.shape, event.pinned) == ("bfloat16", (), False)
    assert event.source == f"{HERE}:{line_of('the copy')}"
    assert event.function == "step"
    assert event.stack[0].endswith(f"{HERE}:{event.line} step")


def test_a_tensor_built_on_the_gpu_from_a_python_value_is_a_copy():
    gpu = torch.ones(4, device="meta")

    def step():
        torch.tensor([1.0, 2.0, 3.0], dtype=torch.float32, device=gpu.device)  # the tensor
        gpu.new_tensor(5)
        torch.as_tensor(7, device="meta")

    events = record(step)
    assert [event.op for event in events] == ["torch.tensor", "torch.new_tensor", "torch.as_tensor"]
    assert [event.bytes for event in events] == [12, 4, 8]
    assert events[0].source == f"{HERE}:{line_of('the tensor')}"


def test_reads_by_the_host_are_seen_in_order():
    gpu = torch.ones(4, device="meta")

    def step():
        gpu.sum().item()
        if (gpu == 0).all():
            gpu.add_(1)
        gpu.cpu()

    assert [(event.op, event.kind, event.bytes) for event in record(step)] == [
        ("aten._local_scalar_dense", "dtoh", 4),
        ("aten._local_scalar_dense", "dtoh", 1),
        ("aten._to_copy", "dtoh", 16),
    ]


def test_copies_into_existing_tensors_have_a_direction():
    gpu, host = torch.zeros(3, device="meta"), torch.zeros(3)

    def step():
        gpu.copy_(host, non_blocking=True)
        gpu.copy_(gpu + 1)

    (event,) = record(step)
    assert (event.kind, event.bytes, event.non_blocking) == ("htod", 12, True)


@pytest.mark.parametrize(
    "step",
    [
        torch.nonzero,
        lambda x: x[x > 0],
        lambda x: torch.masked_select(x, x > 0),
        torch.unique,
        lambda x: torch.repeat_interleave(x, torch.ones(4, dtype=torch.long)),
    ],
    ids=["nonzero", "boolean index", "masked_select", "unique", "repeat_interleave"],
)
def test_operators_that_wait_for_a_size(step):
    # Meta tensors cannot run these: here the CPU stands for the GPU.
    events = record(lambda: step(torch.ones(4)), accelerator="cpu")
    assert [event.kind for event in events][-1] == "sync"
    assert events[-1].bytes is None


@pytest.mark.parametrize("index", [[0, 2], torch.tensor([0, 2])], ids=["list", "tensor"])
def test_host_indices_are_copied(index):
    gpu = torch.ones(4, 4, device="meta")
    (event,) = record(lambda: gpu[:, index])
    assert (event.kind, event.bytes, event.dtype) == ("htod", 16, "int64")


def test_a_scalar_written_through_a_list_is_copied_after_the_list():
    gpu = torch.ones(4, device="meta")

    def step():
        gpu[[0, 2]] = torch.tensor(5.0)

    assert [(event.op, event.bytes) for event in record(step)] == [
        ("torch.Tensor.__setitem__", 16),
        ("aten.index_put_", 4),
    ]


@pytest.mark.parametrize(
    "step",
    [
        lambda x: x * 2 + 1,
        lambda x: torch.maximum(x, torch.tensor(1e-5)),
        lambda x: x.masked_fill(x > 0, 0.0),
        lambda x: x.to(torch.float16),
        lambda x: torch.full((2,), 5.0, device=x.device),
        lambda x: torch.zeros(2) + torch.tensor(1.0),
        lambda x: torch.tensor([1, 2]),
    ],
)
def test_work_that_stays_where_it_is_is_not_reported(step):
    gpu = torch.ones(4, device="meta")
    assert record(lambda: step(gpu)) == []


def test_writing_one_value_through_a_mask_does_not_wait():
    def step():
        tensor = torch.ones(4)
        tensor[tensor > 0] = 0.0

    assert record(step, accelerator="cpu") == []


def test_the_innermost_module_is_named():
    class Inner(torch.nn.Module):
        def forward(self, x):
            return x + torch.tensor(1.0, device=x.device)

    model = torch.nn.Sequential(torch.nn.Identity(), Inner())
    (event,) = record(lambda: model(torch.ones(2, device="meta")), model=model)
    assert event.module == "1"


def test_an_explicit_synchronization_is_seen(monkeypatch):
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    (event,) = record(lambda: torch.cuda.synchronize() or 1)
    assert (event.op, event.kind) == ("torch.cuda.synchronize", "sync")


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_gemma_3n_copies_exactly_what_its_trace_shows(run_harness, dtype):
    """The trace of the E4B step has 6 copies of 2 bytes (4 in float32), 10 of 4, 2 reads of 1."""
    import transformers

    if tuple(int(part) for part in transformers.__version__.split(".")[:2]) > (5, 22):
        pytest.skip("AltUp's copies were removed in transformers 5.23")
    process, result = run_harness(model="gemma-3n-E4B", mode="dispatch", isl=25, dtype=dtype)
    assert process.returncode == 0, process.stderr
    assert result["accelerator"] == "meta"
    groups = Counter(
        (event["kind"], event["bytes"], event["function"]) for event in result["events"]
    )
    assert groups == {
        ("dtoh", 1, "find_packed_sequence_indices"): 2,
        ("htod", 2 if dtype == "bfloat16" else 4, "forward"): 6,
        ("htod", 4, "_gaussian_topk"): 10,
    }
    altup = [event for event in result["events"] if event["function"] == "forward"]
    for event in altup:
        text = Path(event["path"]).read_text().splitlines()[event["line"] - 1]
        assert "epsilon_tensor.to(" in text
        assert event["source"].startswith("modeling_gemma3n.py:")


def test_decode_steps_are_followed_too(tiny_model, run_harness):
    process, result = run_harness(model=str(tiny_model), mode="dispatch", osl=2)
    assert process.returncode == 0, process.stderr
    assert {event["phase"] for event in result["events"]} <= {"prefill", "decode"}


def test_gpt_oss_copies_a_number_for_each_of_its_masks():
    """One mask for sliding layers, one for the others; each is made by ``torch.tensor(0.0, …)``."""
    import inspect

    from transformers import AutoModelForCausalLM, GptOssConfig, masking_utils

    config = GptOssConfig(
        hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        head_dim=16, intermediate_size=64, num_local_experts=4, num_experts_per_tok=2,
        vocab_size=100, sliding_window=4,
    )  # fmt: skip
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    tokens = torch.ones(1, 8, dtype=torch.int64, device="meta")
    events = record(lambda: model(input_ids=tokens, use_cache=False), model=model)
    lines, _ = inspect.findsource(masking_utils)
    made = next(i for i, line in enumerate(lines, 1) if "torch.tensor(0.0, device" in line)
    assert [(e.op, e.kind, e.bytes, e.source, e.module) for e in events] == [
        ("torch.tensor", "htod", 2, f"masking_utils.py:{made}", "model")
    ] * 2
