"""Progress of long work: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

PLAIN_SECONDS = 5.0


class ProgressBar:
    """``with ProgressBar("Training", 300) as bar: bar.update(3, "loss 0.5")``; writes to standard error."""

    def __init__(self, title: str, total: int, console: Console | None = None) -> None:
        self.title, self.total = title, total
        self.console = console or Console(stderr=True)
        self.started = self.printed = time.monotonic()
        self.progress: Progress | None = None
        self.task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        if self.console.is_terminal:
            self.progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[note]}"),
                TimeRemainingColumn(),
                console=self.console,
                transient=True,
            )
            self.progress.start()
            self.task = self.progress.add_task(self.title, total=self.total, note="")
        return self

    def update(self, done: int, note: str) -> None:
        """Show that ``done`` of the total are done."""
        if self.progress is not None and self.task is not None:
            self.progress.update(self.task, completed=done, note=note)
            return
        now = time.monotonic()
        if now - self.printed >= PLAIN_SECONDS:
            self.printed = now
            left = (now - self.started) / max(done, 1) * (self.total - done)
            self.console.print(f"{self.title} {done}/{self.total}  {note}  at most {left:.0f} s left", highlight=False)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.progress is not None:
            self.progress.stop()
