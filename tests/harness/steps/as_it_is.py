"""The model as it is."""

VERDICT = "right"
LAYER = None


def patch(model):
    del model
