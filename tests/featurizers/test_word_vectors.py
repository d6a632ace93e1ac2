"""Word vectors: there for every word, alike for words that mean alike, and a clear message where they are missing."""

import importlib.util

import pytest
import torch

from protgnn.errors import DataError
from protgnn.featurizers import word_vectors
from protgnn.featurizers.word_vectors import WORD_FEATURES, word_rows
from tests.sentences import needs_vectors


@needs_vectors
def test_words_that_mean_alike_have_vectors_alike():
    film, movie, banana = word_rows(["film", "movie", "banana"]).float()
    alike = torch.nn.functional.cosine_similarity
    assert alike(film, movie, 0) > 0.6 > 0.2 > alike(film, banana, 0)


@needs_vectors
def test_every_word_has_a_vector_of_finite_numbers():
    rows = word_rows(["film", "FILM", "xqzzt", "😀", "日本", "10,5", "\u200b", "a" * 3000])
    assert rows.shape == (8, len(WORD_FEATURES)) and rows.isfinite().all()
    assert torch.equal(rows[0], rows[1]) and rows[2].any() and rows[3].any()


def test_without_the_package_the_message_says_what_to_install(monkeypatch):
    word_vectors._word_llama.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"pip install 'protgnn\[text\]'"):
        word_rows(["film"])
