"""Features that are kept on disk: computed once, gone on with after a kill, never half of them."""

import numpy as np
import pytest
import torch

from protgnn.errors import DataError
from protgnn.featurizers.feature_cache import CACHE_VARIABLE, cache_folder, cached_rows

SHAPE, STEPS = (6, 2), range(3)


class Killed(BaseException):
    """What ends a process between two steps."""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))


def filling(done: list[int], killed_at: int | None = None):
    def fill(step: int, rows: np.ndarray) -> None:
        if step == killed_at:
            rows[2 * step] = -1  # half of the step is written
            raise Killed
        done.append(step)
        rows[2 * step : 2 * step + 2] = step + 1

    return fill


def test_a_killed_computation_goes_on_and_a_finished_one_is_not_repeated():
    done: list[int] = []
    with pytest.raises(Killed):
        cached_rows("key", SHAPE, STEPS, filling(done, killed_at=2), "Rows")
    assert done == [0, 1]
    rows = cached_rows("key", SHAPE, STEPS, filling(done), "Rows")
    assert done == [0, 1, 2] and rows.dtype == torch.float16
    assert rows[:, 0].tolist() == [1, 1, 2, 2, 3, 3]
    assert torch.equal(cached_rows("key", SHAPE, STEPS, filling(done), "Rows"), rows) and done == [0, 1, 2]
    assert sorted(path.name for path in (cache_folder() / "words" / "key").iterdir()) == ["rows.f16"]


def test_another_key_or_a_damaged_file_is_computed_anew():
    done: list[int] = []
    cached_rows("key", SHAPE, STEPS, filling(done), "Rows")
    cached_rows("other", SHAPE, STEPS, filling(done), "Rows")
    assert len(done) == 6
    path = cache_folder() / "words" / "key" / "rows.f16"
    path.write_bytes(path.read_bytes()[:-1])
    assert cached_rows("key", SHAPE, STEPS, filling(done), "Rows")[-1].tolist() == [3, 3] and len(done) == 9


def test_what_is_done_to_the_tensor_does_not_reach_the_file():
    cached_rows("key", SHAPE, STEPS, filling([]), "Rows")[0] = 77
    assert cached_rows("key", SHAPE, STEPS, filling([]), "Rows")[0].tolist() == [1, 1]


def test_a_cache_that_cannot_be_written_says_how_to_choose_another(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(DataError, match=CACHE_VARIABLE):
        cached_rows("key", SHAPE, STEPS, filling([]), "Rows")
