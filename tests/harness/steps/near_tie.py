"""While capturing a layer rounds otherwise, and a later one takes another turn for one token.

A router that is near a tie does that: nothing is wrong with the step, and yet logits differ.
"""

import torch

VERDICT = "unknown"
LAYER = None


def patch(model):
    first, second = (layer.mlp for layer in model.model.layers[:2])
    plain_first, plain_second = first.forward, second.forward

    def rounds_otherwise(x):
        out = plain_first(x)
        return out * (1 + 2**-8) if torch.cuda.is_current_stream_capturing() else out

    def turns(x):
        out = plain_second(x)
        if torch.cuda.is_current_stream_capturing():
            out = torch.cat([out[:, :-1], out[:, -1:] * -100], 1)
        return out

    first.forward, second.forward = rounds_otherwise, turns
