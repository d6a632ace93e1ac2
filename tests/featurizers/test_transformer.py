"""The forward pass of a transformer against a plain one, and folders that hold something else."""

import json
import math

import pytest
import torch
from safetensors.torch import load_file, save_file

from protgnn.errors import DataError
from protgnn.featurizers.transformer import Transformer
from tests.sentences import needs_vectors
from tests.tiny_transformer import HEADS, HIDDEN, LAYERS, make_transformer

pytestmark = [needs_vectors]


def slow_states(weights: dict[str, torch.Tensor], ids: list[int]) -> list[list[float]]:
    """The last hidden states of one text, number by number, as the papers write them."""
    rows = {name: value.tolist() for name, value in weights.items()}

    def linear(name: str, x: list[float]) -> list[float]:
        columns = zip(rows[f"{name}.weight"], rows[f"{name}.bias"], strict=True)
        return [sum(a * b for a, b in zip(row, x, strict=True)) + bias for row, bias in columns]

    def norm(name: str, x: list[float]) -> list[float]:
        mean = sum(x) / len(x)
        spread = math.sqrt(sum((value - mean) ** 2 for value in x) / len(x) + 1e-12)
        scaled = zip(x, rows[f"{name}.weight"], rows[f"{name}.bias"], strict=True)
        return [(value - mean) / spread * scale + shift for value, scale, shift in scaled]

    def added(*terms: list[float]) -> list[float]:
        return [sum(values) for values in zip(*terms, strict=True)]

    words, places = rows["embeddings.word_embeddings.weight"], rows["embeddings.position_embeddings.weight"]
    kind = rows["embeddings.token_type_embeddings.weight"][0]
    h = [norm("embeddings.LayerNorm", added(words[one], places[at], kind)) for at, one in enumerate(ids)]
    size = HIDDEN // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            [linear(f"{name}.attention.self.{part}", x) for x in h] for part in ("query", "key", "value")
        )
        mixed = []
        for q in query:
            out: list[float] = []
            for head in range(HEADS):
                own = slice(head * size, (head + 1) * size)
                scores = [
                    math.exp(sum(a * b for a, b in zip(q[own], k[own], strict=True)) / math.sqrt(size)) for k in key
                ]
                shares = [score / sum(scores) for score in scores]
                out += added(*([share * number for number in v[own]] for share, v in zip(shares, value, strict=True)))
            mixed.append(linear(f"{name}.attention.output.dense", out))
        h = [norm(f"{name}.attention.output.LayerNorm", added(x, m)) for x, m in zip(h, mixed, strict=True)]
        wide = [[x / 2 * (1 + math.erf(x / math.sqrt(2))) for x in linear(f"{name}.intermediate.dense", y)] for y in h]
        h = [
            norm(f"{name}.output.LayerNorm", added(x, linear(f"{name}.output.dense", w)))
            for x, w in zip(h, wide, strict=True)
        ]
    return h


def test_hidden_states_are_those_of_the_formula(tmp_path):
    folder = make_transformer(tmp_path)
    ids = [[2, 5, 6, 3], [2, 8, 8, 3]]
    found = Transformer.of(folder)(torch.tensor(ids))
    expected = torch.tensor([slow_states(load_file(folder / "model.safetensors"), one) for one in ids])
    assert torch.allclose(found, expected, atol=1e-5)


def test_weights_may_have_the_names_of_a_model_with_a_head(tmp_path):
    folder = make_transformer(tmp_path)
    plain = Transformer.of(folder)(torch.tensor([[2, 5, 3]]))
    weights = load_file(folder / "model.safetensors")
    older = {
        f"bert.{name}".replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for name, value in weights.items()
    }
    save_file({**older, "cls.predictions.bias": torch.zeros(3)}, folder / "model.safetensors")
    assert torch.equal(Transformer.of(folder)(torch.tensor([[2, 5, 3]])), plain)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "gpt2"}, "model_type.*bert, roberta and xlm-roberta can be read"),
        ({"hidden_size": "8; import os"}, "hidden_size"),
        ({"num_attention_heads": 3}, "multiple of num_attention_heads"),
        ({"vocab_size": 99}, "expected embeddings.word_embeddings.weight of shape"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(tmp_path, change, message):
    folder = make_transformer(tmp_path)
    stored = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**stored, **change}))
    with pytest.raises(DataError, match=message):
        Transformer.of(folder)


def test_weights_that_are_a_pickle_are_not_opened(tmp_path):
    folder = make_transformer(tmp_path)
    torch.save({"a": torch.zeros(1)}, folder / "model.safetensors")
    with pytest.raises(DataError, match=r"model.safetensors cannot be read"):
        Transformer.of(folder)
