"""A layer is scaled by how often it has run, which Python counts: a replay keeps one scale."""

VERDICT = "frozen-value"
LAYER = "model.layers.0.mlp"


def patch(model):
    mlp = model.model.layers[0].mlp
    plain, runs = mlp.forward, 0

    def forward(x):
        nonlocal runs
        runs += 1
        return plain(x) * (1 + runs % 7)

    mlp.forward = forward
