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
            self.console.print(
                f"{self.title} {done}/{self.total}  {note}  at most {left:.0f} s left", highlight=False, soft_wrap=True
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.progress is not None:
            self.progress.stop()


class RowProgress:
    """Progress through a file whose number of rows nobody knows: rows, rows per second, and the time left by how much
    of the file was read. ``with RowProgress("Predicting") as bar: bar.update(4096, 0.1)``; writes to standard error."""

    def __init__(self, title: str, before: int = 0, console: Console | None = None) -> None:
        self.title, self.before = title, before  # rows that an earlier process has done
        self.console = console or Console(stderr=True)
        self.started = self.printed = time.monotonic()
        self.first_share: float | None = None
        self.progress: Progress | None = None
        self.task: TaskID | None = None

    def __enter__(self) -> RowProgress:
        if self.console.is_terminal:
            columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}")
            self.progress = Progress(*columns, console=self.console, transient=True)
            self.progress.start()
            self.task = self.progress.add_task(self.title, total=1.0, note="")
        return self

    def update(self, rows: int, share: float | None) -> None:
        """Show that so many rows are done, and this share of the file."""
        now = time.monotonic()
        if self.progress is None and now - self.printed < PLAIN_SECONDS:
            return
        note = self.note(rows, share, now - self.started)
        if self.progress is not None and self.task is not None:
            self.progress.update(self.task, completed=share or 0.0, note=note)
            return
        self.printed = now
        self.console.print(f"{self.title} {note}", highlight=False, soft_wrap=True)

    def note(self, rows: int, share: float | None, seconds: float) -> str:
        """``8192 rows  3100/s  40 s left``."""
        rate = (rows - self.before) / max(seconds, 1e-9)
        said = f"{rows} rows  {rate:.0f}/s"
        if share is None:
            return said
        if self.first_share is None:
            self.first_share = share
        # The first share was read before the clock could tell anything.
        start = self.first_share if self.before else 0.0
        return f"{said}  {seconds / max(share - start, 1e-9) * (1 - share):.0f} s left" if share > start else said

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.progress is not None:
            self.progress.stop()
