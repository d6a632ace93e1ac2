"""What the amounts of a graph are called: totals and means of its node features, in the words and units of a field."""

from __future__ import annotations

from dataclasses import dataclass

from protgnn.data.schema import Schema

_OF_MOLECULES = {
    "logP share": ("heavy-atom part of Crippen logP", 1.0),
    "refractivity share": ("heavy-atom part of Crippen refractivity", 5.0),
    "polar area share": ("polar surface area (TPSA)", 20.0),
    "surface share": ("heavy-atom part of Labute surface area", 10.0),
    "partial charge": ("heavy-atom partial charge", 0.5),
    "mass": ("heavy-atom mass", 50.0),
    "rings": ("ring memberships", 2.0),
}
"""Hydrogens are no nodes, so Crippen's log P and molar refractivity, Labute's surface in Å², charge and mass lack their
share and are not those of the molecule; the topological polar surface in Å² has none to lack. An atom of two rings has
two memberships. Columns are scaled, and times the number an amount has its own unit."""


_THEMES = {
    "logP share": "lipophilicity",
    "refractivity share": "size",
    "polar area share": "polarity",
    "surface share": "size",
    "partial charge": "polarity",
    "mass": "size",
    "donor": "polarity",
    "acceptor": "polarity",
    "rings": "rings",
    "aromatic": "rings",
    "ring": "rings",
    "element": "elements",
    "degree": "branching",
    "hydrogens": "saturation",
    "charge": "polarity",
    "hybrid": "saturation",
    "chirality": "stereocentres",
    "ring size": "rings",
}
"""What a chemist would call the property that an amount is a measure of, by its feature or the kind of it."""


@dataclass(frozen=True)
class AmountName:
    """What an amount is called, what to multiply it by, and the ``theme`` it belongs to, where it has one."""

    text: str
    unit: float = 1.0
    theme: str = ""

    def say(self, amount: float) -> str:
        """The amount in words: ``logP: 2.31``."""
        value = amount * self.unit
        is_whole = abs(value - round(value)) < 5e-3 or abs(value) >= 100
        return f"{self.text}: {value:.0f}" if is_whole else f"{self.text}: {value:.3g}"


def amount_names(schema: Schema) -> list[AmountName]:
    """The names of the number of nodes, the totals of all node features, and their means."""
    if schema.featurizer != "molecule":
        return _given_names(schema)
    totals, means = [], []
    for name in schema.node_features:
        text, unit = _OF_MOLECULES.get(name, (_atoms(name), 1.0))
        theme = _THEMES.get(name.partition("=")[0], "")
        totals.append(AmountName(text, unit, theme))
        means.append(AmountName(f"{text} per atom" if name in _OF_MOLECULES else f"share of {text}", unit, theme))
    return [AmountName("heavy atoms", theme="size"), *totals, *means]


def _given_names(schema: Schema) -> list[AmountName]:
    """The names where columns came with the graphs; those of molecules say which atom a node is."""
    names = schema.node_features
    if schema.kind == "molecule":
        atoms = list(map(_atoms, names))
        return [AmountName("atoms"), *map(AmountName, atoms), *(AmountName(f"share of {text}") for text in atoms)]
    totals = [AmountName(_nodes(name) if "=" in name else f"sum of {name}") for name in names]
    means = [AmountName(f"share of {_nodes(name)}" if "=" in name else f"mean of {name}") for name in names]
    return [AmountName("nodes"), *totals, *means]


def _nodes(feature: str, nodes: str = "nodes") -> str:
    """The nodes that have a feature, in words."""
    kind, _, value = feature.partition("=")
    if kind == "degree":
        return f"{nodes} with {value} neighbour{'' if value == '1' else 's'}"
    return f"{nodes} with {feature}"


def _atoms(feature: str) -> str:
    """The atoms that have a feature, in words: ``degree=1`` are ``atoms with 1 neighbour``."""
    kind, _, value = feature.partition("=")
    said = {
        "element": f"{value} atoms",
        "degree": _nodes(feature, "atoms"),
        "donor": "H-bond donor atoms",
        "acceptor": "H-bond acceptor atoms",
        "hydrogens": f"atoms with {value} H",
        "charge": f"atoms with charge {value}",
        "hybrid": f"{value.lower()} atoms",
        "chirality": "non-stereocentre atoms" if value == "none" else f"{value} stereocentres",
        "ring size": f"atoms in {value}-membered rings",
    }
    return said.get(kind, f"{feature} atoms")
