"""Only the eager step halves a layer's output: while capturing another branch is taken."""

import torch

VERDICT = "wrong-replay"
LAYER = "model.layers.1.mlp"


def patch(model):
    mlp = model.model.layers[1].mlp
    plain = mlp.forward

    def forward(x):
        out = plain(x)
        return out if torch.cuda.is_current_stream_capturing() else out * 0.5

    mlp.forward = forward
