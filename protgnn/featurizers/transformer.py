"""The forward pass of BERT and RoBERTa, from a folder as Hugging Face lays it out.

Weights are safetensors and the configuration is JSON: nothing in such a folder is executed. A layer is attention, then
a small network, each added to its input and normalised (Vaswani et al. 2017, post-norm as in Devlin et al. 2019).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import safetensors
import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from protgnn.errors import DataError
from protgnn.io.limits import check_limit
from protgnn.io.text import read_bytes

CONFIG_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"
_PREFIXES = ("bert.", "roberta.")
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
Width = Annotated[int, Field(ge=1, le=65_536)]


class TransformerConfig(BaseModel):
    """What is read of a ``config.json``; its other keys are for training."""

    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())

    model_type: Literal["bert", "roberta", "xlm-roberta"]
    hidden_size: Width
    num_hidden_layers: Annotated[int, Field(ge=1, le=200)]
    num_attention_heads: Annotated[int, Field(ge=1, le=1024)]
    intermediate_size: Width
    vocab_size: Annotated[int, Field(ge=1, le=10_000_000)]
    max_position_embeddings: Annotated[int, Field(ge=4, le=1_000_000)]
    type_vocab_size: Annotated[int, Field(ge=1, le=1000)] = 2
    hidden_act: Literal["gelu", "relu"] = "gelu"
    layer_norm_eps: Annotated[float, Field(gt=0, lt=1)] = 1e-12
    position_embedding_type: Literal["absolute"] = "absolute"
    pad_token_id: Annotated[int, Field(ge=0)] = 0

    @property
    def first_position(self) -> int:
        """The row of the first piece's position: those of RoBERTa begin behind that of padding."""
        return 0 if self.model_type == "bert" else self.pad_token_id + 1

    @property
    def most_pieces(self) -> int:
        """Pieces that one text may have, with those that begin and end it."""
        return self.max_position_embeddings - self.first_position


def read_config(folder: Path) -> TransformerConfig:
    """The configuration of a model folder."""
    path = folder / CONFIG_FILE
    try:
        config = TransformerConfig.model_validate_json(read_bytes(path))
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"])) or "the file"
        raise DataError(
            f"{path}: {place}: {problem['msg']} (got {str(problem['input'])[:40]!r}): models of the types bert, "
            "roberta and xlm-roberta can be read"
        ) from None
    if config.hidden_size % config.num_attention_heads:
        raise DataError(f"{path}: hidden_size must be a multiple of num_attention_heads")
    return config


class Transformer:
    """A transformer that turns pieces of words into their last hidden states."""

    def __init__(self, config: TransformerConfig, weights: dict[str, Tensor]) -> None:
        self.config, self.weights = config, weights

    @classmethod
    def of(cls, folder: Path) -> Transformer:
        """The transformer of a model folder, its weights checked against the configuration."""
        config, path = read_config(folder), folder / WEIGHTS_FILE
        if not path.is_file():
            raise DataError(f"{path} is missing: the weights must be one file of safetensors")
        check_limit("tensor_bytes", path.stat().st_size, str(path))
        try:
            stored = {_plain_name(name): value for name, value in load_file(path).items()}
        except (OSError, ValueError, safetensors.SafetensorError) as error:
            raise DataError(f"{path} cannot be read ({error}): fetch the model again") from None
        weights = {}
        for name, shape in _shapes(config).items():
            found = stored.get(name)
            if found is None or found.shape != shape or not found.is_floating_point():
                got = "nothing" if found is None else f"{found.dtype} {tuple(found.shape)}"
                raise DataError(f"{path}: expected {name} of shape {tuple(shape)} (got {got}): fetch the model again")
            weights[name] = found.float()
        return cls(config, weights)

    @torch.inference_mode()
    def __call__(self, ids: Tensor) -> Tensor:
        """Last hidden states of texts of one length, so that there is no padding: ``[B, L] → [B, L, H]``."""
        config, weight = self.config, self.weights
        first = config.first_position
        places = weight["embeddings.position_embeddings.weight"][first : first + ids.shape[1]]
        kind = weight["embeddings.token_type_embeddings.weight"][0]
        h = self._norm("embeddings.LayerNorm", weight["embeddings.word_embeddings.weight"][ids] + places + kind)
        for layer in range(config.num_hidden_layers):
            name = f"encoder.layer.{layer}"
            h = self._norm(f"{name}.attention.output.LayerNorm", h + self._attention(f"{name}.attention", h))
            wide = self._linear(f"{name}.intermediate.dense", h)
            wide = functional.relu(wide) if config.hidden_act == "relu" else functional.gelu(wide)
            h = self._norm(f"{name}.output.LayerNorm", h + self._linear(f"{name}.output.dense", wide))
        return h

    def _attention(self, name: str, h: Tensor) -> Tensor:
        size, length, width = h.shape
        heads = self.config.num_attention_heads
        query, key, value = (
            self._linear(f"{name}.self.{part}", h).view(size, length, heads, width // heads).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(query, key, value)
        return self._linear(f"{name}.output.dense", mixed.transpose(1, 2).reshape(size, length, width))

    def _linear(self, name: str, h: Tensor) -> Tensor:
        return functional.linear(h, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _norm(self, name: str, h: Tensor) -> Tensor:
        scale, shift = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return functional.layer_norm(h, h.shape[-1:], scale, shift, self.config.layer_norm_eps)


def _plain_name(name: str) -> str:
    """The name of a tensor as models without a head have it, in today's words."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    for old, new in _OLD_NAMES.items():
        if name.endswith(old):
            name = name.removesuffix(old) + new
    return name


def _shapes(config: TransformerConfig) -> dict[str, torch.Size]:
    """The tensors that the forward pass uses."""
    width, wide = config.hidden_size, config.intermediate_size
    found = {
        "embeddings.word_embeddings.weight": torch.Size([config.vocab_size, width]),
        "embeddings.position_embeddings.weight": torch.Size([config.max_position_embeddings, width]),
        "embeddings.token_type_embeddings.weight": torch.Size([config.type_vocab_size, width]),
    }
    linear = {
        **{f"attention.{part}": (width, width) for part in ("self.query", "self.key", "self.value", "output.dense")},
        "intermediate.dense": (wide, width),
        "output.dense": (width, wide),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(config.num_hidden_layers):
        name = f"encoder.layer.{layer}"
        for part, (rows, columns) in linear.items():
            found[f"{name}.{part}.weight"] = torch.Size([rows, columns])
            found[f"{name}.{part}.bias"] = torch.Size([rows])
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    for name in norms:
        found[f"{name}.weight"] = found[f"{name}.bias"] = torch.Size([width])
    return found
