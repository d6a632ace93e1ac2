"""Importing is quick: what is heavy or optional is imported where it is used."""

import subprocess
import sys

import pytest

HEAVY = (
    "matplotlib",
    "rdkit",
    "spacy",
    "transformers",
    "tokenizers",
    "wordllama",
    "pandas",
    "jinja2",
    "resvg_py",
    "networkx",
    "playwright",
)


@pytest.mark.parametrize("module", ["protgnn", "protgnn.cli"])
def test_importing_brings_in_nothing_heavy(module):
    program = f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_public_name_is_there():
    import protgnn

    for name in protgnn.__all__:
        assert getattr(protgnn, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = protgnn.nonsense


def test_drawing_is_imported_without_what_it_draws_with():
    program = "import sys, protgnn.draw.report, protgnn.draw.files, protgnn.draw.png; "
    program += "print(*(name for name in ('matplotlib', 'rdkit', 'jinja2', 'resvg_py') if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
