"""Browser code of others is taken only as it is pinned, and a set-up does without it."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from protgnn.errors import ProtGNNError
from protgnn.web import vendor


def an_npm_that_packs(folder: Path, content: bytes) -> None:
    """A program called npm that puts a package of ours where it is told to."""
    with tarfile.open(folder / "package.tgz", "w:gz") as archive:
        for name in ("package/dist/openchemlib.js", "package/LICENSE", "../outside"):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    npm = folder / "npm"
    npm.write_text(f'#!/bin/sh\nfor last; do :; done\ncp "{folder}/package.tgz" "$last/openchemlib.tgz"\n')
    npm.chmod(0o755)


@pytest.fixture
def npm(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    an_npm_that_packs(folder, b"export const other = 1;")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def test_a_package_with_another_checksum_is_refused(npm, tmp_path):
    with pytest.raises(ProtGNNError, match="not the package that is pinned"):
        vendor.fetch(tmp_path / "vendor")
    assert not (tmp_path / "vendor").exists()


def test_the_pinned_package_is_taken_with_its_licence_and_nothing_else(npm, tmp_path, monkeypatch):
    import base64
    import hashlib
    from dataclasses import replace

    digest = hashlib.sha512((npm / "package.tgz").read_bytes()).digest()
    pinned = replace(vendor.PACKAGES[0], integrity="sha512-" + base64.b64encode(digest).decode())
    monkeypatch.setattr(vendor, "PACKAGES", (pinned,))
    vendor.fetch(tmp_path / "vendor")
    found = {str(path.relative_to(tmp_path)) for path in (tmp_path / "vendor").rglob("*") if path.is_file()}
    assert found == {f"vendor/openchemlib/{name}" for name in ("openchemlib.js", "LICENSE", "VERSION")}
    (npm / "npm").write_text("#!/bin/sh\nexit 1\n")
    vendor.fetch(tmp_path / "vendor")  # what is there is not fetched again


def test_without_npm_the_set_up_goes_on(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(vendor, "files", lambda package: tmp_path)
    vendor.main()
    assert "npm is not installed" in capsys.readouterr().err
