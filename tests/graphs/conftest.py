"""Where the real files are, for the tests that want them."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; a test that asks for it is skipped where there is none."""
    folder = os.environ.get("PROTGNN_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PROTGNN_DATA names no folder of real datasets")
    return Path(folder)
