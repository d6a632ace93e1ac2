"""Words to numbers in their context: the last hidden states of a transformer, a word being the mean of its pieces.

Texts are computed in batches of one length, so that nothing is padded. What is in a batch depends on the sentences
alone: features that were computed in several runs, one of which was killed, are those of a single run.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from protgnn.data.schema import CONTEXTUAL
from protgnn.errors import DataError
from protgnn.featurizers.feature_cache import cached_rows
from protgnn.featurizers.model_folder import TOKENIZER_FILE, digest_of, remember
from protgnn.featurizers.transformer import Transformer, TransformerConfig, read_config
from protgnn.io.limits import check_limit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PIECES_AT_ONCE = 4096
WORTH_A_FILE = 512
"""From so many sentences on features are kept on disk: fewer take seconds."""

_ENCODED_AT_ONCE = 4096
_VERSION = "1"  # of the plan of batches: another plan rounds otherwise


@dataclass(frozen=True)
class Texts:
    """Texts in pieces: ``piece [P]``, the row of the word that each is of ``row [P]``, and where texts begin
    ``start [T + 1]``; ``rows`` is how many words there are in all."""

    piece: np.ndarray
    row: np.ndarray
    start: np.ndarray
    rows: int

    def batches(self) -> list[np.ndarray]:
        """The numbers of the texts of each batch, which are of one length, the short ones first."""
        lengths = np.diff(self.start)
        order = np.argsort(lengths, kind="stable")
        found = []
        for one in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
            size = max(PIECES_AT_ONCE // max(int(lengths[one[0]]), 1), 1) if len(one) else 1
            found += [one[first : first + size] for first in range(0, len(one), size)]
        return found


class ContextualWords:
    """The words of a transformer in a model folder; its weights are read when they are first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.digest = folder, digest_of(folder)
        self.config: TransformerConfig = read_config(folder)
        self.featurizer = f"{CONTEXTUAL}{self.digest}"
        self.columns = tuple(f"hidden {column}" for column in range(self.config.hidden_size))
        remember(folder, self.digest)

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """The features of every word of every sentence, one below the other: ``[N, F]`` in half precision.

        Those of many sentences are kept on disk, and mapped into memory.
        """
        rows, columns = sum(map(len, sentences)), len(self.columns)
        if len(sentences) < WORTH_A_FILE:
            found = np.zeros((rows, columns), dtype=np.float16)
            texts = self._texts(sentences)
            for batch in texts.batches():
                self._fill(texts, batch, found)
            return torch.from_numpy(found)
        plan = _Plan(self, sentences)
        return cached_rows(self._key(sentences), (rows, columns), plan, plan.fill, "Words")

    def _key(self, sentences: Sequence[Sequence[str]]) -> str:
        """A digest of all that features depend on, but for how a processor rounds."""
        mark = hashlib.sha256(f"{_VERSION} {self.digest} {len(sentences)}".encode())
        for words in sentences:
            mark.update(f"\n{len(words)}\0".encode())
            mark.update("\0".join(words).encode("utf-8", "surrogatepass"))
        return mark.hexdigest()[:32]

    @cached_property
    def _model(self) -> Transformer:
        return Transformer.of(self.folder)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        if importlib.util.find_spec("tokenizers") is None:
            raise DataError("Contextual words need the package tokenizers: pip install 'protgnn[text]'")
        from tokenizers import Tokenizer
        from tokenizers.pre_tokenizers import ByteLevel

        path = self.folder / TOKENIZER_FILE
        check_limit("file_bytes", path.stat().st_size, str(path))
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the tokenizer raises nothing more special
            raise DataError(f"{path} cannot be read ({error}): fetch the model again") from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        if self.config.model_type == "roberta":  # a word is to it what follows a space
            tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=True)
        return tokenizer

    def _texts(self, sentences: Sequence[Sequence[str]]) -> Texts:
        """The sentences in pieces; one that is longer than the model can take becomes several texts."""
        most = self.config.most_pieces - len(self._frame)
        pieces: list[int] = []
        rows: list[int] = []
        starts = [0]
        first = 0
        for at in range(0, len(sentences), _ENCODED_AT_ONCE):
            some = sentences[at : at + _ENCODED_AT_ONCE]
            found = self._tokenizer.encode_batch(
                [list(words) for words in some], is_pretokenized=True, add_special_tokens=False
            )
            for words, encoded in zip(some, found, strict=True):
                own = [word for word in encoded.word_ids if word is not None]
                for start, stop in _windows(own, most):
                    pieces += encoded.ids[start:stop]
                    rows += [first + word for word in own[start:stop]]
                    starts.append(len(pieces))
                first += len(words)
        largest = max(pieces, default=0)
        if largest >= self.config.vocab_size:
            raise DataError(f"{self.folder}: its tokenizer has pieces that its model has not: fetch the model again")
        return Texts(np.array(pieces, np.int64), np.array(rows, np.int64), np.array(starts, np.int64), first)

    @cached_property
    def _frame(self) -> list[int]:
        """The pieces that begin and end every text."""
        return list(self._tokenizer.encode("").ids)

    def _fill(self, texts: Texts, batch: np.ndarray, target: np.ndarray) -> None:
        """Write the words of a batch of texts of one length into ``target [N, F]``."""
        places = np.concatenate([np.arange(texts.start[text], texts.start[text + 1]) for text in batch])
        if not len(places):
            return
        inner = torch.from_numpy(texts.piece[places]).view(len(batch), -1)
        before, after = self._frame[:1], self._frame[1:]
        framed = [torch.tensor(piece).expand(len(batch), len(piece)) for piece in (before, after)]
        hidden = self._model(torch.cat([framed[0], inner, framed[1]], dim=1))
        hidden = hidden[:, len(before) : len(before) + inner.shape[1]].reshape(len(places), -1)
        words, place = np.unique(texts.row[places], return_inverse=True)
        sums = torch.zeros(len(words), hidden.shape[1]).index_add_(0, torch.from_numpy(place), hidden)
        counts = torch.from_numpy(np.bincount(place)).unsqueeze(1)
        target[words] = (sums / counts).half().numpy()


class _Plan:
    """The batches of many sentences, made when the first of them is computed."""

    def __init__(self, words: ContextualWords, sentences: Sequence[Sequence[str]]) -> None:
        self.words, self.sentences = words, sentences

    @cached_property
    def texts(self) -> Texts:
        return self.words._texts(self.sentences)

    @cached_property
    def batches(self) -> list[np.ndarray]:
        return self.texts.batches()

    def __len__(self) -> int:
        return len(self.batches)

    def fill(self, step: int, target: np.ndarray) -> None:
        self.words._fill(self.texts, self.batches[step], target)


def _windows(words: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Where to cut a text of more pieces than a model takes: between words; of a word that is longer still, what is
    over is left out. ``words [P]`` is the word of each piece."""
    start = 0
    while start < len(words):
        stop = min(start + most, len(words))
        rest = stop
        if stop < len(words) and words[stop - 1] == words[stop]:
            begin = stop
            while begin > start and words[begin - 1] == words[stop]:
                begin -= 1
            if begin > start:
                stop = rest = begin
            else:
                while rest < len(words) and words[rest] == words[stop - 1]:
                    rest += 1
        yield start, stop
        start = rest


@lru_cache(maxsize=4)
def contextual_words(folder: Path) -> ContextualWords:
    """The words of a model folder; the last few are kept."""
    return ContextualWords(folder)
