"""Link prediction: pairs of nodes that are joined or not, split so that no part knows the links of a later one.

The network of a part has the links that its messages may use. None of them is a pair of the same part or of a later
one: training pairs are held out of the training network as validation pairs are out of theirs, so that an encoder
learns on what it will meet, and the whole network may be encoded at once for all pairs of a part.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from protgnn.data.network.network import Network
from protgnn.errors import DataError

LINK_CLASSES = ("no link", "link")
_FEWEST_LINKS = 20  # with fewer, a part could be left empty


@dataclass(frozen=True, eq=False)
class LinkPart:
    """Pairs ``[P, 2]`` with classes ``y [P]`` (0 no link, 1 link), and the network that may be used to tell."""

    network: Network
    pairs: Tensor
    y: Tensor

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """The three parts of a link task."""

    train: LinkPart
    valid: LinkPart
    test: LinkPart


def split_links(
    network: Network,
    seed: int = 0,
    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1),
    held_out: float = 0.3,
    negatives: float = 1.0,
) -> LinkSplit:
    """Split the links by PyG's ``RandomLinkSplit``, with ``negatives`` pairs without a link for each that has one.

    ``held_out`` of the training links are the training pairs, the others their network. The validation network has
    all training links, the test network those and the validation links. A pair of an undirected network is there
    once, smaller number first, in one part only.
    """
    from torch_geometric.transforms import RandomLinkSplit

    if min(fractions) <= 0 or abs(sum(fractions) - 1) > 1e-6:
        raise DataError(f"Expected three positive fractions that add up to 1 (got {fractions})")
    if not 0 < held_out < 1 or negatives <= 0:
        raise DataError(
            f"Expected a held-out share between 0 and 1 and positive negatives (got {held_out}, {negatives})"
        )
    links = network.num_edges if network.directed else network.num_edges // 2
    if links < _FEWEST_LINKS:
        raise DataError(f"Expected at least {_FEWEST_LINKS} links to split (got {links})")
    splitter = RandomLinkSplit(
        num_val=fractions[1],
        num_test=fractions[2],
        is_undirected=not network.directed,
        disjoint_train_ratio=held_out,
        neg_sampling_ratio=negatives,
    )
    bare = replace(network, y=None, motif=None, names=None)
    with _seeded(seed):
        parts = splitter(bare.to_pyg())
    seen = torch.zeros(0, dtype=torch.int64)
    found = []
    for part in reversed(parts):  # a pair that was drawn twice stays where it counts most
        pairs, y = part.edge_label_index, part.edge_label.to(torch.int64)
        if not network.directed:
            pairs = pairs.sort(dim=0).values
        key = pairs[0] * len(network) + pairs[1]
        fresh = _first_time(key) & ~torch.isin(key, seen)
        seen = torch.cat([seen, key[fresh]])
        messages, _ = Network.from_edge_index(
            network.x,
            part.edge_index,
            edge_attr=part.edge_attr,
            names=network.names,
            schema=replace(network.schema, class_names=LINK_CLASSES),
            directed=network.directed,
        )
        found.append(LinkPart(messages, pairs[:, fresh].t().contiguous(), y[fresh]))
    return LinkSplit(found[2], found[1], found[0])


def _first_time(key: Tensor) -> Tensor:
    """Where a number stands for the first time, bool ``[P]``."""
    ascending, order = key.sort(stable=True)
    again = torch.cat([torch.zeros(1, dtype=torch.bool), ascending[1:] == ascending[:-1]])[: len(key)]
    return torch.ones(len(key), dtype=torch.bool).index_put((order[again],), torch.tensor(False))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """PyG's split draws from the global generators of PyTorch and Python: seed them and give them back."""
    before = random.getstate()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        random.seed(seed)
        try:
            yield
        finally:
            random.setstate(before)
