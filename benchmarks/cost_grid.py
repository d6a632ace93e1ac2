"""Accuracy over the weights λ1 of the cluster and λ2 of the separation cost, the paper's figure on both.

``python -m benchmarks.cost_grid --data bbbp`` trains ProtGNN with every pair on random 80/10/10 splits and goes on
where it was stopped; ``protgnn figure grid benchmarks/results/cost_grid.json`` draws it.
"""

from __future__ import annotations

from itertools import product

from benchmarks.sweep import arguments, sweep


def main() -> None:
    parser = arguments(__doc__, "cost_grid")
    parser.add_argument("--clusters", nargs="+", type=float, default=[0, 0.05, 0.1, 0.2, 0.5], help="values of λ1")
    parser.add_argument("--separations", nargs="+", type=float, default=[0, 0.025, 0.05, 0.1, 0.25], help="of λ2")
    chosen = parser.parse_args()
    pairs = product(chosen.clusters, chosen.separations)
    sweep([{"cluster": cluster, "separation": separation} for cluster, separation in pairs], chosen, chosen.results)


if __name__ == "__main__":
    main()
