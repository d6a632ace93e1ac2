"""Functional groups: the atoms that a chemist names together.

Ertl (2017) marks heteroatoms, carbons with a double or triple bond outside of aromatic rings, acetal carbons and the
carbons of rings of three with a heteroatom; marked neighbours are one group. Marked are the same atoms here, but what
Ertl's rule joins without end is told apart: an enone is an alkene and a ketone, an imide two amides, a triphosphate
three phosphates. Groups may therefore share atoms, as the amides of an imide share their nitrogen
(docs/decisions/0054). A group is one of:

===========  ========================================================================================================
centre       atoms joined by double and triple bonds, with the heteroatoms bound to them: amide, nitro, enol, nitrile
acetal       a carbon bound to two or more of N, O and S that have single bonds alone, with them
small ring   a heteroatom and two carbons in a ring of three
chain        heteroatoms bound to each other otherwise: hydrazine, disulfide, boronic acid
single       a heteroatom that is in none of these: hydroxyl, amine, fluorine
===========  ========================================================================================================

Aromatic atoms belong to their ring.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from protgnn.data.units import mask_of

HYDROGEN, CARBON, AROMATIC, HETERO, OTHER = range(5)
"""What an atom counts as: AROMATIC atoms of any element, HETERO of N, O and S, OTHER of any element that is left."""

Bond = tuple[int, int, bool]
"""Two atoms, and whether the bond between them is double or triple."""


def functional_groups(atoms: Sequence[int], bonds: Iterable[Bond]) -> tuple[int, ...]:
    """The functional groups of a molecule as masks of atoms, the smallest first.

    Args:
        atoms: What each atom counts as, one of the numbers above.
        bonds: Every bond once.
    """
    single: list[list[int]] = [[] for _ in atoms]
    multiple: list[list[int]] = [[] for _ in atoms]
    for start, end, is_multiple in bonds:
        for one, other in ((start, end), (end, start)):
            (multiple if is_multiple else single)[one].append(other)
    free = [number for number, kind in enumerate(atoms) if kind not in (HYDROGEN, AROMATIC)]
    hetero = {number for number in free if atoms[number] != CARBON}
    bound = {number: [other for other in single[number] if other in hetero] for number in free}
    groups = {1 << atom | mask_of(around) for atom, around in _acetals(atoms, free, bound, multiple)}
    for centre in _joined(free, multiple):
        if len(centre) > 1:
            groups.add(mask_of([*centre, *(other for atom in centre for other in bound[atom])]))
    groups |= set(_small_rings(atoms, bound, single))
    covered = _union(groups)
    chained: list[list[int]] = [[] for _ in atoms]
    for atom in hetero:
        chained[atom] = [other for other in bound[atom] if not _share(groups, atom, other)]
    for chain in _joined(hetero, chained):
        if len(chain) > 1 or not covered >> chain[0] & 1:
            groups.add(mask_of(chain))
    return tuple(sorted(groups, key=lambda group: (group.bit_count(), group)))


def _acetals(
    atoms: Sequence[int], free: Iterable[int], bound: dict[int, list[int]], multiple: list[list[int]]
) -> Iterable[tuple[int, list[int]]]:
    for atom in free:
        around = [other for other in bound[atom] if atoms[other] == HETERO and not multiple[other]]
        if atoms[atom] == CARBON and not multiple[atom] and len(around) >= 2:
            yield atom, around


def _small_rings(atoms: Sequence[int], bound: dict[int, list[int]], single: list[list[int]]) -> Iterable[int]:
    for atom, around in bound.items():
        if atoms[atom] != CARBON:
            continue
        for other in around:
            for third in single[atom]:
                if atoms[other] == HETERO and atoms[third] == CARBON and third in single[other]:
                    yield mask_of((atom, other, third))


def _joined(atoms: Iterable[int], neighbours: list[list[int]]) -> list[list[int]]:
    """Atoms that are joined by these neighbours, each once; neighbours that are not among the atoms do not count."""
    left = dict.fromkeys(sorted(atoms))
    found = []
    while left:
        first = next(iter(left))
        del left[first]
        group, waiting = [first], [first]
        while waiting:
            for other in neighbours[waiting.pop()]:
                if other in left:
                    del left[other]
                    group.append(other)
                    waiting.append(other)
        found.append(group)
    return found


def _share(groups: Iterable[int], one: int, other: int) -> bool:
    """Whether two atoms are in one group."""
    both = 1 << one | 1 << other
    return any(group & both == both for group in groups)


def _union(groups: Iterable[int]) -> int:
    found = 0
    for group in groups:
        found |= group
    return found
