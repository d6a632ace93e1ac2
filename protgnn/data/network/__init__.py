"""One large graph whose nodes, or pairs of nodes, get labels.

``network`` stores it and ``validate`` checks it. ``computation_graphs`` takes out what a target's embedding depends on,
by ``sampling`` neighbours, and ``ego`` what is nearest to it. ``instances`` makes nodes and links look like graphs to a
model; ``node_split`` and ``link_split`` say which of them train.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.data.network.ego import near_targets
    from protgnn.data.network.instances import Instances, NetworkInstances, Reach
    from protgnn.data.network.link_split import LinkPart, LinkSplit, split_links
    from protgnn.data.network.network import Network
    from protgnn.data.network.node_split import check_node_split, split_nodes
    from protgnn.data.network.stats import network_fingerprint, network_statistics

__all__ = [
    "Instances",
    "LinkPart",
    "LinkSplit",
    "Network",
    "NetworkInstances",
    "Reach",
    "check_node_split",
    "near_targets",
    "network_fingerprint",
    "network_statistics",
    "split_links",
    "split_nodes",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Instances": "instances",
        "LinkPart": "link_split",
        "LinkSplit": "link_split",
        "Network": "network",
        "NetworkInstances": "instances",
        "Reach": "instances",
        "check_node_split": "node_split",
        "near_targets": "ego",
        "network_fingerprint": "stats",
        "network_statistics": "stats",
        "split_links": "link_split",
        "split_nodes": "node_split",
    },
)
