"""Which language words are of, told by the small words that every sentence has, and by the script.

A few words per language do not make a linguist: where nothing is clear, nothing is said.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence

_SMALL_WORDS = {
    "English": "the of and to is that it was for with as on be at by this not are but from have they which you what",
    "German": "der die das und ist nicht ein eine einen zu den mit von auf für im dem auch sich wie aber wird ich sehr",
    "French": "le la les et est un une des du que pas dans pour qui sur au avec ce cette il elle mais nous très",
    "Spanish": "el la los las y es un una de que no en por con para del se lo como más pero su muy este",
    "Italian": "il lo la gli e è un una di che non per con del della si come più ma sono molto questo nel anche",
    "Portuguese": "o a os as e é um uma de que não em por com para do da se como mais mas muito este isso",
    "Dutch": "de het een en is niet van dat te op zijn met voor die er maar ook dit deze wordt zeer heel naar bij",
}
_LISTS = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
_SCRIPTS = {
    "CYRILLIC": "a language in Cyrillic script",
    "GREEK": "Greek",
    "ARABIC": "a language in Arabic script",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "a language in Devanagari script",
    "THAI": "Thai",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CJK": "Chinese or Japanese",
}
_FEWEST = 2  # small words of a language before it is named
_COVERED = 0.6  # of the small words of a language that the vocabulary of its texts holds


def language_of(words: Sequence[str]) -> str | None:
    """The language of a sentence, its words in small letters; nothing where it is not clear."""
    scripts = Counter(script for word in words for script in [_script(word)] if script)
    if scripts and 2 * scripts.total() > len(words):
        return scripts.most_common(1)[0][0]
    hits = Counter({language: sum(word in small for word in words) for language, small in _LISTS.items()})
    (first, most), (_, second) = hits.most_common(2)
    return first if most >= _FEWEST and most > second else None


def language_of_vocabulary(vocabulary: Collection[str]) -> str | None:
    """The language of many texts, by the small words among all of their words; nothing where it is not clear."""
    found = {language: sum(word in vocabulary for word in small) / len(small) for language, small in _LISTS.items()}
    best = max(found, key=found.__getitem__)
    return best if found[best] >= _COVERED else None


def _script(word: str) -> str | None:
    """What a script other than the Latin one says of the language."""
    letter = next((letter for letter in word if letter.isalpha()), None)
    return None if letter is None else _SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0].partition("-")[0])
