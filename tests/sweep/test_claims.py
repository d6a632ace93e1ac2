"""A trial is held by one worker, and is free as soon as that one is gone."""

import json
import multiprocessing
import os
import signal
import time

import pytest

from protgnn.errors import RunError
from protgnn.sweep import claims as module
from protgnn.sweep.claims import HOLDER, Claims, study_locked


def test_a_held_trial_is_not_free_and_one_that_was_let_go_is(tmp_path):
    claims = Claims(tmp_path)
    assert claims.free(3)
    with claims.hold(3):
        assert not Claims(tmp_path).free(3) and claims.free(4)
        with pytest.raises(RunError, match="is being written by process"), Claims(tmp_path).hold(3):
            pass
    assert claims.free(3)


def _hold_and_die(folder):
    with Claims(folder).hold(1):
        os.kill(os.getpid(), signal.SIGKILL)


def test_the_trial_of_a_killed_worker_is_free_at_once(tmp_path):
    worker = multiprocessing.get_context("fork").Process(target=_hold_and_die, args=(tmp_path,))
    worker.start()
    worker.join()
    assert worker.exitcode == -signal.SIGKILL and (tmp_path / "trial-0001" / HOLDER).exists()
    assert Claims(tmp_path).free(1)


def test_the_trial_of_another_machine_is_free_only_when_that_has_shown_no_sign_of_life(tmp_path):
    claims, holder = Claims(tmp_path), tmp_path / "trial-0002" / HOLDER
    holder.parent.mkdir()
    holder.write_text(json.dumps({"machine": "another"}))
    assert not claims.free(2)
    before = holder.stat().st_mtime - module.GRACE_SECONDS - 1
    os.utime(holder, (before, before))
    assert claims.free(2)


def test_a_worker_shows_signs_of_life_while_it_holds_a_trial(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.001)
    with Claims(tmp_path).hold(5):
        holder = tmp_path / "trial-0005" / HOLDER
        os.utime(holder, (0, 0))
        for _ in range(1000):
            if holder.stat().st_mtime > 0:
                break
            time.sleep(0.01)
        assert holder.stat().st_mtime > 0


def test_a_study_that_somebody_keeps_locked_is_not_waited_for_without_end(tmp_path):
    with study_locked(tmp_path), pytest.raises(RunError, match="is being written"):  # noqa: SIM117
        with study_locked(tmp_path, patience=0.0):
            pass
