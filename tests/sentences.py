"""Small parsed sentences for the tests, and what reading them needs."""

import importlib.util
from pathlib import Path

import pytest

needs_vectors = pytest.mark.skipif(
    importlib.util.find_spec("wordllama") is None or importlib.util.find_spec("tokenizers") is None,
    reason="the word vectors are not installed: pip install 'protgnn[text]'",
)
needs_spacy = pytest.mark.skipif(
    importlib.util.find_spec("spacy") is None, reason="spaCy is not installed: pip install 'protgnn[text]'"
)

GOOD, BAD = ("gripping", "witty", "great", "clever"), ("dull", "boring", "awful", "lame")
NOUNS = ("film", "story", "comedy", "plot", "cast", "tale")


def block(words: list[str], heads: list[int], **comments: str) -> str:
    """A sentence in CoNLL-U; heads are numbered from 1."""
    lines = [f"# {key} = {value}" for key, value in comments.items()]
    rows = zip(words, heads, strict=True)
    lines += [f"{number}\t{word}\t_\t_\t_\t_\t{head}\tdep\t_\t_" for number, (word, head) in enumerate(rows, 1)]
    return "\n".join(lines) + "\n\n"


def reviews(split: bool = False) -> str:
    """Forty-eight tiny film reviews, half of them positive."""
    found = []
    for label, adjectives in (("positive", GOOD), ("negative", BAD)):
        for number, (adjective, noun) in enumerate((one, other) for one in adjectives for other in NOUNS):
            part = {"split": "test" if number % 6 == 5 else "train"} if split else {}
            found.append(block(["a", adjective, noun, "indeed"], [3, 3, 0, 3], label=label, **part))
    return "".join(found)


def make_parser(folder: Path) -> None:
    """A spaCy pipeline with a dependency parser that has seen two sentences: enough to draw arcs."""
    import spacy
    from spacy.training import Example

    pipeline = spacy.blank("en")
    pipeline.add_pipe("parser", config={"min_action_freq": 1})
    examples = [
        Example.from_dict(pipeline.make_doc("a gripping film"), {"heads": [2, 2, 2], "deps": ["det", "amod", "ROOT"]}),
        Example.from_dict(
            pipeline.make_doc("a dull story indeed"), {"heads": [2, 2, 2, 2], "deps": ["det", "amod", "ROOT", "advmod"]}
        ),
    ]
    optimizer = pipeline.initialize(lambda: examples)
    for _ in range(10):
        pipeline.update(examples, sgd=optimizer)
    pipeline.to_disk(folder)
