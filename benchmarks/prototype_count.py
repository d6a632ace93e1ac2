"""Accuracy over the number m of prototypes per class, the paper's figure on choosing m.

``python -m benchmarks.prototype_count --data bbbp`` trains ProtGNN with every m on random 80/10/10 splits and goes on
where it was stopped; ``protgnn figure over-m benchmarks/results/prototype_count.json`` draws it.
"""

from __future__ import annotations

from benchmarks.sweep import arguments, sweep


def main() -> None:
    parser = arguments(__doc__, "prototype_count")
    parser.add_argument("--counts", nargs="+", type=int, default=[1, 2, 3, 4, 5, 6, 8, 10], help="values of m")
    chosen = parser.parse_args()
    sweep([{"prototypes": count} for count in chosen.counts], chosen, chosen.results)


if __name__ == "__main__":
    main()
