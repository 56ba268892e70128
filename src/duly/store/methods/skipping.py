"""Skipped windows: rows of the history that never were runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duly.core.run import SkippedWindows
from duly.store.statements import Batch, batch, columns

SKIPPED = (
    "id", "schedule_id", "revision", "window_at", "since", "windows", "tenant", "job", "queue", "reason", "fired_at",
    "detail",
)  # fmt: skip


def insert_skips(skips: Iterable[tuple[str, SkippedWindows]]) -> Batch:
    """Keep skipped windows, each with its tenant; one that is there already stays."""
    return batch("insert_skips", columns(SKIPPED, (_row(tenant, skip) for tenant, skip in skips)))


def _row(tenant: str, skip: SkippedWindows) -> tuple[Any, ...]:
    return (
        skip.id, skip.schedule_id, skip.revision, skip.window_at, skip.since, skip.windows, tenant, skip.job,
        skip.queue, skip.reason.value, skip.fired_at, skip.detail,
    )  # fmt: skip
