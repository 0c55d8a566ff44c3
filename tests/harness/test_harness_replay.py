"""The replay check on a tiny model, with a tape in place of a CUDA graph."""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from launchlens.harness.attempt import make_step, run_attempts
from launchlens.harness.inputs import DECODE, PREFILL, make_inputs
from launchlens.harness.models import build_model
from launchlens.harness.other_inputs import with_masks, write_input
from launchlens.harness.replay import INPUTS, Subject, check_replays
from launchlens.harness.replayed import check_attempt, check_prepared
from launchlens.harness.session import open_session
from launchlens.harness.variants.base import Context, Prepared, Variant, forward_call
from launchlens.protocol.spec import HarnessSpec

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

pytestmark = pytest.mark.torch
STEPS = Path(__file__).parent / "steps"
NAMES = sorted(path.stem for path in STEPS.glob("*.py"))


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.no_grad():
        yield


@pytest.fixture
def build(tiny_model, monkeypatch):
    """Builds the tiny model with a patch of `steps/`, its inputs, and a device to capture it on."""
    from tape import Device

    device = Device(monkeypatch)

    def make(name="as_it_is", **more):
        asked = {"isl": 8, "dtype": "float32", "patch": str(STEPS / f"{name}.py")} | more
        spec = HarnessSpec(model=str(tiny_model), result_path="r", **asked)
        model = build_model(spec, "cpu", spec.dtype).module
        return SimpleNamespace(
            spec=spec, model=model, inputs=make_inputs(spec, model, "cpu"), device=device
        )

    yield make
    torch.set_default_dtype(torch.float32)


def attempt(built, rounding=0.0, **options):
    inputs = built.inputs
    context = Context(phase=PREFILL, device="cpu", reset=lambda: inputs.rewind(0))
    forward = forward_call(built.model, inputs.prefill)
    step = make_step(built.model, forward, context, built.device.capture)
    result, failure, replay = run_attempts(step, **options)
    assert (result.captured, failure) == (True, None)
    lines = result.patched_sources
    return check_attempt(step, inputs, built.spec.dtype, lines, lambda: replay() + rounding)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_each_step_is_judged_as_it_should_be(build, name, dtype):
    told = import_module(f"steps.{name}")
    check = attempt(build(name, dtype=dtype))
    assert (check.verdict, check.module) == (told.VERDICT, told.LAYER), check


def test_a_state_on_the_gpu_is_the_same_for_both_sides_when_layers_are_looked_at(build):
    """Rounding makes the check look at layers; their counter must then stand as it stood."""
    built = build("device_counter")
    check = attempt(built, rounding=1e-6)
    assert 0 < check.max_abs_diff < check.tolerance
    assert check.verdict == "right"


def test_a_right_step_was_tried_with_tokens_lengths_positions_and_masks(build):
    check = attempt(build())
    assert check.inputs >= 2 * INPUTS
    assert check.varied == ("tokens", "lengths", "positions", "masks")
    assert (check.differing, check.max_abs_diff, check.eager_spread) == (0, 0.0, 0.0)


def test_a_wrong_step_tells_how_far_it_is_off_and_where(build):
    check = attempt(build("host_branch"))
    assert check.differing == INPUTS
    assert check.max_abs_diff > check.tolerance > check.eager_spread == 0
    assert (check.module, check.module_class) == ("model.layers.1.mlp", "Qwen3MLP")
    assert check.source.startswith("host_branch.py:")


def test_a_frozen_value_shows_as_eager_that_differs_from_itself(build):
    check = attempt(build("python_counter"))
    assert check.eager_spread > check.tolerance
    assert "eager differs from itself" in check.reason


def test_random_numbers_are_a_reason_why_it_cannot_be_told(build):
    check = attempt(build("random_noise"))
    assert "draws random numbers" in check.reason
    assert check.module is None


def test_a_step_that_says_the_same_to_every_input_proves_nothing(build):
    built = build()
    built.model.lm_head.weight.zero_()
    check = attempt(built)
    assert (check.verdict, check.reason) == (
        "unknown",
        "the eager step's outputs are the same for every input",
    )


def test_outputs_that_are_not_finite_prove_nothing(build):
    built = build()
    built.model.model.norm.weight.fill_(float("inf"))
    check = attempt(built)
    assert check.verdict == "unknown"
    assert "not finite" in check.reason
    assert check.max_abs_diff is None


