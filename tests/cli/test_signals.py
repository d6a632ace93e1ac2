"""Training that is told to stop saves, says how to continue, and continues."""

import os
import signal
import subprocess
import sys
import time

import pytest

SLOW = ["--set", "epochs=500", "--set", "hidden=8", "--set", "head=plain", "--set", "patience=500"]


@pytest.fixture
def hang_up_is_heard():
    """Processes that are started hear SIGHUP, even where the tests themselves run under ``nohup``."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hang_up_is_heard")
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(one, marks=pytest.mark.slow) for one in (signal.SIGHUP, signal.SIGINT))]
)
def test_a_signal_to_stop_says_how_to_resume(molecules_csv, tmp_path, number):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "protgnn", "train", str(molecules_csv), "--out", str(out), *SLOW]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 600
        while not (out / "state.safetensors").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, number)
        _, err = process.communicate(timeout=600)
    assert process.returncode == 128 + number
    assert "interrupted: protgnn train" in err and "--resume continues" in err and "Traceback" not in err
    assert (out / "state.safetensors").exists() and not (out / ".lock").exists()
