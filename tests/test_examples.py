"""The examples of the documentation run, each in a process of its own; a file of their own, as they take long."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
QUICK = {"estimator", "own_training_loop"}
"""What `make test` runs; the others are slow."""


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow) for path in EXAMPLES],
)
def test_every_example_runs_and_is_shown_on_a_page(tmp_path, path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert any(f'--8<-- "examples/{path.name}"' in page.read_text(encoding="utf-8") for page in PAGES)
