"""A transformer of two layers with random weights, as Hugging Face lays models out: small enough to make in a test."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

HIDDEN, HEADS, WIDE, POSITIONS, LAYERS = 8, 2, 12, 24, 2
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "bank", "river", "lend", "##s", "##ing", "gripp", "dull", "film")


def make_transformer(folder: Path, seed: int = 1) -> Path:
    """Write ``config.json``, ``tokenizer.json`` and ``model.safetensors`` of a BERT; its weights follow the seed."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(5)  # as sentence models come: features must not be cut off by it
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(
        json.dumps(
            {
                "model_type": "bert",
                "hidden_size": HIDDEN,
                "num_hidden_layers": LAYERS,
                "num_attention_heads": HEADS,
                "intermediate_size": WIDE,
                "vocab_size": len(PIECES),
                "max_position_embeddings": POSITIONS,
                "auto_map": {"AutoModel": "evil.Model"},
            }
        )
    )
    save_file(_weights(seed), folder / "model.safetensors")
    return folder


def _weights(seed: int) -> dict[str, torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=rng)

    weights = {
        "embeddings.word_embeddings.weight": random(len(PIECES), HIDDEN),
        "embeddings.position_embeddings.weight": random(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": random(2, HIDDEN),
    }
    linear = {f"attention.self.{part}": (HIDDEN, HIDDEN) for part in ("query", "key", "value")}
    linear |= {"attention.output.dense": (HIDDEN, HIDDEN), "intermediate.dense": (WIDE, HIDDEN)}
    linear |= {"output.dense": (HIDDEN, WIDE)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        for name, shape in linear.items():
            weights[f"encoder.layer.{layer}.{name}.weight"] = random(*shape)
            weights[f"encoder.layer.{layer}.{name}.bias"] = random(shape[0])
        norms += [f"encoder.layer.{layer}.{name}.LayerNorm" for name in ("attention.output", "output")]
    for name in norms:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = 1 + 0.1 * random(HIDDEN), random(HIDDEN)
    return weights
