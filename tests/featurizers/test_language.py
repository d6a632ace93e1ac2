"""The language of a sentence: told where it is clear, and not where it is not."""

import pytest

from protgnn.featurizers.language import language_of, language_of_vocabulary
from protgnn.featurizers.vocabulary import words_to_know

ENGLISH = (
    "the film is a gripping story of love that was made for and by people to be with but not from as on it have at"
)


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("this film is not worth the money", "English"),
        ("Dieser Film ist langweilig und viel zu lang", "German"),
        ("ce film est très long et pas drôle", "French"),
        ("la película no es muy buena , pero el final sí", "Spanish"),
        ("questo film è molto bello ma non per tutti", "Italian"),
        ("deze film is niet erg goed , maar het einde wel", "Dutch"),
        ("этот фильм очень скучный", "a language in Cyrillic script"),
        ("この映画 は とても 退屈 です", "Japanese"),
        ("gripping", None),
        ("10 / 10 !", None),
        ("", None),
    ],
)
def test_a_language_is_named_where_it_is_clear(sentence, language):
    assert language_of(words_to_know(sentence)) == language


def test_the_language_of_a_vocabulary_is_that_of_its_small_words():
    assert language_of_vocabulary(frozenset(ENGLISH.split())) == "English"
    assert language_of_vocabulary(frozenset({"a", "gripping", "film"})) is None


def test_what_is_new_in_every_text_is_no_word_to_know():
    assert words_to_know("@Ann loves #film http://a.b 10 , didn't Film") == ["loves", "didn't", "film"]
