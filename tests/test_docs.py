"""The documentation says what is so: its programs run, its commands exist, its outputs are the stored ones."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands() -> list[tuple[str, ...]]:
    """Every ``protgnn`` command of the pages, without what stands behind a #, once."""
    found = set()
    for page in PAGES:
        for language, block in FENCE.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines() if language == "" else []:
                if line.startswith("protgnn "):
                    found.add(tuple(shlex.split(line, comments=True)[1:]))
    return sorted(found)


def test_the_pages_show_commands_and_examples():
    assert len(commands()) > 20 and len(EXAMPLES) >= 4


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_and_option_of_the_pages_exists(protgnn_command, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "200")
    names = command[:2] if command[0] in ("data", "figure") else command[:1]
    shown = protgnn_command(*names, "--help")
    assert shown.status == 0, shown.err
    for word in command[len(names) :]:
        if word.startswith("-"):
            assert re.search(rf"(^|\s){re.escape(word)}\s", shown.out), f"{names} has no {word}"


def test_the_readme_is_short_and_shows_the_stored_outputs():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert "make demo" in text and "make test" in text
    blocks = re.findall(r"<!-- output: ([\w-]+) -->\n```text\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    for name, block in blocks:
        assert block == (DOCS / "outputs" / f"{name}.txt").read_text(encoding="utf-8"), f"run make docs-outputs {name}"


def _without_code(text: str) -> str:
    """A page without its code, in blocks and in lines: a SMILES may look like a link."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def test_links_between_the_files_of_the_repository_lead_somewhere():
    pages = [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"))]
    links = [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", _without_code(page.read_text(encoding="utf-8")))
        if "://" not in target
    ]
    assert len(links) > 20
    missing = [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()]
    assert missing == []


def test_contributing_names_files_that_exist_and_the_walk_names_each_once():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = text.partition("## The walk of one molecule")[2].partition("\n## ")[0]
    names = re.findall(r"`([\w/]+\.py)`", walk)
    assert len(names) > 20 and len(names) == len(set(names))
    missing = [name for name in names if not (ROOT / "protgnn" / name).exists()]
    assert missing == []
