"""A bar that shows how a training stands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from bpgnn.method import MethodSettings
from bpgnn.training.fit import Evaluation


@contextmanager
def training_bar(
    settings: MethodSettings, console: Console | None = None, *, shown: bool = True
) -> Iterator[Callable[[Evaluation], None]]:
    """Show step, losses, validation accuracy and time left, from the first step on."""
    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[losses]}"),
        TextColumn("[green]{task.fields[accuracy]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=console)
    task = bar.add_task("", total=settings.max_steps, losses="", accuracy="")

    def watch(seen: Evaluation) -> None:
        if not shown:
            return
        # Begun at the first step, so that bad input is answered without an empty bar.
        bar.start()
        losses = " ".join(f"{key} {value:.3f}" for key, value in seen.losses.items())
        # Training ends at the last step, or sooner when patience does.
        end = min(seen.max_steps, max(seen.best_step, seen.step) + settings.patience)
        if seen.best_step:
            end = min(end, seen.best_step + settings.patience)
        bar.update(task, completed=seen.step, total=max(end, seen.step), losses=losses)
        if seen.validation_accuracy is not None:
            bar.update(task, accuracy=f"validation {seen.validation_accuracy:.3f}")

    with stopped_if_started(bar):
        yield watch


@contextmanager
def stopped_if_started(bar: Progress) -> Iterator[None]:
    """End a bar; one that never began would print an empty line."""
    try:
        yield
    finally:
        if bar.live.is_started:
            bar.stop()
