"""Downloads of the TUDataset and MoleculeNet collections, from the addresses that PyG keeps."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from zipfile import BadZipFile

from protgnn.errors import DataError

TU_NAMES = (
    *("AIDS", "BZR", "BZR_MD", "COIL-DEL", "COIL-RAG", "COLLAB", "COLORS-3", "COX2", "COX2_MD", "Cuneiform", "DBLP_v1"),
    *("DD", "DHFR", "DHFR_MD", "ENZYMES", "ER_MD", "FIRSTMM_DB", "FRANKENSTEIN", "Fingerprint", "IMDB-BINARY"),
    *("IMDB-MULTI", "KKI", "Letter-high", "Letter-low", "Letter-med", "MCF-7", "MOLT-4", "MSRC_9", "MSRC_21", "MUTAG"),
    *("Mutagenicity", "NCI-H23", "NCI1", "NCI109", "OHSU", "OVCAR-8", "P388", "PC-3", "PROTEINS", "PROTEINS_full"),
    *("PTC_FM", "PTC_FR", "PTC_MM", "PTC_MR", "Peking_1", "REDDIT-BINARY", "REDDIT-MULTI-5K", "REDDIT-MULTI-12K"),
    *("SF-295", "SN12C", "SW-620", "SYNTHETIC", "SYNTHETICnew", "Synthie", "TRIANGLES", "TWITTER-Real-Graph-Partial"),
    *("Tox21_AhR_training", "UACC257", "Yeast", "deezer_ego_nets", "github_stargazers", "mit_ct1", "twitch_egos"),
)
MOLECULE_NET = ("bace", "bbbp", "clintox", "hiv", "muv", "sider", "tox21", "toxcast")


def download_tu(name: str, variable: str) -> Path:
    """The folder of a TU dataset, downloaded once; ``variable`` names where a user may put it instead."""
    from torch_geometric.data import download_url, extract_zip
    from torch_geometric.datasets import TUDataset

    def fetch(folder: Path) -> None:
        archive = download_url(f"{TUDataset.url}/{name}.zip", str(folder), log=False)
        extract_zip(archive, str(folder), log=False)
        Path(archive).unlink()

    return _once(name, fetch, variable) / name


def download_molecules(name: str, variable: str) -> Path:
    """The CSV of a MoleculeNet dataset, downloaded once."""
    from torch_geometric.data import download_url, extract_gz
    from torch_geometric.datasets import MoleculeNet

    address = MoleculeNet.url.format(MoleculeNet.names[name][1])

    def fetch(folder: Path) -> None:
        archive = download_url(address, str(folder), log=False)
        if archive.endswith(".gz"):
            extract_gz(archive, str(folder), log=False)
            Path(archive).unlink()

    return next(_once(name, fetch, variable).glob("*.csv"))


def _once(name: str, fetch: Callable[[Path], None], variable: str) -> Path:
    """A folder in the user's cache that ``fetch`` filled completely, now or at an earlier time."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "protgnn"
    folder = cache / name
    if folder.is_dir():
        return folder
    try:
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=cache))
        try:
            fetch(unfinished)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except (OSError, EOFError, RuntimeError, HTTPException, BadZipFile) as error:
        raise DataError(
            f"{name} is not on this machine and could not be downloaded ({error}): "
            f"put its files into a folder and set {variable} to that folder"
        ) from None
    return folder
