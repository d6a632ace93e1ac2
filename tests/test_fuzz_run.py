"""A small part of ``make fuzz``: damaged files and resealed runs end in a result or in one clear sentence."""

import contextlib
import io
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from benchmarks import fuzz
from benchmarks.fuzz import GOOD, _judged, run_all
from benchmarks.fuzz_inputs import Stock

COUNT = 150


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stock]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield Stock(tmp_path_factory.mktemp("stock"))


def test_damaged_inputs_end_in_a_result_or_a_sentence(stock):
    ended = list(run_all(stock, list(range(COUNT)), seed=1, workers=1))
    assert sorted(one.number for one in ended) == list(range(COUNT))
    assert [one for one in ended if one.how not in GOOD] == []
    refused = {one.kind for one in ended if one.how == "refused"}
    assert refused == set(stock.kinds), "every kind of input was damaged so that it was refused"
    assert sum(one.how == "ok" for one in ended) > COUNT / 20, "some damage is harmless, else nothing was read at all"


def test_undamaged_inputs_are_taken(stock, monkeypatch):
    """Else every refusal would be worth nothing."""
    monkeypatch.setattr("benchmarks.fuzz_inputs.damaged", lambda content, chance: content)
    monkeypatch.setattr("benchmarks.fuzz_inputs.damaged_json", lambda content, chance: content)
    monkeypatch.setattr("benchmarks.fuzz_inputs.damaged_tensor", lambda value, chance: value)
    ended = list(run_all(stock, list(range(60)), seed=2, workers=1))
    taken = {one.kind for one in ended if one.how == "ok"}
    assert {"csv", "jsonl", "tu", "network", "config", "run file"} <= taken, ended


class Trap(Stock):
    """Inputs that end as none must."""

    def __init__(self) -> None:
        self.kinds = dict.fromkeys(["trap"])  # type: ignore[assignment]

    def case(self, number: int, seed: int, work: Path) -> tuple[str, list[str]]:
        import faulthandler
        import os
        import signal

        if number == 0:
            faulthandler.disable()  # no pages of traces for a fault that is meant
            os.kill(os.getpid(), signal.SIGSEGV)
        while number == 1:
            pass
        if number == 5:
            time.sleep(600)
        if number == 2:
            raise KeyError("no sentence")
        if number == 3:
            blocks = []
            while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss <= (fuzz.MEGABYTES + 50) * 1024:
                blocks.append(b"a" * (50 * 2**20))
        return "trap", ["nonsense"]


def test_what_must_not_be_is_counted(monkeypatch):
    """A forked worker starts at what this process holds now, not at the most it ever held."""
    monkeypatch.setattr(fuzz, "SECONDS", 2.0)
    monkeypatch.setattr(fuzz, "WAITED", 6.0)
    held = psutil.Process().memory_info().rss // 2**20
    monkeypatch.setattr(fuzz, "MEGABYTES", held + 100)
    ended = {one.number: one.how for one in run_all(Trap(), [0, 5, 1, 2, 3, 4], seed=0, workers=2)}
    assert ended == {0: "signal", 1: "too slow", 2: "traceback", 3: "too large", 4: "refused", 5: "too slow"}


@pytest.mark.parametrize(
    ("code", "err", "how"),
    [
        (0, "", "ok"),
        (None, "note: a", "ok"),
        (1, "error: there is no such file", "refused"),
        (2, "Usage: protgnn nonsense", "refused"),
        (1, "", "unclear"),
        (1, "error: ", "unclear"),
        (3, "error: there is no such file", "unclear"),
        (1, "error: there is no such file\nerror: and another one of them", "unclear"),
        (1, "Traceback\nerror: there is no such file", "unclear"),
    ],
)
def test_only_one_sentence_with_status_1_or_2_is_a_refusal(code, err, how):
    assert _judged(code, err)[0] == how
