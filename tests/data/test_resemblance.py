"""How alike two parts look: the definition, by hand and by a slower way."""

from collections import Counter

import pytest
import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.resemblance import Kinds, look_of, resemblance
from protgnn.data.schema import Schema
from protgnn.featurizers.kinds import kinds_of
from protgnn.featurizers.molecule import from_smiles


def look(smiles: str, nodes: list[int] | None = None):
    graph = from_smiles([smiles])
    return look_of(kinds_of(graph), range(len(graph.x)) if nodes is None else nodes)


def slow_labels(kinds: Kinds, part: list[int]) -> Counter[str]:
    """The same labels written out as texts."""
    labels = {node: repr(kinds.nodes[node]) for node in part}
    found = Counter(f"0{label}" for label in labels.values())
    for number in (1, 2):
        texts = {
            node: sorted(f"{edge}>{labels[other]}" for other, edge in kinds.edges[node] if other in part)
            for node in part
        }
        labels = {node: f"({labels[node]}|{texts[node]})" for node in part}
        found.update(f"{number}{label}" for label in labels.values())
    return found


@pytest.mark.parametrize("smiles", ["CCO", "c1ccccc1O", "CC(=O)Nc1ccc(O)cc1", "C1CC1[N+](=O)[O-]"])
def test_resemblance_is_that_of_labels_written_out(smiles):
    graph = from_smiles([smiles])
    kinds, everything = kinds_of(graph), list(range(len(graph.x)))
    parts = [everything, everything[:2], everything[1:], everything[::-1]]
    for one in parts:
        for other in parts:
            mine, theirs = slow_labels(kinds, one), slow_labels(kinds, other)
            wanted = (mine & theirs).total() / (mine | theirs).total()
            assert resemblance(look_of(kinds, one), look_of(kinds, other)) == pytest.approx(wanted)


def test_equal_parts_of_different_molecules_look_the_same():
    assert resemblance(look("c1ccccc1C", [0, 1, 2, 3, 4, 5]), look("Oc1ccccc1", [1, 2, 3, 4, 5, 6])) == 1.0


def test_parts_that_share_no_atom_do_not_resemble_each_other():
    assert resemblance(look("CC"), look("[Na+].[Cl-]")) == 0.0


def test_aromatic_and_aliphatic_rings_share_nothing_and_larger_parts_share_less():
    assert resemblance(look("C1CCCCC1"), look("c1ccccc1")) == 0.0
    assert 0 < resemblance(look("CCCO"), look("CCCCCCO")) < resemblance(look("CCCO"), look("CCCCO")) < 1


def test_two_atoms_by_hand():
    # C-O against C-C: of six labels each, round 0 shares one C; rounds 1 and 2 share nothing
    assert resemblance(look("CO"), look("CC")) == pytest.approx(1 / 11)


def test_a_word_may_hold_a_space_that_does_not_break():
    words = GraphSet(
        x=torch.zeros(2, 1),
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        node_ptr=torch.tensor([0, 2]),
        edge_ptr=torch.tensor([0, 2]),
        names=("10\u00a0000 Dogs",),
        schema=Schema("sentence", (), ("word",)),
    )
    assert kinds_of(words).nodes == ["10\u00a0000", "dogs"]
