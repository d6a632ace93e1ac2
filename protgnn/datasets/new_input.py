"""New graphs for a trained model: read from whatever the user has, in the columns and classes of its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from protgnn.data.degree import with_degrees
from protgnn.data.graph_set import GraphSet
from protgnn.data.labels import renumbered
from protgnn.data.network.instances import NetworkInstances
from protgnn.data.schema import DEGREES, Schema
from protgnn.data.validate import check
from protgnn.datasets.readers.options import Labels, OnSkip, ReadOptions
from protgnn.datasets.readers.reader import Source, endings, refuse_options, to_predict
from protgnn.datasets.readers.rows import check_takes_sentences, check_takes_smiles
from protgnn.errors import DataError
from protgnn.io.text import ending


def read_for_prediction(
    source: str | Path,
    schema: Schema,
    *,
    smiles: str | None = None,
    text: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    labels: Labels = "welcome",
    say: Callable[[str], None] | None = None,
    on_skip: OnSkip | None = None,
    remembered: Mapping[str, Any] | None = None,
) -> GraphSet:
    """Graphs of a table of SMILES or sentences, an SDF, a text with one per line, a single one, a JSONL or CoNLL-U file
    or a TU folder.

    ``smiles`` or ``text``, and ``label`` name the columns of a table; where they do not, ``remembered`` may, with the
    options that the model's own data was read with. Labels are kept where there are any, and must then
    be classes of the schema; ``labels`` says whether they are needed or passed over. ``say`` is told what was
    skipped or repaired, ``on_skip`` the line and the fault of each row that was skipped.
    """
    given = str(source)
    path = existing_path(given)
    check_columns_asked(schema, smiles, text)
    if path is not None:
        options = ReadOptions(smiles, text, label, skip_bad, on_skip, remembered=remembered or {})
        refuse_options(path, options)
        graphs, notes = to_predict(path, schema).read_new(Source(path, options), schema, labels)
    elif ending(Path(given)) in endings(training=False):
        raise DataError(f"{given}: there is no such file")
    else:
        graphs, notes = _read_one(given, schema), []
    graphs, more = check(conform(graphs, schema), training=False)
    if say is not None:
        for note in (*notes, *more):
            say(note)
    return graphs


def read_typed(text: str, schema: Schema) -> GraphSet:
    """One SMILES or sentence that a user has typed, as a set of one graph; never a file, whatever it is called.

    Raises:
        DataError: It cannot be read, or is not what a model of the schema takes.
    """
    graphs, _ = check(conform(_read_one(text, schema), schema), training=False)
    return graphs


def conform(graphs: GraphSet, schema: Schema) -> GraphSet:
    """The graphs under the schema of a model: same columns by name, classes renumbered to the model's.

    Columns that the model does not know are left out: degrees, or what molecules have got since it was trained. Degrees
    are told by the edges, so they are added where the model wants them behind the columns that there are.
    """
    _check_words(graphs.schema, schema)
    width, wanted, given = graphs.num_features, schema.node_features, graphs.schema.node_features
    if wanted[width:] == DEGREES and given in ((), wanted[:width]):
        graphs = with_degrees(replace(graphs, schema=replace(graphs.schema, node_features=wanted[:width])))
    else:
        graphs = known_columns(graphs, schema)
    _check_columns(graphs.schema, (graphs.num_features, graphs.num_edge_features), schema)
    return replace(graphs, y=renumbered(graphs.y, graphs.schema.class_names, schema.class_names), schema=schema)


def known_columns(graphs: GraphSet, schema: Schema) -> GraphSet:
    """The graphs without the columns of nodes that a schema does not have; as they are where it has others."""
    wanted, given = schema.node_features, graphs.schema.node_features
    if given == wanted or not set(wanted) <= set(given):
        return graphs
    columns = [given.index(name) for name in wanted]
    return replace(graphs, x=graphs.x[:, columns], schema=replace(graphs.schema, node_features=wanted))


def conform_network(instances: NetworkInstances, schema: Schema) -> NetworkInstances:
    """The same for nodes or pairs of a network."""
    network = instances.network
    _check_columns(network.schema, (network.x.shape[1], len(network.schema.edge_features)), schema)
    y = renumbered(instances.y, instances.schema.class_names, schema.class_names)
    return replace(instances, y=y, schema=schema)


def _check_words(given: Schema, schema: Schema) -> None:
    """Refuse sentences with the features of other words than a model was trained with."""
    from protgnn.featurizers.words import describe_words

    theirs, ours = given.featurizer, schema.featurizer
    if theirs != ours and theirs.startswith("sentence:") and ours.startswith("sentence:"):
        raise DataError(
            f"The model was trained with {describe_words(ours)}, and these sentences have {describe_words(theirs)}: "
            "read them with the words of the model"
        )


def _check_columns(given: Schema, widths: tuple[int, int], schema: Schema) -> None:
    """Refuse columns of nodes and edges other than a model knows."""
    for what, ours, theirs, width in (
        ("node features", schema.node_features, given.node_features, widths[0]),
        ("edge attributes", schema.edge_features, given.edge_features, widths[1]),
    ):
        if len(ours) != width:
            raise DataError(
                f"The model was trained with {len(ours)} {what} and this input has {width}: "
                "give it data made in the same way as its training data"
            )
        differing = [(name, other) for name, other in zip(ours, theirs, strict=False) if name != other]
        if differing:
            raise DataError(
                f"The model's {what} have other names than this input's, such as {differing[0][0]} against "
                f"{differing[0][1]}: give it data made in the same way as its training data"
            )


def existing_path(text: str) -> Path | None:
    """The file or folder that a text names, if there is one; it may be too long or too strange to be a path."""
    try:
        path = Path(text).expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def refuse_columns(path: Path, smiles: str | None, text: str | None, label: str | None, skip_bad: bool) -> None:
    """Refuse what a user says of columns and rows that a file or folder of this kind does not have."""
    refuse_options(path, ReadOptions(smiles, text, label, skip_bad))


def read_sentences(texts: list[str], schema: Schema) -> GraphSet:
    """Raw sentences for a model of that schema, with the words that it was trained with."""
    from protgnn.datasets.readers.sentences import sound_text
    from protgnn.featurizers.sentence import from_sentences
    from protgnn.featurizers.spacy_parser import parse_sentences
    from protgnn.featurizers.words import words_of

    check_takes_sentences("sentences", schema)
    words = words_of(schema, "sentences")
    return from_sentences(parse_sentences([sound_text(text) for text in texts]), words=words)


def _read_one(text: str, schema: Schema) -> GraphSet:
    from protgnn.datasets.readers.sentences import read_sentence
    from protgnn.featurizers.molecule import (
        chemical_problem,
        from_smiles,
        is_inchi,
        parse,
        quiet,
        shorten,
        why_unreadable,
    )
    from protgnn.featurizers.smiles_limits import smiles_fault
    from protgnn.featurizers.words import words_of

    with quiet():
        readable = parse(text) is not None
    if schema.kind == "sentence":
        if readable and not text.isalpha():  # a word may be spelt with the letters of elements
            raise DataError(
                f"{shorten(text)} is a SMILES, and this model was trained on sentences: give it one of those"
            )
        check_takes_sentences(shorten(text), schema)
        return read_sentence(text, words_of(schema, shorten(text)))
    if schema.featurizer == "molecule" and (is_inchi(text) or smiles_fault(text) is not None):
        raise DataError(why_unreadable(text))
    if not readable:
        problem = chemical_problem(text)
        raise DataError(
            f"{shorten(text)} is neither a file nor a SMILES that RDKit can read: {problem or 'check the spelling'}"
            + (f". This model was trained on {schema.kind}s, not on sentences" if len(text.split()) > 1 else "")
        )
    check_takes_smiles(text, schema)
    return from_smiles([as_model_smiles(text, schema)])


def as_model_smiles(smiles: str, schema: Schema) -> str:
    """A SMILES in the form that a model was trained on: without salts and charges, where that is so."""
    from protgnn.featurizers.molecule import parse, quiet
    from protgnn.featurizers.standardise import standardised_smiles

    if not schema.standardise:
        return smiles
    with quiet():
        mol = parse(smiles.strip())
        return smiles if mol is None else standardised_smiles(mol) or smiles


def check_columns_asked(schema: Schema, smiles: str | None, text: str | None) -> None:
    """Refuse the name of a column that files for this model do not have."""
    for option, given, kind in (("smiles", smiles, "molecule"), ("text", text, "sentence")):
        if given is not None and schema.kind != kind:
            raise DataError(f"This model was trained on {schema.kind}s: leave --{option} out, which is for {kind}s")
