"""New graphs for a trained model: read from whatever the user has, in the columns and classes of its schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from protgnn.errors import DataError
from protgnn.graphs.checks import check
from protgnn.graphs.conllu import SUFFIXES as PARSED_SUFFIXES
from protgnn.graphs.conllu import read_conllu
from protgnn.graphs.degrees import with_degrees
from protgnn.graphs.instances import NetworkInstances
from protgnn.graphs.labels import renumbered
from protgnn.graphs.network_files import is_network_folder
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.raw_inputs import Labels
from protgnn.graphs.schema import DEGREES, Schema
from protgnn.graphs.text_files import ending
from protgnn.graphs.word_features import FEATURIZER

_RAW_SUFFIXES = (".csv", ".tsv", ".smi", ".txt")
_FOR = {
    "smiles": "a CSV of molecules",
    "text": "a CSV of sentences",
    "label": "a CSV, a CoNLL-U file or a network folder",
    "skip-bad": "files of molecules or sentences",
}
_SUFFIXES = (*_RAW_SUFFIXES, ".jsonl", *PARSED_SUFFIXES)


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
) -> GraphSet:
    """Graphs of a CSV of SMILES or sentences, a text with one per line, a single one, a JSONL or CoNLL-U file or a TU
    folder.

    ``smiles`` or ``text``, and ``label`` name the columns of a CSV. Labels are kept where there are any, and must then
    be classes of the schema; ``labels`` says whether they are needed or passed over. ``say`` is told what was
    skipped or mended.
    """
    given = str(source)
    path = existing_path(given)
    _check_options(schema, smiles, text)
    if path is not None:
        refuse_columns(path, smiles, text, label, skip_bad)
        graphs, notes = _read(path, schema, text if smiles is None else smiles, label, skip_bad, labels)
    elif ending(Path(given)) in _SUFFIXES:
        raise DataError(f"{given}: there is no such file")
    else:
        graphs, notes = _read_one(given, schema), []
    graphs, more = check(conform(graphs, schema), training=False)
    if say is not None:
        for note in (*notes, *more):
            say(note)
    return graphs


def conform(graphs: GraphSet, schema: Schema) -> GraphSet:
    """The graphs under the schema of a model: same columns by name, classes renumbered to the model's.

    Degrees are told by the edges, so they are added where the model wants them behind the columns that there are, and
    left out where it does not.
    """
    width, wanted, given = graphs.num_features, schema.node_features, graphs.schema.node_features
    if wanted[width:] == DEGREES and given in ((), wanted[:width]):
        graphs = with_degrees(replace(graphs, schema=replace(graphs.schema, node_features=wanted[:width])))
    elif given == (*wanted, *DEGREES):
        graphs = replace(graphs, x=graphs.x[:, : len(wanted)], schema=replace(graphs.schema, node_features=wanted))
    _check_columns(graphs.schema, (graphs.num_features, graphs.num_edge_features), schema)
    return replace(graphs, y=renumbered(graphs.y, graphs.schema.class_names, schema.class_names), schema=schema)


def conform_network(instances: NetworkInstances, schema: Schema) -> NetworkInstances:
    """The same for nodes or pairs of a network."""
    network = instances.network
    _check_columns(network.schema, (network.x.shape[1], len(network.schema.edge_features)), schema)
    y = renumbered(instances.y, instances.schema.class_names, schema.class_names)
    return replace(instances, y=y, schema=schema)


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
    suffix = "" if path.is_dir() else ending(path)
    takes = {
        "smiles": suffix in (".csv", ".tsv"),
        "text": suffix in (".csv", ".tsv"),
        "label": suffix in (".csv", ".tsv", *PARSED_SUFFIXES) or is_network_folder(path),
        "skip-bad": suffix in (*_RAW_SUFFIXES, *PARSED_SUFFIXES),
    }
    given = {"smiles": smiles is not None, "text": text is not None, "label": label is not None, "skip-bad": skip_bad}
    for option, taken in takes.items():
        if given[option] and not taken:
            raise DataError(f"{path}: leave --{option} out, which is for {_FOR[option]}")


def _read(
    path: Path, schema: Schema, column: str | None, label: str | None, skip_bad: bool, labels: Labels
) -> tuple[GraphSet, list[str]]:
    from protgnn.graphs import sentence_files, smiles_files
    from protgnn.graphs.jsonl import read_jsonl
    from protgnn.graphs.tu import read_tu

    suffix, classes = ending(path), () if labels == "ignored" else schema.class_names
    if path.is_dir():
        graphs, notes = read_tu(path, schema)
        return (replace(graphs, y=None) if labels == "ignored" else graphs), notes
    if suffix == ".jsonl":
        return read_jsonl(path, classes), []
    if suffix in PARSED_SUFFIXES:
        _check_takes_sentences(str(path), schema)
        return read_conllu(path, label, skip_bad, classes)[:2]
    if suffix not in _RAW_SUFFIXES:
        kinds = ", ".join(_SUFFIXES)
        raise DataError(f"{path}: expected a file that ends in {kinds}, or a TU folder (got {suffix or 'no ending'})")
    if schema.kind == "sentence" and suffix != ".smi":
        _check_takes_sentences(str(path), schema)
        if suffix == ".txt":
            return sentence_files.read_lines(path, skip_bad)
        return sentence_files.read_csv(path, column, label, skip_bad, schema.class_names, labels)
    _check_takes_smiles(str(path), schema)
    if suffix in (".smi", ".txt"):
        return smiles_files.read_smi(path, skip_bad)
    return smiles_files.read_csv(path, column, label, skip_bad, schema.class_names, labels=labels)


def _read_one(text: str, schema: Schema) -> GraphSet:
    from protgnn.graphs.molecules import from_smiles, parse, quiet, shorten
    from protgnn.graphs.sentence_files import read_sentence

    with quiet():
        readable = parse(text) is not None
    if schema.kind == "sentence":
        if readable and not text.isalpha():  # a word may be spelt with the letters of elements
            raise DataError(
                f"{shorten(text)} is a SMILES, and this model was trained on sentences: give it one of those"
            )
        _check_takes_sentences(shorten(text), schema)
        return read_sentence(text)
    if not readable:
        raise DataError(
            f"{shorten(text)} is neither a file nor a SMILES that RDKit can read: check the spelling"
            + (f". This model was trained on {schema.kind}s, not on sentences" if len(text.split()) > 1 else "")
        )
    _check_takes_smiles(text, schema)
    return from_smiles([text])


def _check_options(schema: Schema, smiles: str | None, text: str | None) -> None:
    """Refuse the name of a column that files for this model do not have."""
    for option, given, kind in (("smiles", smiles, "molecule"), ("text", text, "sentence")):
        if given is not None and schema.kind != kind:
            raise DataError(f"This model was trained on {schema.kind}s: leave --{option} out, which is for {kind}s")


def _check_takes_smiles(source: str, schema: Schema) -> None:
    if schema.kind == "sentence":
        raise DataError(f"{source}: this model was trained on sentences, and takes no SMILES")
    if schema.featurizer != "molecule":
        raise DataError(
            f"{source}: this model was trained on graphs whose features came with them, and SMILES have none: "
            "give it a JSONL file or a TU folder made like its training data"
        )


def _check_takes_sentences(source: str, schema: Schema) -> None:
    if schema.kind != "sentence":
        raise DataError(f"{source}: this model was trained on {schema.kind}s, and takes no sentences")
    if schema.featurizer == "given":
        raise DataError(
            f"{source}: this model was trained on sentences whose features came with them: "
            "give it a JSONL file made like its training data"
        )
    if schema.featurizer != FEATURIZER:
        raise DataError(
            f"{source}: this model was trained with the word vectors {schema.featurizer!r}, here are {FEATURIZER!r}: "
            "use the version of protgnn that it was trained with"
        )
