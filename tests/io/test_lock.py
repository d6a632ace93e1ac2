"""One writer at a time, and a dead one does not lock."""

import os
import signal
import subprocess
import sys

import pytest

from protgnn.errors import RunError
from protgnn.io.lock import LOCK_FILE, locked

HOLD = """
import sys, time
from pathlib import Path
from protgnn.io.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_writer_is_told_who_holds_the_folder_and_a_killed_one_does_not_lock(tmp_path):
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(RunError, match=f"being written by process {holder.pid} on"), locked(folder):
            pass
        os.kill(holder.pid, signal.SIGKILL)
    assert (folder / LOCK_FILE).exists()  # left behind by the kill
    with locked(folder):
        assert (folder / LOCK_FILE).exists()
    assert not (folder / LOCK_FILE).exists()


def test_a_lock_is_not_taken_through_a_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / LOCK_FILE).symlink_to(victim)
    with pytest.raises(RunError, match="Cannot write"), locked(tmp_path / "run"):
        pass
    assert victim.read_text() == "mine"
