"""The embedded molecules are those of RDKit's book data, in its order and parts."""

from collections import Counter
from dataclasses import replace

from protgnn.data.stats import fingerprint
from protgnn.datasets.builtin.solubility import read_solubility
from protgnn.datasets.builtin.tables import read_packaged
from protgnn.datasets.load import load
from protgnn.datasets.new_input import known_columns
from protgnn.featurizers.atom_properties import ATOM_PROPERTIES


def test_the_table_has_the_molecules_of_the_source_in_its_order() -> None:
    rows = read_packaged("solubility")
    assert Counter(row["part"] for row in rows) == {"train": 1025, "test": 257}
    assert [row["part"] for row in rows] == ["train"] * 1025 + ["test"] * 257
    assert Counter(row["class"] for row in rows) == {"low": 519, "medium": 517, "high": 246}


def test_the_data_is_that_of_every_earlier_version() -> None:
    """Stored runs and results name this data by its fingerprint."""
    graphs = load("solubility").graphs
    before = replace(graphs.schema, node_features=graphs.schema.node_features[: -len(ATOM_PROPERTIES)])
    assert fingerprint(known_columns(graphs, before)).startswith("5fde1dff35449ca8")


def test_the_given_split_tests_on_the_test_part_and_holds_out_a_tenth_of_the_rest() -> None:
    graphs, split = read_solubility()
    assert split.test.tolist() == list(range(1025, 1282))
    assert sorted([*split.train.tolist(), *split.valid.tolist()]) == list(range(1025))
    assert len(split.valid) in (102, 103) and len(graphs) == 1282
