"""What each layer of a model puts out in a step, eager and replayed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_A_JUMP = 8  # times the differences of the layers before
_SHORT = 1e-3  # of the longest row: shorter ones are all rounding


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer that ended, and a copy of what it put out (the first tensor of it)."""

    name: str
    module: Any
    output: Any


@contextmanager
def record_outputs(model: Any, into: list[Any] | None = None) -> Iterator[list[Layer]]:
    """Copies what every layer puts out, in the order in which layers end: inner ones first.

    ``into`` are tensors to copy into, as many as are expected, of these shapes: a capture may not
    allow to allocate any on another stream than its own.
    """
    import torch

    ended: list[Layer] = []

    def leave(name: str) -> Callable[..., None]:
        def hook(module: Any, _: Any, output: Any) -> None:
            tensor = _first_tensor(output)
            if tensor is None or not tensor.is_floating_point():
                return
            with torch.no_grad():
                if into is None:
                    tensor = tensor.clone()
                elif len(ended) < len(into) and into[len(ended)].shape == tensor.shape:
                    tensor = into[len(ended)].copy_(tensor)
            ended.append(Layer(name, module, tensor))

        return hook

    handles = [module.register_forward_hook(leave(name)) for name, module in model.named_modules()]
    try:
        yield ended
    finally:
        for handle in handles:
            handle.remove()


def find_first_difference(
    model: Any,
    *,
    eager: Callable[[], Any],
    between: Callable[[], Any],
    capture: Callable[[], Callable[[], Any]],
    replay: Callable[[Callable[[], Any]], Any],
    allowed: Callable[[str], float],
) -> Layer | None:
    """The first layer whose output is another one in a replay than in the eager step.

    Where a replay runs other kernels, small differences grow from layer to layer, and a choice
    near a tie (an expert) may turn for single tokens. So once outputs differ at all, a layer is
    another one only if most of its tokens leave the eager ones by a jump.

    The step is captured once more, with a copy of each layer's output in the graph. ``between``
    runs something else eager, so that neither memory nor the capture holds the answer.

    Args:
        model: its layers are looked at.
        eager: runs the eager step.
        between: runs it on another input.
        capture: captures it; returns what replays it.
        replay: runs the step it is given on the input of ``eager``.
        allowed: roundings of a dtype that are no difference.
    """
    import torch

    between()  # what a cache holds is then the same on both sides
    with record_outputs(model) as ours:
        eager()
    # A copy that is not in the graph leaves its tensor as it is: no number.
    empty = [torch.full_like(layer.output, torch.nan) for layer in ours]
    between()
    with record_outputs(model, empty) as theirs:
        step = capture()
    for tensor in empty:
        tensor.fill_(torch.nan)
    between()
    replay(step)
    before = 0.0
    for mine, other in zip(ours, theirs, strict=False):
        if mine.name != other.name or mine.output.shape != other.output.shape:
            return other
        most, typical = _row_errors(mine.output, other.output)
        dtype = mine.output.dtype
        rounding = allowed(str(dtype).removeprefix("torch.")) * torch.finfo(dtype).eps
        if most > rounding and (before == 0 or typical > _A_JUMP * before):
            return other
        before = max(before, most)
    return None


def place_of_layer(layer: Layer | None) -> dict[str, Any]:
    """A layer's name, class and the place of its forward, as the protocol's check has them."""
    if layer is None:
        return {}
    kind = type(layer.module)
    found: dict[str, Any] = {"module": layer.name or kind.__name__, "module_class": kind.__name__}
    try:
        function = inspect.unwrap(layer.module.forward)
        path = inspect.getsourcefile(function)
        line = inspect.getsourcelines(function)[1]
    except (OSError, TypeError):  # written in no file
        return found
    if path is None:
        return found
    return found | {"source": f"{Path(path).name}:{line}", "path": path, "line": line}


def _first_tensor(output: Any) -> Any:
    import torch

    if isinstance(output, torch.Tensor):
        return output
    parts = output.values() if isinstance(output, dict) else output
    if not isinstance(parts, list | tuple) and not isinstance(output, dict):
        return None
    return next((part for part in parts if isinstance(part, torch.Tensor)), None)


def _row_errors(first: Any, second: Any) -> tuple[float, float]:
    """How far rows (the last dimension) are apart beside their length: the most, the median."""
    import torch

    if torch.equal(first, second):
        return 0.0, 0.0
    mine, other = (t.float().reshape(-1, t.shape[-1] if t.dim() else 1) for t in (first, second))
    length = mine.norm(dim=-1)
    errors = (mine - other).norm(dim=-1) / length.clamp(min=_SHORT * float(length.max()) or 1.0)
    errors = errors.nan_to_num(nan=torch.inf)
    return float(errors.max()), float(errors.median())
