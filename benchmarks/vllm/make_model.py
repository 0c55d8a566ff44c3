"""Writes a model folder for vLLM from a preset: config.json and a tokenizer of made-up words.

    python benchmarks/vllm/make_model.py PRESET FOLDER

Enough for `--load-format dummy`: the shapes are the preset's, the weights random. Words of the
tokenizer are one token each, so that a benchmark's prompts have the length it asked for.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

PRESETS = Path(__file__).resolve().parents[2] / "launchlens" / "harness" / "models.json"
WORDS = 20_000
ARCHITECTURES = {
    "Qwen3Config": "Qwen3ForCausalLM",
    "Gemma3nTextConfig": "Gemma3nForCausalLM",
    "Gemma4TextConfig": "Gemma4ForCausalLM",
    "LlamaConfig": "LlamaForCausalLM",
}


def write_model(preset: str, folder: Path) -> None:
    """Write `config.json` and the two files of a tokenizer for a preset into `folder`."""
    entry = json.loads(PRESETS.read_text())[preset]
    folder.mkdir(parents=True, exist_ok=True)
    # The class fills in defaults, as a published config.json would hold them.
    config = getattr(transformers, entry["config_class"])(**entry["config"]).to_dict()
    config |= {"architectures": [ARCHITECTURES[entry["config_class"]]], "dtype": "bfloat16"}
    if entry["config_class"] == "Gemma4TextConfig":
        # transformers 5.17 refuses a global head size of models whose layers differ, vLLM asks it.
        config["allow_global_per_layer_attribute_access"] = True
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    tokenizer = Tokenizer(WordLevel({"<unk>": 0} | {f"w{i}": i for i in range(1, WORDS)}, "<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>"})
    )


if __name__ == "__main__":
    write_model(sys.argv[1], Path(sys.argv[2]))
