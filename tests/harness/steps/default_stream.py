"""A layer that always works on the default stream: what it launches is not in the graph."""

import torch

VERDICT = "wrong-replay"
LAYER = "model.layers.1.mlp.inner.gate_proj"


class OnDefaultStream(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        with torch.cuda.stream(torch.cuda.default_stream()):
            return self.inner(x)


def patch(model):
    layer = model.model.layers[1]
    layer.mlp = OnDefaultStream(layer.mlp)
