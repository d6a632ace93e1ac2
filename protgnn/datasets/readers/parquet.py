"""Parquet files of molecules or sentences."""

from __future__ import annotations

from protgnn.datasets.readers.molecule_rows import OPTIONS, load_molecules, load_new_molecules
from protgnn.datasets.readers.open_table import PARQUET_SUFFIXES
from protgnn.datasets.readers.options import SMILES, TEXT
from protgnn.datasets.readers.reader import Reader
from protgnn.datasets.readers.sentence_rows import SENTENCE_OPTIONS, load_new_sentences, load_sentences

READERS = (
    Reader(
        what="a Parquet file of molecules",
        suffixes=PARQUET_SUFFIXES,
        options=OPTIONS,
        read=load_molecules,
        read_new=load_new_molecules,
        raw=SMILES,
        kind="molecule",
    ),
    Reader(
        what="a Parquet file of sentences",
        suffixes=PARQUET_SUFFIXES,
        options=SENTENCE_OPTIONS,
        read=load_sentences,
        read_new=load_new_sentences,
        raw=TEXT,
        kind="sentence",
        rank=1,
    ),
)
