"""Raw input to graphs: molecules with RDKit, sentences with a dependency parser and word vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.featurizers.molecule import from_molecules, from_smiles
    from protgnn.featurizers.sentence import Sentence, from_sentences
    from protgnn.featurizers.spacy_parser import parse_sentences

__all__ = ["Sentence", "from_molecules", "from_sentences", "from_smiles", "parse_sentences"]

_HOME = {
    "Sentence": "sentence",
    "from_molecules": "molecule",
    "from_sentences": "sentence",
    "from_smiles": "molecule",
    "parse_sentences": "spacy_parser",
}

__getattr__ = lazy_exports(__name__, _HOME)
