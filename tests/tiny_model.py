"""A two-layer Qwen3 in a folder: small enough for a CPU, built as the true architecture is."""

import json

TINY = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "vocab_size": 128,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 512,
    "tie_word_embeddings": True,
}


def make_model(folder):
    """A folder with the configuration of a two-layer Qwen3."""
    model = folder / "tiny-qwen3"
    model.mkdir(parents=True)
    (model / "config.json").write_text(json.dumps(TINY))
    return model
