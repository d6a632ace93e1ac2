"""Importing is quick, names are unique, files are short: what holds for the package as a whole."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import protgnn

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
    "optuna",
)


@pytest.mark.parametrize("module", ["protgnn", "protgnn.cli.main"])
def test_importing_brings_in_nothing_heavy(module):
    program = f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(("chosen", "waits"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_wait_without_spinning_unless_the_user_says_so_before_torch_is_there(chosen, waits):
    environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"}
    environment |= {} if chosen is None else {"OMP_WAIT_POLICY": chosen}
    program = "import os, sys, protgnn; print(os.environ['OMP_WAIT_POLICY'], 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == [waits, "False"]


PACKAGES = [
    *("io", "data", "data.network", "featurizers", "datasets", "model", "search", "training", "explain"),
    *("explain.metrics", "viz", "sweep"),
]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_of_a_package_is_there(package):
    module = importlib.import_module(f"protgnn.{package}")
    for name in module.__all__:
        found = getattr(module, name)
        assert found is not None and type(found) is not type(module), name  # no module hides behind a name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = module.nonsense


def test_every_public_name_is_there():
    for name in protgnn.__all__:
        assert getattr(protgnn, name) is not None
    shown = "import protgnn; print(*dir(protgnn))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert set(protgnn.__all__) <= set(done.stdout.split()), "a shell completes names that are not yet imported"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = protgnn.nonsense


def test_drawing_is_imported_without_what_it_draws_with():
    program = "import sys, protgnn.viz.report, protgnn.viz.save, protgnn.viz.png; "
    program += "print(*(name for name in ('matplotlib', 'rdkit', 'jinja2', 'resvg_py') if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_no_two_classes_share_a_name():
    homes: dict[str, list[str]] = {}
    for path in sorted(Path(protgnn.__file__).parent.rglob("*.py")):
        for part in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(part, ast.ClassDef):
                homes.setdefault(part.name, []).append(str(path))
    assert len(homes) > 50
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_files_and_functions_are_short_enough_to_read():
    long, seen = [], 0
    for path in sorted(Path(protgnn.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > 350:
            long.append(path.name)
        for part in ast.walk(ast.parse(text)):
            if isinstance(part, ast.FunctionDef):
                seen += 1
                if part.end_lineno - part.lineno >= 60:
                    long.append(f"{path.name}: {part.name}")
    assert seen > 500 and long == []
