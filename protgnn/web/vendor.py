"""Browser code of others, fetched when the package is built or set up: ``python -m protgnn.web.vendor``.

The explorer runs without it; with it, molecules are drawn in an editor. What is fetched is pinned by version and
checksum, comes through ``npm pack``, which runs nothing of it, and is put beside the page with its licence. It is not
part of the repository, and the browser of a user fetches nothing.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from protgnn.errors import ProtGNNError
from protgnn.io.atomic_files import write_bytes

_PATIENCE = 180  # seconds


@dataclass(frozen=True)
class NpmPackage:
    """A package at one version: its checksum, and the files to take, by their names here."""

    name: str
    version: str
    integrity: str
    files: dict[str, str]


PACKAGES = (
    NpmPackage(
        "openchemlib",
        "9.25.0",
        "sha512-FGTaZLJRTGXNC7khx8QvX/EiQBHpH1ncUbT7YXDJhw/Y/aDUKe5WrUIqTguMEtSs3GUHcRUjNUhfkpxulx2UXw==",
        {"openchemlib.js": "package/dist/openchemlib.js", "LICENSE": "package/LICENSE"},
    ),
)
"""OpenChemLib's editor for molecules, BSD-3-Clause."""


def fetch(folder: Path) -> list[Path]:
    """Fetch what is not there yet into a folder; the files that are there now.

    Raises:
        ProtGNNError: npm is missing or cannot fetch, or a package is not the one that is pinned.
    """
    found: list[Path] = []
    for package in PACKAGES:
        own = folder / package.name
        mark = own / "VERSION"
        wanted = [own / name for name in package.files]
        if not (mark.is_file() and mark.read_text() == package.integrity and all(path.is_file() for path in wanted)):
            for path, content in _unpacked(package).items():
                write_bytes(own / path, content)
            write_bytes(mark, package.integrity.encode())
        found += wanted
    return found


def _unpacked(package: NpmPackage) -> dict[str, bytes]:
    """The files of a package, after its checksum has been compared."""
    npm = shutil.which("npm")
    if npm is None:
        raise ProtGNNError("npm is not installed")
    with tempfile.TemporaryDirectory(prefix="protgnn-") as folder:
        command = [npm, "pack", f"{package.name}@{package.version}", "--ignore-scripts", "--pack-destination", folder]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_PATIENCE)
        except (subprocess.SubprocessError, OSError):
            raise ProtGNNError(f"npm cannot fetch {package.name} {package.version}: is there a network?") from None
        packed = next(Path(folder).glob("*.tgz"), None)
        if packed is None:
            raise ProtGNNError(f"npm has fetched no package {package.name}")
        digest = "sha512-" + base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
        if digest != package.integrity:
            raise ProtGNNError(f"{package.name} {package.version} is not the package that is pinned: {digest}")
        with tarfile.open(packed) as archive:
            return {name: _member(archive, member) for name, member in package.files.items()}


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    content = archive.extractfile(name)
    if content is None:
        raise ProtGNNError(f"{name} is no file of the package")
    return content.read()


def main() -> None:
    """Fetch into the installed package; says what is missing, and does not fail a set-up for it."""
    folder = Path(str(files("protgnn.web") / "static" / "vendor"))
    try:
        fetch(folder)
    except (ProtGNNError, OSError) as problem:
        sys.stderr.write(f"no molecule editor in the explorer, where SMILES are typed instead: {problem}\n")


if __name__ == "__main__":
    main()
