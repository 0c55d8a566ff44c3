"""Noise is added to a layer's output: eager differs from itself, so replays cannot be judged."""

VERDICT = "unknown"
LAYER = None


def patch(model):
    import torch

    mlp = model.model.layers[0].mlp
    plain = mlp.forward

    def forward(x):
        out = plain(x)
        return out + torch.randn_like(out)

    mlp.forward = forward
