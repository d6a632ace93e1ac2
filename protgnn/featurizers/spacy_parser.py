"""Raw sentences to dependency trees, with a spaCy pipeline that the user has."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from protgnn.errors import DataError
from protgnn.featurizers.sentence import Sentence

if TYPE_CHECKING:
    from spacy.language import Language

PARSER_VARIABLE = "PROTGNN_PARSER"
_FOLDER = "parser-en"
_PACKAGE = "en_core_web_sm"
_HOW = (
    f"set {PARSER_VARIABLE} to the name or folder of a spaCy pipeline with a dependency parser, or install one: "
    f"python -m spacy download {_PACKAGE}"
)


def parse_sentences(texts: Sequence[str]) -> list[Sentence]:
    """The dependency tree of each text, which may consist of several sentences; none is empty."""
    pipeline = _pipeline(_place())
    return [
        Sentence(
            tuple(word.text for word in parsed),
            tuple(-1 if word.head.i == word.i else word.head.i for word in parsed),
            tuple(word.dep_ for word in parsed),
        )
        for parsed in pipeline.pipe(" ".join(text.split()) for text in texts)
    ]


def _place() -> str:
    """The pipeline to use: what the variable names, else a folder among the data, else an installed package."""
    if importlib.util.find_spec("spacy") is None:
        raise DataError(
            "Sentences are parsed with spaCy, which is not installed: pip install 'protgnn[text]'. "
            "Parsed sentences (.conllu) need no parser"
        )
    named = os.environ.get(PARSER_VARIABLE)
    if named:
        return named
    data = os.environ.get("PROTGNN_DATA")
    folder = Path(data).expanduser() / _FOLDER if data else None
    if folder is not None and folder.is_dir():
        return str(folder)
    if importlib.util.find_spec(_PACKAGE) is not None:
        return _PACKAGE
    raise DataError(f"There is no parser to read sentences with: {_HOW}. Parsed sentences (.conllu) need none")


@cache
def _pipeline(place: str) -> Language:
    import spacy

    try:
        pipeline = spacy.load(place)
    except Exception as error:  # a folder may be anything: spaCy fails in as many ways
        told = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise DataError(f"spaCy cannot load the pipeline {place} ({told}): {_HOW}") from None
    if "parser" not in pipeline.pipe_names:
        raise DataError(f"The spaCy pipeline {place} has no dependency parser: {_HOW}")
    return pipeline
