"""While capturing a layer rounds otherwise, as another kernel for the same sums does."""

import torch

VERDICT = "right"
LAYER = None


def patch(model):
    mlp = model.model.layers[0].mlp
    plain = mlp.forward

    def forward(x):
        out = plain(x)
        return out * (1 + 2**-8) if torch.cuda.is_current_stream_capturing() else out

    mlp.forward = forward
