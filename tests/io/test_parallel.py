"""Pieces of work come back in their order, whoever does them and however that ends."""

import contextlib
import os
import signal
from functools import partial

import psutil
import pytest

from protgnn.errors import DataError, ProtGNNError
from protgnn.io.parallel import in_order


def squares():
    return square


def square(number):
    if number == 13:
        raise DataError("thirteen is no number")
    if number == 99:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_pieces(workers):
    pieces = [5, 3, 8, 1, 0, 7, 2]
    assert list(in_order(squares, pieces, workers)) == [square(piece) for piece in pieces]


def test_only_a_few_pieces_are_taken_ahead():
    taken = []

    def pieces():
        for number in range(100, 200):
            taken.append(number)
            yield number

    results = in_order(squares, pieces(), 2)
    for done in range(1, 20):
        next(results)
        assert len(taken) <= done + 4
    results.close()
    assert len(taken) < 30


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_piece_is_raised_where_its_result_would_be(workers):
    results = in_order(squares, [1, 2, 13, 4], workers)
    assert next(results) == 1 and next(results) == 4
    with pytest.raises(DataError, match="thirteen"):
        next(results)


def test_a_worker_that_is_killed_is_told_in_one_sentence():
    with pytest.raises(ProtGNNError, match="fewer --workers"):
        list(in_order(squares, [1, 99, 2], 2))


def raising():
    raise DataError("no model")


def test_a_worker_that_cannot_begin_does_not_hang():
    with pytest.raises(ProtGNNError):
        list(in_order(raising, [1], 2))


def test_workers_end_with_their_parent(tmp_path):
    parent = os.fork()
    if not parent:
        for name in in_order(partial(_names, tmp_path), range(100), 2):
            if name:
                os._exit(0)  # without a word to its workers
    os.waitpid(parent, 0)
    marks = [int(mark.name) for mark in tmp_path.iterdir()]
    assert marks
    for process in marks:
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(process).wait(timeout=60)


def _names(folder):
    (folder / str(os.getpid())).touch()
    return str
