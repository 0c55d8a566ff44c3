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


def make_checkpoint(folder, checkpoint):
    """A folder with weights under which every token's logits are 0, 1, 2, … by hand.

    All tokens embed as ones, no layer adds anything to them, the last norm leaves ones as they
    are, and row r of the head sums to r.
    """
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(make_model(folder), tie_word_embeddings=False)
    model = transformers.Qwen3ForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.fill_(1)
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        rows = torch.arange(config.vocab_size) / config.hidden_size
        model.lm_head.weight.copy_(rows[:, None].expand_as(model.lm_head.weight))
    model.save_pretrained(checkpoint)
