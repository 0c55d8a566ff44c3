"""A layer is scaled by how often it has run, counted in a buffer on the GPU: replays count too."""

import torch

VERDICT = "right"
LAYER = None


def patch(model):
    mlp = model.model.layers[0].mlp
    plain = mlp.forward
    mlp.register_buffer("runs", torch.zeros((), device=model.device, dtype=torch.float32))

    def forward(x):
        mlp.runs.add_(1)
        return plain(x) * (1 + mlp.runs % 7).to(x.dtype)

    mlp.forward = forward