def test_a_replay_that_fails_is_a_wrong_one():
    logits = torch.arange(6.0).reshape(1, 2, 3)

    def replay():
        raise RuntimeError("CUDA error: an illegal memory access was encountered\nmore")

    check = check_replays(
        Subject(
            model=torch.nn.Identity(), device="cpu", dtype="float32", eager=lambda: logits,
            replay=replay, set_input=logits.fill_, varied=("tokens",),
        )
    )  # fmt: skip
    assert check.verdict == "wrong-replay"
    assert check.reason.endswith(
        "RuntimeError: CUDA error: an illegal memory access was encountered"
    )


def scripted(eager, replays, dtype="float32"):
    """A check of a step whose outputs are given: by input, and by how often it was run there."""
    state = {}

    def set_input(index):
        state["index"] = index

    def runner(outputs):
        runs = {}

        def run():
            index = state["index"]
            runs[index] = runs.get(index, -1) + 1
            return torch.tensor([[float(outputs(index, runs[index]))]])

        return run

    return check_replays(
        Subject(torch.nn.Identity(), "cpu", dtype, runner(eager), runner(replays), set_input, ())
    )


def test_rounding_of_the_dtype_is_no_difference():
    # 8 roundings of 2**-7 beside a largest output of 7: 0.4375.
    near = scripted(lambda i, _: i, lambda i, _: i + 0.43, "bfloat16")
    assert (near.verdict, near.differing) == ("right", 0)
    assert near.tolerance == pytest.approx(8 * 2**-7 * 7)
    far = scripted(lambda i, _: i, lambda i, _: i + 0.45, "bfloat16")
    assert (far.verdict, far.differing) == ("wrong-replay", INPUTS)


def test_eagers_own_noise_is_no_difference():
    # 8 roundings of TF32, 2**-10, beside a largest output of 7: 0.055. Noise of 0.03 makes it 0.12.
    def noisy(index, run):
        return index + 0.03 * (run % 2)

    assert scripted(noisy, lambda i, run: i + 0.1 + 1e-6 * run).verdict == "right"
    assert scripted(lambda i, _: i, lambda i, _: i + 0.1).verdict == "wrong-replay"


def test_one_input_that_differs_is_enough():
    check = scripted(lambda i, _: i, lambda i, _: 9 if i == 5 else i)
    assert (check.verdict, check.differing, check.max_abs_diff) == ("wrong-replay", 1, 4.0)


def test_a_small_drift_that_replays_lack_is_a_frozen_value():
    check = scripted(lambda i, run: i + 1e-6 * run, lambda i, _: i)
    assert check.verdict == "frozen-value"


def test_the_second_run_on_an_input_is_compared_too():
    check = scripted(lambda i, _: i, lambda i, run: i + (run == 1))
    assert (check.verdict, check.differing) == ("wrong-replay", INPUTS)


def test_inputs_differ_in_all_that_a_prefill_has(build):
    built = build()
    masked = with_masks(built.model, built.inputs.prefill)
    seen = []
    for index in range(INPUTS):
        write_input(built.inputs, masked, PREFILL, 128, index)
        mask = masked["attention_mask"]
        assert bool(mask[:, -1].all())  # the last token is one
        assert masked["position_ids"][0, -1] == mask[0].sum() - 1
        seen.append((masked["input_ids"].tolist(), mask.tolist()))
    assert len({str(tokens) for tokens, _ in seen}) == INPUTS
    assert len({str(mask) for _, mask in seen}) > 3


class Taped(Variant):
    """Captures on a tape; ``wrong`` phases give another answer while they are captured."""

    name = "taped"
    captures = True
    one_graph = True

    def __init__(self, device, wrong=()):
        self.device, self.wrong = device, wrong

    def prepare(self, model, inputs, context):
        forward = forward_call(model, inputs)
        for _ in range(2):
            context.reset()
            forward()
        context.reset()
        factor = 2.0 if context.phase in self.wrong else 1.0
        return Prepared(self.device.capture(lambda: forward() * factor), "captured")


@pytest.mark.parametrize("dtypes", [(), ("bfloat16",)])
@pytest.mark.parametrize("wrong", [(), (PREFILL,), (DECODE,)])
def test_each_phase_of_a_captured_variant_is_checked(build, monkeypatch, wrong, dtypes):
    built = build(osl=4, equivalence_dtypes=dtypes)
    variant = Taped(built.device, wrong)
    monkeypatch.setattr("launchlens.harness.session.find_variant", lambda _: variant)
    checks = check_prepared(open_session(built.spec, built.model, "cpu"))
    assert {phase: check.verdict for phase, check in checks.items()} == {
        phase: "wrong-replay" if phase in wrong else "right" for phase in (PREFILL, DECODE)
    }
    assert checks[DECODE].varied == ("tokens", "lengths", "positions")
